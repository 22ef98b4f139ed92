/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KEY=VALUE words of the shell: pod sandboxes, containers and resources of a few words. What they
 * cannot say stands in a file in JSON: file=FILE, which the other words then change.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "shell_inside.h"

#define FILE_MOST ((size_t)16 << 20)

const char *const setting_pod_keys[] = {
    "annotation.", "file=", "handler=", "label.", "namespace=", NULL};
const char *const setting_container_keys[] = {
    "annotation.", "arg=",   "cpu-period=", "cpu-quota=", "cpu-shares=", "cpus=",    "env.",
    "file=",       "label.", "memory=",     "mems=",      "pids=",       "unified.", NULL};
const char *const setting_resource_keys[] = {
    "cpu-period=", "cpu-quota=", "cpu-shares=", "cpus=", "memory=",
    "mems=",       "pids=",      "unified.",    NULL};

/* One word. */
struct setting {
    char key[128];
    const char *value;
};

static bool take(struct shell *shell, const char *word, struct setting *setting)
{
    const char *equals = strchr(word, '=');
    if (equals == NULL || equals == word || (size_t)(equals - word) >= sizeof setting->key) {
        shell_wrong(shell, "'%s' is not KEY=VALUE", word);
        return false;
    }
    memcpy(setting->key, word, (size_t)(equals - word));
    setting->key[equals - word] = '\0';
    setting->value = equals + 1;
    return true;
}

/* "env.PATH" with "env." is "PATH"; NULL: it is another key. */
static const char *behind(const char *key, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(key, prefix, length) == 0 ? key + length : NULL;
}

/* With K, M or G of 1024; bytes are no other unit's. */
static bool number(const char *text, int64_t *value)
{
    static const struct {
        const char *suffix;
        unsigned shift;
    } units[] = {{"", 0}, {"K", 10}, {"M", 20}, {"G", 30}};
    char *end = NULL;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (errno != 0 || end == text)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].suffix) == 0)
            return !__builtin_mul_overflow(*value, (int64_t)1 << units[i].shift, value);
    }
    return false;
}

/* ---- resources ---- */

enum { NOT_MINE = 1, NO_NUMBER = 2 }; /* beside codes of nri/error.h, which are negative */

static int set_number(nri_resources *resources, const char *key, int64_t value)
{
    if (strcmp(key, "cpu-shares") == 0)
        return nri_resources_set_cpu_shares(resources, (uint64_t)value);
    if (strcmp(key, "cpu-quota") == 0)
        return nri_resources_set_cpu_quota(resources, value);
    if (strcmp(key, "cpu-period") == 0)
        return nri_resources_set_cpu_period(resources, (uint64_t)value);
    if (strcmp(key, "memory") == 0)
        return nri_resources_set_memory_limit(resources, value);
    return nri_resources_set_pids_limit(resources, value);
}

static int set_resource(nri_resources *resources, const struct setting *setting)
{
    static const char *const numbers[] = {"cpu-shares", "cpu-quota", "cpu-period", "memory",
                                          "pids"};
    const char *name = behind(setting->key, "unified.");
    int64_t value = 0;
    if (name != NULL)
        return nri_resources_set_unified(resources, name, setting->value);
    if (strcmp(setting->key, "cpus") == 0)
        return nri_resources_set_cpuset_cpus(resources, setting->value);
    if (strcmp(setting->key, "mems") == 0)
        return nri_resources_set_cpuset_mems(resources, setting->value);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(setting->key, numbers[i]) == 0)
            return number(setting->value, &value) ? set_number(resources, setting->key, value)
                                                  : NO_NUMBER;
    }
    return NOT_MINE;
}

/* Says what was wrong; `text` is the object's own. */
static bool judge(struct shell *shell, int code, const struct setting *setting, const char *text)
{
    if (code == 0)
        return true;
    if (code == NOT_MINE)
        shell_wrong(shell, "there is no setting '%s' here", setting->key);
    else if (code == NO_NUMBER)
        shell_wrong(shell, "%s=%s is not a number (with K, M or G behind it, or none)",
                    setting->key, setting->value);
    else
        shell_wrong(shell, "%s=%s: %s", setting->key, setting->value,
                    text[0] != '\0' ? text : nri_strerror(code));
    return false;
}

bool setting_resources(struct shell *shell, nri_resources *resources, const struct words *words,
                       size_t from)
{
    struct setting setting;
    bool good = resources != NULL;
    for (size_t i = from; good && i < words->count; i++)
        good = take(shell, words->at[i], &setting) &&
               judge(shell, set_resource(resources, &setting), &setting, "");
    return good;
}

/* ---- files ---- */

/* The words "file=" first, whatever their place. */
static const char *file_of(const struct words *words, size_t from)
{
    for (size_t i = from; i < words->count; i++) {
        if (strncmp(words->at[i], "file=", 5) == 0)
            return words->at[i] + 5;
    }
    return NULL;
}

static bool read_text(struct shell *shell, const char *path, char **text, size_t *length)
{
    if (file_read(shell->ctl, path, FILE_MOST, text, length) == NRICTL_OK)
        return true;
    shell->wrong = true;
    return false;
}

static bool made(struct shell *shell, int code, nri_error *error)
{
    if (code != 0)
        shell_wrong(shell, "%s", error != NULL ? nri_error_get_text(error) : nri_strerror(code));
    nri_error_free(error);
    return code == 0;
}

static void name_it(struct nri_json_options *json, const char *path)
{
    nri_json_options_init(json, sizeof *json);
    json->name = path;
}

/* ---- pod sandboxes ---- */

static int set_pod(nri_pod *pod, const struct setting *setting)
{
    const char *name;
    if ((name = behind(setting->key, "annotation.")) != NULL)
        return nri_pod_set_annotation(pod, name, setting->value);
    if ((name = behind(setting->key, "label.")) != NULL)
        return nri_pod_set_label(pod, name, setting->value);
    if (strcmp(setting->key, "namespace") == 0)
        return nri_pod_set_namespace(pod, setting->value);
    if (strcmp(setting->key, "handler") == 0)
        return nri_pod_set_runtime_handler(pod, setting->value);
    return strcmp(setting->key, "file") == 0 ? 0 : NOT_MINE;
}

static nri_pod *new_pod(struct shell *shell, const char *path)
{
    struct nri_json_options json;
    nri_error *error = NULL;
    nri_pod *pod = NULL;
    char *text;
    size_t length;
    if (path == NULL)
        return made(shell, nri_pod_new(&pod, NULL), NULL) ? pod : NULL;
    if (!read_text(shell, path, &text, &length))
        return NULL;
    name_it(&json, path);
    const int code = nri_pod_from_json(text, length, &json, &pod, &error);
    free(text);
    return made(shell, code, error) ? pod : NULL;
}

nri_pod *setting_pod(struct shell *shell, const struct words *words, size_t from)
{
    struct setting setting;
    nri_pod *pod = new_pod(shell, file_of(words, from));
    bool good = pod != NULL;
    const char *id = words->at[from - 1];
    if (good)
        good = made(shell, nri_pod_set_id(pod, id), NULL);
    if (good && nri_pod_name(pod)[0] == '\0')
        (void)nri_pod_set_name(pod, id);
    if (good && nri_pod_uid(pod)[0] == '\0')
        (void)nri_pod_set_uid(pod, id);
    if (good && nri_pod_namespace(pod)[0] == '\0')
        (void)nri_pod_set_namespace(pod, "default");
    for (size_t i = from; good && i < words->count; i++)
        good = take(shell, words->at[i], &setting) &&
               judge(shell, set_pod(pod, &setting), &setting, nri_pod_error_text(pod));
    return good ? pod : nri_pod_free(pod);
}

/* ---- containers ---- */

static int set_container(nri_container *container, const struct setting *setting)
{
    const char *name;
    if ((name = behind(setting->key, "env.")) != NULL)
        return nri_container_set_env(container, name, setting->value);
    if ((name = behind(setting->key, "annotation.")) != NULL)
        return nri_container_set_annotation(container, name, setting->value);
    if ((name = behind(setting->key, "label.")) != NULL)
        return nri_container_set_label(container, name, setting->value);
    if (strcmp(setting->key, "file") == 0 || strcmp(setting->key, "arg") == 0)
        return 0;
    /* Asked first, so that a word that is none leaves no resources behind. */
    nri_resources *resources = nri_container_edit_resources(container);
    return resources == NULL ? NRI_E_NOMEM : set_resource(resources, setting);
}

/* All words "arg=" together. */
static int set_args(nri_container *container, const struct words *words, size_t from)
{
    const char *args[WORDS_MOST];
    size_t count = 0;
    for (size_t i = from; i < words->count; i++) {
        if (strncmp(words->at[i], "arg=", 4) == 0)
            args[count++] = words->at[i] + 4;
    }
    return count == 0 ? 0 : nri_container_set_args(container, args, count);
}

static nri_container *new_container(struct shell *shell, const char *path)
{
    struct nri_json_options json;
    nri_error *error = NULL;
    nri_container *container = NULL;
    char *text;
    size_t length;
    if (path == NULL)
        return made(shell, nri_container_new(&container, NULL), NULL) ? container : NULL;
    if (!read_text(shell, path, &text, &length))
        return NULL;
    name_it(&json, path);
    const int code = nri_container_from_json(text, length, &json, &container, &error);
    free(text);
    return made(shell, code, error) ? container : NULL;
}

nri_container *setting_container(struct shell *shell, const struct words *words, size_t from)
{
    struct setting setting;
    nri_container *container = new_container(shell, file_of(words, from));
    bool good = container != NULL;
    const char *id = words->at[from - 1];
    if (good)
        good = made(shell, nri_container_set_id(container, id), NULL);
    if (good && nri_container_name(container)[0] == '\0')
        (void)nri_container_set_name(container, id);
    for (size_t i = from; good && i < words->count; i++)
        good = take(shell, words->at[i], &setting) &&
               judge(shell, set_container(container, &setting), &setting,
                     nri_container_error_text(container));
    if (good)
        good = made(shell, set_args(container, words, from), NULL);
    return good ? container : nri_container_free(container);
}
