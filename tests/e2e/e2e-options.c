/* SPDX-License-Identifier: Apache-2.0 */
#include "e2e-options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_TEXT, KIND_NUMBER, KIND_LIST, KIND_FLAG };

static const struct entry {
    const char *name;
    enum kind kind;
    size_t offset;
} entries[] = {
    {"name", KIND_TEXT, offsetof(struct options, name)},
    {"idx", KIND_TEXT, offsetof(struct options, index)},
    {"socket", KIND_TEXT, offsetof(struct options, socket)},
    {"output", KIND_TEXT, offsetof(struct options, output)},
    {"events", KIND_TEXT, offsetof(struct options, events)},
    {"sync-parts", KIND_FLAG, offsetof(struct options, sync_parts)},
    {"add-env", KIND_LIST, offsetof(struct options, add_env)},
    {"remove-env", KIND_LIST, offsetof(struct options, remove_env)},
    {"replace-env", KIND_LIST, offsetof(struct options, replace_env)},
    {"add-annotation", KIND_LIST, offsetof(struct options, add_annotation)},
    {"add-mount", KIND_LIST, offsetof(struct options, add_mount)},
    {"inject-device", KIND_LIST, offsetof(struct options, inject_device)},
    {"adjust", KIND_TEXT, offsetof(struct options, adjust)},
    {"arg", KIND_LIST, offsetof(struct options, arg)},
    {"cpu-shares", KIND_NUMBER, offsetof(struct options, cpu_shares)},
    {"cpu-quota", KIND_NUMBER, offsetof(struct options, cpu_quota)},
    {"memory-limit", KIND_NUMBER, offsetof(struct options, memory_limit)},
    {"fat-annotation", KIND_NUMBER, offsetof(struct options, fat_annotation)},
    {"update-cpu-shares", KIND_NUMBER, offsetof(struct options, update_cpu_shares)},
    {"update-cpu-quota", KIND_NUMBER, offsetof(struct options, update_cpu_quota)},
    {"update-memory-limit", KIND_NUMBER, offsetof(struct options, update_memory_limit)},
    {"fat-update", KIND_NUMBER, offsetof(struct options, fat_update)},
    {"refuse", KIND_LIST, offsetof(struct options, refuse)},
    {"later", KIND_LIST, offsetof(struct options, later)},
};

#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

static const struct entry *find(const char *name, size_t length)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (strlen(entries[i].name) == length && memcmp(entries[i].name, name, length) == 0) {
            return &entries[i];
        }
    }
    return NULL;
}

static int set(struct options *options, const struct entry *entry, const char *value)
{
    void *member = (char *)options + entry->offset;
    char *end = NULL;
    struct list *list = NULL;
    switch (entry->kind) {
    case KIND_TEXT:
        *(const char **)member = value;
        return 0;
    case KIND_FLAG:
        *(bool *)member = true;
        return 0;
    case KIND_LIST:
        list = member;
        if (list->count == LIST_MAX) {
            fprintf(stderr, "e2e-plugin: more than %d times %s\n", LIST_MAX, entry->name);
            return -1;
        }
        list->item[list->count++] = value;
        return 0;
    case KIND_NUMBER:
        errno = 0;
        *(int64_t *)member = strtoll(value, &end, 10);
        if (errno != 0 || end == value || *end != '\0') {
            fprintf(stderr, "e2e-plugin: %s: \"%s\" is no number\n", entry->name, value);
            return -1;
        }
        return 0;
    }
    return -1;
}

static void print_help(void)
{
    puts("usage: e2e-plugin [--OPTION VALUE]...\nThe test plugin of libnri. Options:");
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        printf("  --%s%s\n", entries[i].name, entries[i].kind == KIND_LIST ? " (repeatable)" : "");
    }
}

int options_from_arguments(struct options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help();
            return 1;
        }
        const char *name = argv[i] + 2;
        const struct entry *entry = NULL;
        if (strncmp(argv[i], "--", 2) == 0) {
            entry = find(name, strlen(name));
        }
        if (entry == NULL) {
            fprintf(stderr, "e2e-plugin: no option %s; see --help\n", argv[i]);
            return -1;
        }
        const char *value = "";
        if (entry->kind != KIND_FLAG) {
            if (i + 1 == argc) {
                fprintf(stderr, "e2e-plugin: %s wants a value\n", argv[i]);
                return -1;
            }
            value = argv[++i];
        }
        if (set(options, entry, value) != 0) {
            return -1;
        }
    }
    return 0;
}

int options_from_text(struct options *options, char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *equals = strchr(line, '=');
        const struct entry *entry = equals == NULL ? NULL : find(line, (size_t)(equals - line));
        if (entry == NULL) {
            fprintf(stderr, "e2e-plugin: configuration: no option in \"%s\"\n", line);
            return -1;
        }
        if (set(options, entry, equals + 1) != 0) {
            return -1;
        }
    }
    return 0;
}

const char *list_value(const struct list *list, const char *word)
{
    size_t length = strlen(word);
    for (int i = 0; i < list->count; i++) {
        if (strncmp(list->item[i], word, length) == 0 && list->item[i][length] == '=') {
            return list->item[i] + length + 1;
        }
    }
    return NULL;
}
