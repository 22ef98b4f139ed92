/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "span.h"

#define FILE_MAX    (16 << 20) /* what libnri's JSON reads */
#define MS_MAX      86400000   /* a day */
#define COUNT_MAX   1000000000
#define ENTRIES_MAX 64

/* A script that is being read. */
struct reader {
    const char *path;
    char *text; /* of the file */
    size_t length;
    char *error; /* SCRIPT_TEXT bytes */
};

/* ---- what is wrong ---- */

static int refuse(struct reader *reader, const nri_value *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(struct reader *reader, const nri_value *value, const char *format, ...)
{
    va_list arguments;
    char *text = reader->error;
    const int used = snprintf(text, SCRIPT_TEXT, "%s:%zu:%zu: ", reader->path,
                              nri_value_line(value), nri_value_column(value));
    va_start(arguments, format);
    if (used > 0 && used < SCRIPT_TEXT)
        (void)vsnprintf(text + used, SCRIPT_TEXT - (size_t)used, format, arguments);
    va_end(arguments);
    return -1;
}

static int refuse_memory(struct reader *reader)
{
    (void)snprintf(reader->error, SCRIPT_TEXT, "%s: out of memory", reader->path);
    return -1;
}

/* Takes the library's error, which names the place; frees it. */
static int refuse_error(struct reader *reader, nri_error *error)
{
    (void)snprintf(reader->error, SCRIPT_TEXT, "%s",
                   error == NULL ? "out of memory" : nri_error_get_text(error));
    nri_error_free(error);
    return -1;
}

/* ---- plain values ---- */

static int read_flag(struct reader *reader, const char *key, const nri_value *value, bool *flag)
{
    return nri_value_bool(value, flag) ? 0 : refuse(reader, value, "%s: true or false", key);
}

static int read_integer(struct reader *reader, const char *key, const nri_value *value,
                        int64_t maximum, int64_t *number)
{
    if (!nri_value_int64(value, number) || *number < 0 || *number > maximum)
        return refuse(reader, value, "%s: a whole number from 0 to %lld", key, (long long)maximum);
    return 0;
}

static int read_text(struct reader *reader, const char *key, const nri_value *value, char **text)
{
    size_t length;
    const char *given = nri_value_text(value, &length);
    if (nri_value_get_type(value) != NRI_VALUE_STRING || length == 0)
        return refuse(reader, value, "%s: a text that is not empty", key);
    *text = strdup(given);
    return *text == NULL ? refuse_memory(reader) : 0;
}

static int read_event(struct reader *reader, const nri_value *value, enum nri_event *event)
{
    static const enum nri_event others[] = {NRI_EVENT_CONFIGURE, NRI_EVENT_SYNCHRONIZE,
                                            NRI_EVENT_SHUTDOWN};
    const char *name = nri_value_text(value, NULL);
    for (int number = 1; number <= NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT; number++) {
        if (strcmp(nri_event_name((enum nri_event)number), name) == 0) {
            *event = (enum nri_event)number;
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(nri_event_name(others[i]), name) == 0) {
            *event = others[i];
            return 0;
        }
    }
    return refuse(reader, value, "event: the name of one of NRI's calls, such as CreateContainer");
}

static int read_echo(struct reader *reader, const nri_value *value, bool *echo)
{
    if (strcmp(nri_value_text(value, NULL), "annotations") != 0)
        return refuse(reader, value, "echo: \"annotations\" is all that can be returned");
    *echo = true;
    return 0;
}

/* ---- adjustments and updates ---- */

static struct nri_json_options json_options(const struct reader *reader)
{
    struct nri_json_options options;
    nri_json_options_init(&options, sizeof options);
    options.name = reader->path;
    return options;
}

static int read_adjust(struct reader *reader, const nri_value *value, char **kept)
{
    const struct nri_json_options options = json_options(reader);
    const struct span span = span_of(reader->text, value);
    char *placed = span_in_place(reader->text, span);
    nri_adjustment *adjustment = NULL;
    nri_error *error = NULL;
    int rc = -1;
    *kept = span_copy(reader->text, span);
    if (placed == NULL || *kept == NULL || nri_adjustment_new(&adjustment, NULL) != 0)
        (void)refuse_memory(reader);
    else if (nri_adjustment_merge_json(adjustment, placed, span.end, &options, &error) != 0)
        (void)refuse_error(reader, error);
    else
        rc = 0;
    nri_adjustment_free(adjustment);
    free(placed);
    return rc;
}

/* The list of ContainerUpdate under the key "update", or of ContainerEviction under "evict", as
 * libnri takes it: the object around it is made of the script's first brace and the key that is
 * there. It is added to what *updates has. */
static int read_updates(struct reader *reader, const nri_value *value, nri_updates **updates)
{
    const struct nri_json_options options = json_options(reader);
    struct span span = span_of(reader->text, value);
    const size_t root = strcspn(reader->text, "{");
    nri_error *error = NULL;
    int rc = -1;
    if (nri_value_get_type(value) != NRI_VALUE_ARRAY)
        return refuse(reader, value, "update, evict: a list of ContainerUpdate, ContainerEviction");
    span.begin = span_of_key(reader->text, span);
    char *placed = span_in_place(reader->text, span);
    char *whole = placed == NULL ? NULL : realloc(placed, span.end + 2);
    if (whole == NULL) {
        free(placed);
        return refuse_memory(reader);
    }
    whole[root] = '{';
    whole[span.end] = '}';
    if (*updates == NULL && nri_updates_new(updates, NULL) != 0)
        (void)refuse_memory(reader);
    else if (nri_updates_merge_json(*updates, whole, span.end + 1, &options, &error) != 0)
        (void)refuse_error(reader, error);
    else
        rc = 0;
    free(whole);
    return rc;
}

/* The updates of a reply are merged into it as text, since a list cannot be copied into another. */
static int read_update(struct reader *reader, const nri_value *value, char **kept)
{
    nri_updates *tried = NULL;
    int rc = read_updates(reader, value, &tried);
    nri_updates_free(tried);
    if (rc != 0)
        return rc;
    const struct span span = span_of(reader->text, value);
    return asprintf(kept, "{\"update\": %.*s}", (int)(span.end - span.begin),
                    reader->text + span.begin) < 0
               ? refuse_memory(reader)
               : 0;
}

static int merge_one(const char *id, const char *members, nri_updates *updates,
                     const struct nri_json_options *options, nri_error **error)
{
    char *text = NULL;
    if (asprintf(&text, "{\"update\": [{\"container_id\": \"%s\"%s}]}", id, members) < 0)
        return NRI_E_NOMEM;
    const int rc = nri_updates_merge_json(updates, text, strlen(text), options, error);
    free(text);
    return rc;
}

static int read_update_all(struct reader *reader, const nri_value *value, char **kept)
{
    const struct span span = span_of(reader->text, value);
    nri_updates *tried = NULL;
    nri_error *error = NULL;
    int rc = -1;
    if (nri_value_get_type(value) != NRI_VALUE_OBJECT || nri_value_count(value) == 0)
        return refuse(reader, value, "update_all: a ContainerUpdate without its container_id");
    if (asprintf(kept, ", %.*s", (int)(span.end - span.begin - 2), reader->text + span.begin + 1) <
        0)
        return refuse_memory(reader);
    if (nri_updates_new(&tried, NULL) != 0)
        (void)refuse_memory(reader);
    else if (merge_one("tried", *kept, tried, NULL, &error) != 0)
        (void)refuse(reader, value, "update_all: %s", nri_error_get_text(error));
    else
        rc = 0;
    nri_error_free(error);
    nri_updates_free(tried);
    return rc;
}

int script_update_all(const struct script_rule *rule, nri_request *request)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < nri_request_container_count(request); i++) {
        const char *id = nri_container_id(nri_request_container_at(request, i));
        /* Runtimes make ids of digits and letters; one that would end the text does not get in. */
        rc = strpbrk(id, "\"\\") != NULL
                 ? nri_request_fail(request, NRI_E_INVALID,
                                    "nri-scripted: a container's id has "
                                    "quotes or backslashes")
                 : merge_one(id, rule->update_all, nri_request_updates(request), NULL, NULL);
    }
    return rc;
}

/* ---- calls ---- */

static int read_entry(struct reader *reader, const nri_value *value, bool background,
                      struct script_entry *entry)
{
    int rc = 0;
    const char *key;
    entry->count = 1;
    if (nri_value_get_type(value) != NRI_VALUE_OBJECT)
        return refuse(reader, value, "an object with the member update, or evict");
    for (size_t i = 0; rc == 0 && i < nri_value_count(value); i++) {
        const nri_value *member = nri_value_member_at(value, i, &key);
        if (strcmp(key, "update") == 0 || strcmp(key, "evict") == 0)
            rc = read_updates(reader, member, &entry->updates);
        else if (background && strcmp(key, "count") == 0)
            rc = read_integer(reader, key, member, COUNT_MAX, &entry->count);
        else if (background && strcmp(key, "timeout_ms") == 0)
            rc = read_integer(reader, key, member, MS_MAX, &entry->timeout_ms);
        else if (background && strcmp(key, "delay_ms") == 0)
            rc = read_integer(reader, key, member, MS_MAX, &entry->delay_ms);
        else
            rc = refuse(reader, member, "%s: no such member; there %s", key,
                        background ? "are: update evict count timeout_ms delay_ms"
                                   : "are: update evict");
    }
    if (rc == 0 && entry->updates == NULL)
        rc = refuse(reader, value, "update, or evict: is missing");
    return rc;
}

static int read_background(struct reader *reader, const nri_value *value, struct script_rule *rule)
{
    const size_t count = nri_value_count(value);
    int rc = 0;
    if (nri_value_get_type(value) != NRI_VALUE_ARRAY || count == 0 || count > ENTRIES_MAX)
        return refuse(reader, value, "background: a list of 1 to %d entries", ENTRIES_MAX);
    rule->entries = calloc(count, sizeof *rule->entries);
    if (rule->entries == NULL)
        return refuse_memory(reader);
    rule->entry_count = count;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = read_entry(reader, nri_value_at(value, i), true, &rule->entries[i]);
    return rc;
}

/* ---- rules ---- */

static int read_member(struct reader *reader, const char *key, const nri_value *value,
                       struct script_rule *rule)
{
    if (strcmp(key, "event") == 0)
        return read_event(reader, value, &rule->event);
    if (strcmp(key, "container") == 0)
        return read_text(reader, key, value, &rule->container);
    if (strcmp(key, "first") == 0)
        return read_flag(reader, key, value, &rule->first);
    if (strcmp(key, "sleep_ms") == 0)
        return read_integer(reader, key, value, MS_MAX, &rule->sleep_ms);
    if (strcmp(key, "defer_ms") == 0)
        return read_integer(reader, key, value, MS_MAX, &rule->defer_ms);
    if (strcmp(key, "adjust") == 0)
        return read_adjust(reader, value, &rule->adjust);
    if (strcmp(key, "update") == 0)
        return read_update(reader, value, &rule->update);
    if (strcmp(key, "update_all") == 0)
        return read_update_all(reader, value, &rule->update_all);
    if (strcmp(key, "error") == 0)
        return read_text(reader, key, value, &rule->error);
    if (strcmp(key, "stop") == 0)
        return read_flag(reader, key, value, &rule->stop);
    if (strcmp(key, "call") == 0)
        return read_entry(reader, value, false, &rule->call);
    if (strcmp(key, "background") == 0)
        return read_background(reader, value, rule);
    if (strcmp(key, "echo") == 0)
        return read_echo(reader, value, &rule->echo_annotations);
    return refuse(reader, value,
                  "%s: no such key; there are: event container first sleep_ms "
                  "defer_ms adjust update update_all error stop call background echo",
                  key);
}

/* What an event's reply cannot carry would be lost without a word. */
static int check_event(struct reader *reader, const nri_value *value,
                       const struct script_rule *rule)
{
    const enum nri_event event = rule->event;
    const bool create = event == NRI_EVENT_CREATE_CONTAINER;
    const char *name = nri_event_name(event);
    if (event == NRI_EVENT_UNKNOWN)
        return refuse(reader, value, "event: is missing");
    if ((rule->adjust != NULL || rule->echo_annotations) && !create)
        return refuse(reader, value, "%s: the reply to %s cannot carry it",
                      rule->adjust != NULL ? "adjust" : "echo", name);
    if (rule->update != NULL && !create && event != NRI_EVENT_UPDATE_CONTAINER &&
        event != NRI_EVENT_STOP_CONTAINER && event != NRI_EVENT_SYNCHRONIZE)
        return refuse(reader, value, "update: the reply to %s cannot carry it", name);
    if (rule->update_all != NULL && event != NRI_EVENT_SYNCHRONIZE)
        return refuse(reader, value, "update_all: only Synchronize tells of all containers");
    return 0;
}

static int read_rule(struct reader *reader, const nri_value *value, struct script_rule *rule)
{
    int rc = 0;
    const char *key;
    rule->defer_ms = -1;
    if (nri_value_get_type(value) != NRI_VALUE_OBJECT)
        return refuse(reader, value, "a rule is an object");
    for (size_t i = 0; rc == 0 && i < nri_value_count(value); i++) {
        const nri_value *member = nri_value_member_at(value, i, &key);
        rc = read_member(reader, key, member, rule);
    }
    return rc != 0 ? rc : check_event(reader, value, rule);
}

static int read_rules(struct reader *reader, const nri_value *root, struct script *script)
{
    const nri_value *rules = nri_value_member(root, "rules");
    int rc = 0;
    if (nri_value_get_type(rules) != NRI_VALUE_ARRAY || nri_value_count(root) != 1)
        return refuse(reader, root, "a script is {\"rules\": [...]}");
    if (nri_value_count(rules) == 0)
        return 0;
    script->rules = calloc(nri_value_count(rules), sizeof *script->rules);
    if (script->rules == NULL)
        return refuse_memory(reader);
    script->count = nri_value_count(rules);
    for (size_t i = 0; rc == 0 && i < script->count; i++)
        rc = read_rule(reader, nri_value_at(rules, i), &script->rules[i]);
    return rc;
}

/* ---- the file ---- */

static int read_file(struct reader *reader)
{
    FILE *file = fopen(reader->path, "re");
    int rc = -1;
    if (file == NULL) {
        (void)snprintf(reader->error, SCRIPT_TEXT, "%s: %s", reader->path, strerror(errno));
        return -1;
    }
    reader->text = malloc(FILE_MAX + 1);
    if (reader->text == NULL) {
        (void)refuse_memory(reader);
    } else {
        reader->length = fread(reader->text, 1, FILE_MAX, file);
        reader->text[reader->length] = '\0';
        rc = 0;
    }
    if (rc == 0 && (ferror(file) != 0 || fgetc(file) != EOF)) {
        (void)snprintf(reader->error, SCRIPT_TEXT, "%s: %s", reader->path,
                       ferror(file) != 0 ? "cannot be read" : "is larger than 16 MiB");
        rc = -1;
    }
    (void)fclose(file);
    return rc;
}

int script_load(struct script *script, const char *path, char *text)
{
    struct reader reader = {.path = path, .error = text};
    const struct nri_json_options options = json_options(&reader);
    nri_document *document = NULL;
    nri_error *error = NULL;
    *script = (struct script){0};
    int rc = read_file(&reader);
    if (rc == 0 && nri_document_parse(reader.text, reader.length, &options, &document, &error) != 0)
        rc = refuse_error(&reader, error);
    if (rc == 0)
        rc = read_rules(&reader, nri_document_root(document), script);
    nri_document_free(document);
    free(reader.text);
    if (rc != 0)
        script_free(script);
    return rc;
}

static void free_rule(struct script_rule *rule)
{
    nri_updates_free(rule->call.updates);
    for (size_t i = 0; i < rule->entry_count; i++)
        nri_updates_free(rule->entries[i].updates);
    free(rule->entries);
    free(rule->container);
    free(rule->error);
    free(rule->adjust);
    free(rule->update);
    free(rule->update_all);
}

void script_free(struct script *script)
{
    for (size_t i = 0; i < script->count; i++)
        free_rule(&script->rules[i]);
    free(script->rules);
    *script = (struct script){0};
}

struct script_rule *script_match(struct script *script, enum nri_event event, const char *container)
{
    for (size_t i = 0; i < script->count; i++) {
        struct script_rule *rule = &script->rules[i];
        if (rule->event != event || (rule->first && rule->used) ||
            (rule->container != NULL && strcmp(rule->container, container) != 0))
            continue;
        rule->used = true;
        return rule;
    }
    return NULL;
}
