/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtimes that there are, and what all their configurations have in common.
 */
#include <errno.h>
#include <string.h>

#include <nri/runtime.h>

#include "doctor.h"
#include "doctor_toml.h"

const char *doctor_at(struct doctor *doctor, const char *file, size_t line)
{
    return line == 0 ? file : DOCTOR_TEXT(doctor, "%s:%zu", file, line);
}

struct nri_json *doctor_read_toml(struct doctor *doctor, const char *path)
{
    struct nri_json *document = NULL;
    struct nri_error error;
    char *text;
    size_t length;
    const int number = doctor_root_read(&doctor->root, path, DOCTOR_MOST_BYTES, &text, &length);
    if (number == ENOENT || number == ENOTDIR)
        return NULL;
    if (number != 0) {
        DOCTOR_FIND(
            doctor, CONFIG_UNREADABLE, path,
            number == EACCES
                ? "sudo nrictl doctor"
                : DOCTOR_TEXT(doctor, "ls -lL %s   # a regular file below 1 MiB is needed", path),
            "%s: %s", path, strerror(number));
        return NULL;
    }
    nri_error_clear(&error);
    const int code = doctor_toml_parse(&doctor->arena, text, length, &document, &error);
    if (code == 0)
        return document;
    if (code != NRI_E_NOMEM)
        DOCTOR_FIND(doctor, CONFIG_SYNTAX, path,
                    "correct that line; text needs quotes, and a table or key stands once",
                    "%s is %s", path, error.text);
    return NULL;
}

/* ---- settings ---- */

enum setting_type { SETTING_SWITCH, SETTING_PATH, SETTING_TIME };

static const char *type_name(enum setting_type type)
{
    static const char *const names[] = {"true or false", "a path in quotes",
                                        "a duration in quotes, such as \"5s\""};
    return names[type];
}

static bool has_type(const struct nri_json *value, enum setting_type type)
{
    size_t length;
    if (type == SETTING_SWITCH)
        return nri_json_type(value) == NRI_JSON_BOOL;
    const char *text = nri_json_string(value, &length);
    if (nri_json_type(value) != NRI_JSON_STRING)
        return false;
    return type != SETTING_PATH || length == 0 || text[0] == '/';
}

const char *doctor_setting(struct doctor *doctor, const struct doctor_runtime *runtime,
                           const char *key, const char *value)
{
    if (runtime->section == NULL)
        return DOCTOR_TEXT(doctor, "in %s: {\"nri-opts\": {\"%s\": %s}}\nsudo systemctl restart %s",
                           runtime->config, key, value, runtime->unit);
    return DOCTOR_TEXT(doctor, "in %s:\n%s\n%s = %s\nsudo systemctl restart %s", runtime->config,
                       runtime->section, key, value, runtime->unit);
}

/* How many bytes two keys begin with alike; a key that is a part of the other is as good. */
static size_t likeness(const char *key, const char *other)
{
    size_t same = 0;
    while (key[same] != '\0' && key[same] == other[same])
        same++;
    return strstr(other, key) != NULL ? strlen(key) : same;
}

struct setting {
    const char *key;
    enum setting_type type;
    bool *enabled;
    const char **text, **at;
};

static void take(struct doctor *doctor, struct doctor_runtime *runtime,
                 const struct setting *setting, const struct nri_json *value, const char *where)
{
    if (!has_type(value, setting->type)) {
        DOCTOR_FIND(doctor, CONFIG_TYPE, where,
                    doctor_setting(doctor, runtime, setting->key,
                                   setting->type == SETTING_SWITCH ? "true"
                                   : setting->type == SETTING_PATH ? "\"/PATH\""
                                                                   : "\"5s\""),
                    "%s is %s, not %s", setting->key, type_name(setting->type),
                    nri_json_type(value) == NRI_JSON_STRING
                        ? DOCTOR_TEXT(doctor, "\"%s\"", nri_json_string(value, NULL))
                        : DOCTOR_TEXT(doctor, "a value of type %s",
                                      nri_json_type_name(nri_json_type(value))));
        return;
    }
    if (setting->type == SETTING_SWITCH) {
        /* "disable" and its like switch off what the structure has as switched on. */
        *setting->enabled = nri_json_bool(value) == (strstr(setting->key, "enable") != NULL);
        return;
    }
    const char *text = nri_json_string(value, NULL);
    if (text[0] == '\0')
        return; /* the default */
    *setting->text = text;
    if (setting->at != NULL)
        *setting->at = where;
    /* "containerd config default" writes out what nobody has asked for. */
    if (setting->text == &runtime->plugins)
        runtime->plugins_given = strcmp(text, NRI_DEFAULT_PLUGIN_DIRECTORY) != 0;
}

static void unknown(struct doctor *doctor, const struct doctor_runtime *runtime,
                    const struct setting *settings, size_t count, const char *key,
                    const char *where)
{
    const char *best = NULL;
    size_t longest = 3; /* less is chance */
    for (size_t i = 0; i < count; i++) {
        const size_t same = settings[i].key == NULL ? 0 : likeness(key, settings[i].key);
        if (same > longest) {
            longest = same;
            best = settings[i].key;
        }
    }
    DOCTOR_FIND(doctor, CONFIG_UNKNOWN_KEY, where,
                best == NULL ? "remove it, or correct its name"
                             : DOCTOR_TEXT(doctor, "%s   # in place of %s", best, key),
                "%s's NRI has no setting '%s'", runtime->title, key);
}

void doctor_settings(struct doctor *doctor, struct doctor_runtime *runtime,
                     const struct nri_json *table, const char *file)
{
    const struct setting settings[] = {
        {runtime->enable_key, SETTING_SWITCH, &runtime->enabled, NULL, NULL},
        {runtime->connections_key, SETTING_SWITCH, &runtime->connections, NULL, NULL},
        {runtime->socket_key, SETTING_PATH, NULL, &runtime->socket, NULL},
        {runtime->plugins_key, SETTING_PATH, NULL, &runtime->plugins, NULL},
        {runtime->dropins_key, SETTING_PATH, NULL, &runtime->dropins, NULL},
        {runtime->registration_key, SETTING_TIME, NULL, &runtime->registration,
         &runtime->registration_at},
        {runtime->request_key, SETTING_TIME, NULL, &runtime->request, &runtime->request_at},
    };
    const size_t count = sizeof settings / sizeof *settings;
    for (size_t i = 0; i < nri_json_count(table); i++) {
        const char *key;
        const struct nri_json *value = nri_json_member_at(table, i, &key, NULL);
        const char *where = doctor_at(doctor, file, nri_json_key_line(value));
        size_t at = 0;
        while (at < count && (settings[at].key == NULL || strcmp(key, settings[at].key) != 0))
            at++;
        if (at < count)
            take(doctor, runtime, &settings[at], value, where);
        else if (nri_json_type(value) != NRI_JSON_OBJECT) /* validators have tables of their own */
            unknown(doctor, runtime, settings, count, key, where);
    }
}

/* ---- all of them ---- */

static void set_defaults(struct doctor_runtime *runtime)
{
    *runtime = (struct doctor_runtime){.connections = true,
                                       .socket = NRI_DEFAULT_SOCKET_PATH,
                                       .plugins = NRI_DEFAULT_PLUGIN_DIRECTORY,
                                       .dropins = NRI_DEFAULT_CONFIG_DIRECTORY};
}

static void say_absent(struct doctor *doctor)
{
    if (doctor->runtime_name != NULL) {
        DOCTOR_FIND(doctor, RUNTIME_ABSENT, NULL, "sudo apt-get install containerd",
                    "%s was not found: neither its program nor its configuration",
                    doctor->runtime_name);
        return;
    }
    DOCTOR_FIND(doctor, RUNTIME_ABSENT, NULL,
                "sudo apt-get install containerd\n"
                "nrictl doctor --containerd-config FILE   # where it is kept elsewhere",
                "there is neither containerd nor CRI-O nor Docker: no program of theirs and no "
                "configuration");
}

/* A node may have Docker beside the runtime of its pods, which alone is to have NRI. */
static void say_off(struct doctor *doctor)
{
    bool any = false;
    /* What could not be read may have switched it on. */
    const bool unread = doctor_found(&doctor->findings, DOCTOR_CONFIG_UNREADABLE) ||
                        doctor_found(&doctor->findings, DOCTOR_CONFIG_SYNTAX);
    for (size_t i = 0; i < doctor->runtime_count; i++)
        any = any || doctor->runtimes[i].enabled;
    for (size_t i = 0; i < doctor->runtime_count; i++) {
        const struct doctor_runtime *runtime = &doctor->runtimes[i];
        if (runtime->off != NULL && !unread)
            doctor_find(&doctor->findings,
                        any ? DOCTOR_CONFIG_OTHER_DISABLED : DOCTOR_CONFIG_NRI_DISABLED,
                        runtime->off_at, runtime->off_fix, "%s", runtime->off);
        if (runtime->enabled)
            DOCTOR_FIND(doctor, CONFIG_READ, runtime->config, NULL,
                        "%s: plugins in %s, their configurations in %s, socket %s", runtime->title,
                        runtime->plugins, runtime->dropins,
                        runtime->connections ? runtime->socket : "none");
    }
}

void doctor_runtimes_find(struct doctor *doctor)
{
    static const struct {
        const char *name;
        bool (*find)(struct doctor *doctor, struct doctor_runtime *runtime);
    } all[] = {{"containerd", doctor_containerd_find},
               {"cri-o", doctor_crio_find},
               {"docker", doctor_docker_find}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct doctor_runtime *runtime = &doctor->runtimes[doctor->runtime_count];
        if (doctor->runtime_name != NULL && strcmp(doctor->runtime_name, all[i].name) != 0)
            continue;
        set_defaults(runtime);
        doctor->runtime_count += all[i].find(doctor, runtime);
    }
    if (doctor->runtime_count == 0)
        say_absent(doctor);
    for (size_t i = 0; i < doctor->runtime_count; i++)
        doctor_version_check(doctor, &doctor->runtimes[i]);
    say_off(doctor);
}

static bool has_socket(const struct doctor_runtime *runtime)
{
    return runtime->enabled && runtime->connections;
}

void doctor_runtimes_check(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->runtime_count; i++) {
        const struct doctor_runtime *one = &doctor->runtimes[i];
        if (has_socket(one) && doctor->socket == NULL && strcmp(one->name, "docker") != 0 &&
            strcmp(one->socket, NRI_DEFAULT_SOCKET_PATH) != 0 &&
            strcmp(one->socket, &NRI_DEFAULT_SOCKET_PATH[4]) != 0)
            DOCTOR_FIND(doctor, CONFIG_SOCKET_PATH, one->config,
                        DOCTOR_TEXT(doctor,
                                    "nrictl doctor --socket %s   # if the plugin is told of it\n"
                                    "%s = \"%s\"   # if it is not",
                                    one->socket, one->socket_key, NRI_DEFAULT_SOCKET_PATH),
                        "%s listens on %s, and plugins look for %s", one->title, one->socket,
                        NRI_DEFAULT_SOCKET_PATH);
        for (size_t j = i + 1; j < doctor->runtime_count; j++) {
            const struct doctor_runtime *other = &doctor->runtimes[j];
            if (has_socket(one) && has_socket(other) && strcmp(one->socket, other->socket) == 0)
                DOCTOR_FIND(
                    doctor, CONFIG_SHARED_SOCKET, one->socket,
                    doctor_setting(doctor, other, other->socket_key, "\"/var/run/nri/other.sock\""),
                    "%s and %s both have the socket %s", one->title, other->title, one->socket);
        }
    }
}
