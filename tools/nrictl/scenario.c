/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "file.h"
#include "memory.h"
#include "print.h"
#include "scenario_forms.h"
#include "scenario_inside.h"
#include "yaml_read.h"

/* A scenario is written by hand. */
#define MOST_BYTES  ((size_t)4 << 20)
#define MOST_VALUES 200000
/* The document and what is read of it. */
#define MOST_MEMORY ((size_t)256 << 20)

const char scenario_default[] = "version: 1\n"
                                "name: default\n"
                                "description: a pod with two containers from its start to its end\n"
                                "pods:\n"
                                "  - name: pod0\n"
                                "    containers:\n"
                                "      - name: ctr0\n"
                                "        args: [sleep, infinity]\n"
                                "        env: {PATH: /usr/bin}\n"
                                "      - name: ctr1\n"
                                "        args: [\"true\"]\n"
                                "steps:\n"
                                "  - run: pod0\n"
                                "  - create: ctr0\n"
                                "  - start: ctr0\n"
                                "  - create: ctr1\n"
                                "  - start: ctr1\n"
                                "  - update: ctr0\n"
                                "    resources: {cpu: {shares: 512}}\n"
                                "  - exit: ctr1\n"
                                "    code: 3\n"
                                "  - remove: ctr1\n"
                                "  - stop: ctr0\n"
                                "  - remove: ctr0\n"
                                "  - stop: pod0\n"
                                "  - remove: pod0\n";

/* ---- what the readers share ---- */

int scenario_no_memory(struct scenario_reader *reader)
{
    return nri_error_set(&reader->error, NRI_E_NOMEM, "%s: no memory", reader->scenario->file);
}

void *scenario_room(struct scenario_reader *reader, size_t count, size_t size, int *rc)
{
    void *room = NULL;
    if (*rc == 0) {
        room = nri_arena_array(&reader->scenario->arena, count + 1, size);
        if (room == NULL)
            *rc = scenario_no_memory(reader);
        else
            memset(room, 0, (count + 1) * size);
    }
    return room;
}

const char *scenario_text(struct scenario_reader *reader, const struct nri_json *object,
                          const char *key, bool path, int *rc)
{
    const struct nri_json *value = nri_json_get(object, key);
    const char *text = value == NULL || *rc != 0 ? NULL : nri_json_string(value, NULL);
    if (text != NULL && path) {
        text = command_line_replace(&reader->scenario->arena, text, "{dir}", reader->directory);
        if (text == NULL)
            *rc = scenario_no_memory(reader);
    }
    return text;
}

uint64_t scenario_time(const struct nri_json *object, const char *key, uint64_t otherwise)
{
    const struct nri_json *value = nri_json_get(object, key);
    uint64_t milliseconds = otherwise;
    if (value != NULL)
        (void)form_time(nri_json_string(value, NULL), &milliseconds);
    return milliseconds;
}

/* ---- the file ---- */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* By its name, and of what has no such name by its first byte. */
static bool is_json(const char *path, const char *text)
{
    if (ends_with(path, ".yaml") || ends_with(path, ".yml"))
        return false;
    return ends_with(path, ".json") || text[strspn(text, " \t\r\n")] == '{';
}

static int set_directory(struct scenario_reader *reader, const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    reader->directory = ".";
    if (slash != NULL)
        reader->directory = nri_arena_text(&reader->scenario->arena, path,
                                           slash == path ? 1 : (size_t)(slash - path));
    return reader->directory == NULL ? scenario_no_memory(reader) : 0;
}

/* The JSON text of a member. */
static int read_validator(struct scenario_reader *reader, const struct nri_json *value)
{
    struct nri_buf out;
    if (value == NULL)
        return 0;
    memory_buf(&out, MOST_BYTES);
    int rc = nri_json_write(value, 0, &out);
    if (rc == 0) {
        reader->scenario->validator_config =
            nri_arena_text(&reader->scenario->arena, memory_text(&out), nri_buf_size(&out));
        rc = reader->scenario->validator_config == NULL ? NRI_E_NOMEM : 0;
    }
    nri_buf_fini(&out);
    return rc != 0 ? scenario_no_memory(reader) : 0;
}

static void read_failure(struct scenario *scenario, const struct nri_json *value)
{
    static const struct {
        const char *name;
        enum nri_failure_preset preset;
    } presets[] = {{"go", NRI_FAILURE_PRESET_GO},
                   {"permissive", NRI_FAILURE_PRESET_PERMISSIVE},
                   {"strict", NRI_FAILURE_PRESET_STRICT}};
    nri_failure_policy_init(&scenario->failure, sizeof scenario->failure);
    for (size_t i = 0; value != NULL && i < sizeof presets / sizeof *presets; i++) {
        if (strcmp(presets[i].name, nri_json_string(value, NULL)) == 0)
            (void)nri_failure_policy_preset(&scenario->failure, presets[i].preset);
    }
}

static int read_document(struct scenario_reader *reader, const struct nri_json *document)
{
    struct scenario *scenario = reader->scenario;
    int rc = form_check(&reader->check, &scenario_form, document);
    if (rc != 0)
        return rc;
    scenario->name = scenario_text(reader, document, "name", false, &rc);
    scenario->runtime = scenario_text(reader, document, "runtime", false, &rc);
    scenario->plugin_directory = scenario_text(reader, document, "plugin_directory", true, &rc);
    scenario->config_directory = scenario_text(reader, document, "config_directory", true, &rc);
    scenario->registration_timeout_ms = scenario_time(document, "registration_timeout", 0);
    scenario->request_timeout_ms = scenario_time(document, "request_timeout", 0);
    read_failure(scenario, nri_json_get(document, "failure"));
    if (scenario->name == NULL)
        scenario->name = scenario->file;
    if (rc == 0)
        rc = read_validator(reader, nri_json_get(document, "validator"));
    if (rc == 0)
        rc = scenario_read_plugins(reader, nri_json_get(document, "plugins"));
    if (rc == 0)
        rc = scenario_read_pods(reader, nri_json_get(document, "pods"));
    return rc == 0 ? scenario_read_steps(reader, nri_json_get(document, "steps")) : rc;
}

static int read_text(struct scenario_reader *reader, const char *path, const char *text,
                     size_t length)
{
    const struct nri_json_limits limits = {.max_bytes = MOST_BYTES,
                                           .max_values = MOST_VALUES,
                                           .seed = {(uintptr_t)reader, (uintptr_t)text}};
    struct nri_json *document = NULL;
    int rc = set_directory(reader, path);
    if (rc == 0 && path != NULL && is_json(path, text))
        rc = nri_json_parse(&reader->scenario->arena, text, length, &limits, reader->scenario->file,
                            &document, &reader->error);
    else if (rc == 0)
        rc = yaml_read(&reader->scenario->arena, text, length, &limits, reader->scenario->file,
                       &document, &reader->error);
    return rc == 0 ? read_document(reader, document) : rc;
}

int scenario_read(struct nrictl *ctl, struct scenario *scenario, const char *path)
{
    struct scenario_reader reader = {.ctl = ctl, .scenario = scenario};
    char *text = NULL;
    size_t length = 0;
    *scenario = (struct scenario){.file = path == NULL             ? "default scenario"
                                          : strcmp(path, "-") == 0 ? "standard input"
                                                                   : path};
    memory_arena(&scenario->arena, MOST_MEMORY);
    reader.check =
        (struct form_check){.name = scenario->file, .error = &reader.error, .all = scenario_forms};
    if (path != NULL) {
        const int code = file_read(ctl, path, MOST_BYTES, &text, &length);
        if (code != NRICTL_OK)
            return code;
    }
    const int rc = path == NULL
                       ? read_text(&reader, NULL, scenario_default, sizeof scenario_default - 1)
                       : read_text(&reader, path, text, length);
    free(text);
    if (rc == 0)
        return NRICTL_OK;
    return nrictl_fail(ctl, rc == NRI_E_NOMEM ? NRICTL_ENVIRONMENT : NRICTL_USAGE, "%s",
                       reader.error.text);
}

void scenario_none(struct scenario *scenario, const char *name)
{
    *scenario = (struct scenario){.file = name, .name = name};
    memory_arena(&scenario->arena, MOST_MEMORY);
    nri_failure_policy_init(&scenario->failure, sizeof scenario->failure);
}

void scenario_free(struct scenario *scenario)
{
    nri_arena_fini(&scenario->arena);
}

int scenario_print_schema(struct nrictl *ctl)
{
    struct print_json json;
    print_json_begin(&json, 2);
    form_schema(&json.writer, &scenario_form, scenario_forms, "scenario.schema.json",
                "A scenario of nrictl sim");
    return print_json_end(ctl, &json);
}
