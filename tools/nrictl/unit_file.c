/* SPDX-License-Identifier: Apache-2.0 */
#include "unit_file.h"

#include <stdio.h>
#include <string.h>

#define MOST_SETTINGS 2048

const char *const unit_directories[] = {"/etc/systemd/system",           "/run/systemd/system",
                                        "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
                                        "/lib/systemd/system",           NULL};

static void add(const struct doctor_root *root, struct unit_file *unit, const char *key,
                const char *value, const char *file, size_t line)
{
    if (unit->count == MOST_SETTINGS)
        return;
    if (unit->count == unit->room) {
        const size_t room = unit->room == 0 ? 32 : 2 * unit->room;
        struct unit_setting *settings = nri_arena_array(root->arena, room, sizeof *settings);
        if (settings == NULL)
            return;
        if (unit->count > 0)
            memcpy(settings, unit->settings, unit->count * sizeof *settings);
        unit->settings = settings;
        unit->room = room;
    }
    unit->settings[unit->count++] = (struct unit_setting){key, value, file, line};
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL)
        text[--length] = '\0';
    return text;
}

/* A backslash at its end continues a line with a blank. */
static void join(char *text)
{
    for (char *at = text; (at = strstr(at, "\\\n")) != NULL;)
        at[0] = at[1] = ' ';
}

static bool read_file(const struct doctor_root *root, const char *path, struct unit_file *unit)
{
    char *text;
    size_t length, line_number = 0;
    bool service = false;
    if (doctor_root_read(root, path, DOCTOR_MOST_BYTES, &text, &length) != 0)
        return false;
    join(text);
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        line_number++;
        line = trim(line);
        if (line[0] == '[')
            service = strcmp(line, "[Service]") == 0;
        char *value = strchr(line, '=');
        if (!service || line[0] == '#' || line[0] == ';' || value == NULL)
            continue;
        *value = '\0';
        add(root, unit, trim(line), trim(value + 1), path, line_number);
    }
    return true;
}

bool unit_read(const struct doctor_root *root, const char *path, struct unit_file *unit)
{
    struct doctor_names names;
    char directory[512];
    const char *name = strrchr(path, '/') + 1;
    *unit = (struct unit_file){.name = name, .path = path};
    if (!read_file(root, path, unit))
        return false;
    for (size_t i = 0; unit_directories[i] != NULL; i++) {
        (void)snprintf(directory, sizeof directory, "%s/%s.d", unit_directories[i], name);
        if (doctor_root_list(root, directory, &names) != 0)
            continue;
        for (size_t j = 0; j < names.count; j++) {
            char file[1024];
            const char *dot = strrchr(names.names[j], '.');
            if (dot == NULL || strcmp(dot, ".conf") != 0)
                continue;
            (void)snprintf(file, sizeof file, "%s/%s", directory, names.names[j]);
            const char *kept = nri_arena_text(root->arena, file, strlen(file));
            if (kept != NULL)
                (void)read_file(root, kept, unit);
        }
    }
    return true;
}

const struct unit_setting *unit_last(const struct unit_file *unit, const char *key)
{
    for (size_t i = unit->count; i > 0; i--) {
        if (strcmp(unit->settings[i - 1].key, key) == 0)
            return &unit->settings[i - 1];
    }
    return NULL;
}
