/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units of systemd that start plugins, and what of their sandbox keeps a plugin from the socket.
 *
 * A unit is a plugin's when it starts the program that was asked for; without that, when the last
 * part of the program's name has "nri" in it, or is in a plugin directory.
 */
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "unit_file.h"

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* The first word of ExecStart= without its prefixes. */
static const char *program_of(struct doctor *doctor, const struct unit_file *unit)
{
    const struct unit_setting *start = unit_last(unit, "ExecStart");
    if (start == NULL)
        return NULL;
    const char *at = start->value + strspn(start->value, "@-:+!|\"");
    const size_t length = strcspn(at, " \t\"");
    return length == 0 ? NULL : DOCTOR_TEXT(doctor, "%.*s", (int)length, at);
}

static bool is_in_directory(const struct doctor *doctor, const char *program)
{
    for (size_t i = 0; i < doctor->runtime_count; i++) {
        const char *directory =
            doctor->plugin_dir != NULL ? doctor->plugin_dir : doctor->runtimes[i].plugins;
        const size_t length = strlen(directory);
        if (strncmp(program, directory, length) == 0 && program[length] == '/')
            return true;
    }
    return false;
}

static bool is_plugin(const struct doctor *doctor, const char *program)
{
    const char *file = last_part(program);
    if (doctor->plugin != NULL)
        return strcmp(program, doctor->plugin) == 0 || strcmp(file, last_part(doctor->plugin)) == 0;
    return strstr(file, "nri") != NULL || is_in_directory(doctor, program);
}

/* ---- address families ---- */

/* A list of families, or with "~" in front of those that are refused; an empty value begins anew.
 */
static void check_families(struct doctor *doctor, const struct unit_file *unit)
{
    bool limited = false, allowed = true;
    const struct unit_setting *last = NULL;
    for (size_t i = 0; i < unit->count; i++) {
        const struct unit_setting *at = &unit->settings[i];
        if (strcmp(at->key, "RestrictAddressFamilies") != 0)
            continue;
        last = at;
        const bool named =
            strstr(at->value, "AF_UNIX") != NULL || strstr(at->value, "AF_LOCAL") != NULL;
        if (at->value[0] == '\0') {
            limited = false;
            allowed = true;
        } else if (at->value[0] == '~') {
            allowed = (limited ? allowed : true) && !named;
            limited = true;
        } else {
            allowed = named || (limited && allowed);
            limited = true;
        }
    }
    if (allowed || last == NULL)
        return;
    DOCTOR_FIND(doctor, UNIT_ADDRESS_FAMILIES, doctor_at(doctor, last->file, last->line),
                DOCTOR_TEXT(doctor,
                            "RestrictAddressFamilies=AF_UNIX\nsudo systemctl daemon-reload "
                            "&& sudo systemctl restart %s",
                            unit->name),
                "%s has RestrictAddressFamilies=%s", unit->name, last->value);
}

/* ---- what it sees of the file system ---- */

static bool is_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Also by the other name of /run. */
static bool hides(const char *socket, const char *directory)
{
    if (is_below(socket, directory))
        return true;
    return strncmp(socket, "/var/run/", 9) == 0 && is_below(socket + 4, directory);
}

static bool is_on(const char *value)
{
    return strcmp(value, "yes") == 0 || strcmp(value, "true") == 0 || strcmp(value, "1") == 0 ||
           strcmp(value, "on") == 0;
}

static bool list_hides(struct doctor *doctor, const char *socket, const char *list)
{
    while (*(list += strspn(list, " \t")) != '\0') {
        const size_t length = strcspn(list, " \t");
        const char *word = DOCTOR_TEXT(doctor, "%.*s", (int)strcspn(list, " \t:"), list);
        word += strspn(word, "-+");
        if (word[0] == '/' && hides(socket, word))
            return true;
        list += length;
    }
    return false;
}

static bool setting_hides(struct doctor *doctor, const struct unit_setting *at, const char *socket)
{
    if (strcmp(at->key, "PrivateTmp") == 0)
        return (is_on(at->value) || strcmp(at->value, "disconnected") == 0) &&
               (hides(socket, "/tmp") || hides(socket, "/var/tmp"));
    if (strcmp(at->key, "ProtectHome") == 0)
        return (is_on(at->value) || strcmp(at->value, "tmpfs") == 0) &&
               (hides(socket, "/home") || hides(socket, "/root") || hides(socket, "/run/user"));
    if (strcmp(at->key, "InaccessiblePaths") == 0 || strcmp(at->key, "TemporaryFileSystem") == 0)
        return list_hides(doctor, socket, at->value);
    return (strcmp(at->key, "RootDirectory") == 0 && at->value[0] != '\0' &&
            strcmp(at->value, "/") != 0) ||
           (strcmp(at->key, "RootImage") == 0 && at->value[0] != '\0');
}

static bool is_bound(struct doctor *doctor, const struct unit_file *unit, const char *socket)
{
    for (size_t i = 0; i < unit->count; i++) {
        const struct unit_setting *at = &unit->settings[i];
        if ((strcmp(at->key, "BindPaths") == 0 || strcmp(at->key, "BindReadOnlyPaths") == 0) &&
            list_hides(doctor, socket, at->value))
            return true;
    }
    return false;
}

static void check_hidden(struct doctor *doctor, const struct unit_file *unit, const char *socket)
{
    if (is_bound(doctor, unit, socket))
        return;
    for (size_t i = 0; i < unit->count; i++) {
        const struct unit_setting *at = &unit->settings[i];
        /* A later assignment of a switch takes the place of one before. */
        if (strcmp(at->key, "InaccessiblePaths") != 0 &&
            strcmp(at->key, "TemporaryFileSystem") != 0 && unit_last(unit, at->key) != at)
            continue;
        if (!setting_hides(doctor, at, socket))
            continue;
        DOCTOR_FIND(doctor, UNIT_HIDDEN, doctor_at(doctor, at->file, at->line),
                    DOCTOR_TEXT(doctor,
                                "BindPaths=%.*s\nsudo systemctl daemon-reload && sudo "
                                "systemctl restart %s",
                                (int)(strrchr(socket, '/') - socket), socket, unit->name),
                    "%s has %s=%s, and the socket is %s", unit->name, at->key, at->value, socket);
    }
}

/* ---- who it runs as ---- */

static void check_user(struct doctor *doctor, const struct unit_file *unit, const char *socket)
{
    struct doctor_user user;
    struct stat status;
    const struct unit_setting *named = unit_last(unit, "User");
    const struct unit_setting *dynamic = unit_last(unit, "DynamicUser");
    const struct unit_setting *at = named;
    if (named != NULL && named->value[0] != '\0') {
        if (!doctor_user_named(doctor, named->value, &user))
            return;
    } else if (dynamic != NULL && is_on(dynamic->value)) {
        user = (struct doctor_user){.uid = 65000, .gid = 65000, .name = "a dynamic user"};
        at = dynamic;
    } else {
        return;
    }
    if (user.uid == 0 || doctor_root_stat(&doctor->root, socket, &status) != 0)
        return;
    const char *stopped = doctor_user_stopped(doctor, &user, socket, W_OK);
    if (stopped == NULL)
        return;
    DOCTOR_FIND(doctor, UNIT_USER, doctor_at(doctor, at->file, at->line),
                DOCTOR_TEXT(doctor,
                            "User=root\nCapabilityBoundingSet=\nsudo systemctl "
                            "daemon-reload && sudo systemctl restart %s",
                            unit->name),
                "%s runs as %s, whom %s keeps from %s", unit->name, user.name, stopped, socket);
}

/* ---- one unit ---- */

static void check_environment(struct doctor *doctor, const struct unit_file *unit)
{
    for (size_t i = 0; i < unit->count; i++) {
        const struct unit_setting *at = &unit->settings[i];
        if (strcmp(at->key, "Environment") != 0)
            continue;
        for (const char *word = at->value; *(word += strspn(word, " \t\"'")) != '\0';) {
            const size_t length = strcspn(word, " \t\"'");
            doctor_environment_look(doctor, DOCTOR_TEXT(doctor, "%.*s", (int)length, word),
                                    doctor_at(doctor, at->file, at->line));
            word += length;
        }
    }
}

static void check_unit(struct doctor *doctor, const struct unit_file *unit, const char *program)
{
    const size_t before = doctor->findings.count;
    check_environment(doctor, unit);
    check_families(doctor, unit);
    for (size_t i = 0; i < doctor->runtime_count || (i == 0 && doctor->socket != NULL); i++) {
        const struct doctor_runtime *runtime = &doctor->runtimes[i];
        const char *socket = doctor->socket != NULL ? doctor->socket : runtime->socket;
        if (doctor->socket == NULL && (!runtime->enabled || !runtime->connections))
            continue;
        check_hidden(doctor, unit, socket);
        check_user(doctor, unit, socket);
    }
    if (is_in_directory(doctor, program))
        DOCTOR_FIND(doctor, UNIT_TWICE, unit->path,
                    DOCTOR_TEXT(doctor, "sudo systemctl disable --now %s   # or move %s elsewhere",
                                unit->name, program),
                    "%s starts %s, which the runtime starts as well", unit->name, program);
    if (doctor->findings.count == before)
        DOCTOR_FIND(doctor, UNIT_READ, unit->path, NULL, "%s starts %s", unit->name, program);
}

/* A directory in front has such a name, perhaps a link to /dev/null. (/lib may be a link, too.) */
static bool is_replaced(struct doctor *doctor, size_t directory, const char *name)
{
    struct stat status;
    for (size_t i = 0; i < directory; i++) {
        if (doctor_root_lstat(&doctor->root,
                              DOCTOR_TEXT(doctor, "%s/%s", unit_directories[i], name),
                              &status) == 0)
            return true;
    }
    return false;
}

void doctor_units_check(struct doctor *doctor)
{
    for (size_t i = 0; unit_directories[i] != NULL; i++) {
        struct doctor_names names;
        if (doctor_root_list(&doctor->root, unit_directories[i], &names) != 0)
            continue;
        for (size_t j = 0; j < names.count; j++) {
            struct unit_file unit;
            const char *dot = strrchr(names.names[j], '.');
            if (dot == NULL || strcmp(dot, ".service") != 0)
                continue;
            const char *path = DOCTOR_TEXT(doctor, "%s/%s", unit_directories[i], names.names[j]);
            if (is_replaced(doctor, i, names.names[j]) || !unit_read(&doctor->root, path, &unit))
                continue;
            const char *program = program_of(doctor, &unit);
            if (program != NULL && is_plugin(doctor, program))
                check_unit(doctor, &unit, program);
        }
    }
}
