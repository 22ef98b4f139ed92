/* SPDX-License-Identifier: Apache-2.0 */
#include "config_key.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "config_error.h"

const struct nri_app_field *app_key_find(const struct app_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->fields[i].name, name) == 0)
            return &table->fields[i];
    }
    return NULL;
}

static bool is_within(const char *name, const char *group, size_t length)
{
    return strncmp(name, group, length) == 0 && name[length] == '.';
}

bool app_key_is_group(const struct app_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (is_within(table->fields[i].name, name, strlen(name)))
            return true;
    }
    return false;
}

/* ---- distance ---- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

size_t app_key_distance(const char *a, const char *b)
{
    size_t rows[3][APP_KEY_LENGTH + 1];
    size_t *older = rows[0], *last = rows[1], *now = rows[2];
    size_t height = strlen(a), width = strlen(b);
    if (height > APP_KEY_LENGTH || width > APP_KEY_LENGTH)
        return SIZE_MAX;
    for (size_t x = 0; x <= width; x++)
        last[x] = x;
    for (size_t y = 1; y <= height; y++) {
        now[0] = y;
        for (size_t x = 1; x <= width; x++) {
            char of_a = lower(a[y - 1]), of_b = lower(b[x - 1]);
            now[x] = smaller(smaller(last[x], now[x - 1]) + 1, last[x - 1] + (of_a != of_b));
            if (x > 1 && y > 1 && of_a == lower(b[x - 2]) && of_b == lower(a[y - 2]))
                now[x] = smaller(now[x], older[x - 2] + 1);
        }
        size_t *free_row = older;
        older = last;
        last = now;
        now = free_row;
    }
    return last[width];
}

/* ---- all names: fields, and the objects that they are within ---- */

/* The names of one field, from the outermost object to itself: false at the end. `name` is what the
 * last call gave, "" at first. */
static bool next_name(const struct nri_app_field *field, char name[APP_KEY_LENGTH + 1])
{
    size_t length = strlen(name);
    if (field->name[length] == '\0')
        return false;
    size_t start = length == 0 ? 0 : length + 1;
    size_t end = start + strcspn(field->name + start, ".");
    memcpy(name, field->name, end);
    name[end] = '\0';
    return true;
}

static const char *last_part(const char *name)
{
    const char *point = strrchr(name, '.');
    return point != NULL ? point + 1 : name;
}

/* ---- what to say ---- */

/* The first name with that last part: where a key of that name belongs. */
static bool find_elsewhere(const struct app_table *table, const char *key,
                           char name[APP_KEY_LENGTH + 1])
{
    for (size_t i = 0; i < table->count; i++) {
        name[0] = '\0';
        while (next_name(&table->fields[i], name)) {
            if (strcmp(last_part(name), key) == 0)
                return true;
        }
    }
    return false;
}

/* One that is a slip away, in this object rather than in another. */
static bool find_near(const struct app_table *table, const char *key, const char *path,
                      char nearest[APP_KEY_LENGTH + 1])
{
    char name[APP_KEY_LENGTH + 1];
    size_t best = 2 + strlen(key) / 4; /* what is as far is another word */
    bool found = false;
    for (size_t i = 0; i < table->count; i++) {
        name[0] = '\0';
        while (next_name(&table->fields[i], name)) {
            size_t distance = app_key_distance(path, name);
            size_t elsewhere = app_key_distance(key, last_part(name));
            if (elsewhere < SIZE_MAX)
                distance = smaller(distance, elsewhere + 1);
            if (distance < best) {
                best = distance;
                found = true;
                memcpy(nearest, name, sizeof name);
            }
        }
    }
    return found;
}

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at++) {
        if (at > list && at[-1] == ' ' && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* The keys that there are in an object, which `path` names a member of; as many as there is room
 * for. */
static void list_keys(const struct app_table *table, const char *path, char *list, size_t size)
{
    char name[APP_KEY_LENGTH + 1];
    size_t group = (size_t)(last_part(path) - path), used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < table->count; i++) {
        const char *whole = table->fields[i].name;
        if (strncmp(whole, path, group) != 0)
            continue;
        size_t length = strcspn(whole + group, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, whole + group);
        if (is_listed(list, name))
            continue;
        if (used + length + sizeof ", ..." + 1 > size) {
            snprintf(list + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(list + used, size - used, "%s %s", used > 0 ? "," : "", name);
    }
}

static int refuse_misplaced(const struct app_reader *reader, const struct app_node *member,
                            const char *path, const char *name)
{
    size_t length = (size_t)(last_part(name) - name);
    if (length == 0)
        return app_config_refuse(reader->text, member, path,
                                 "is misplaced: it belongs to the outermost level");
    return app_config_refuse(reader->text, member, path,
                             "is misplaced: it belongs into \"%.*s\", as %s", (int)length - 1, name,
                             name);
}

int app_key_refuse(const struct app_reader *reader, const struct app_table *table,
                   const struct app_node *member, const char *path)
{
    char name[APP_KEY_LENGTH + 1], list[400];
    const char *point = strrchr(member->key, '.');
    if (point != NULL && (app_key_find(table, path) != NULL || app_key_is_group(table, path)))
        return app_config_refuse(reader->text, member, path,
                                 "is misplaced: write \"%s\" within \"%.*s\"", point + 1,
                                 (int)(point - member->key), member->key);
    if (find_elsewhere(table, member->key, name))
        return refuse_misplaced(reader, member, path, name);
    if (find_near(table, member->key, path, name))
        return app_config_refuse(reader->text, member, path, "no such key; did you mean %s?", name);
    list_keys(table, path, list, sizeof list);
    return app_config_refuse(reader->text, member, path, "no such key%s%s",
                             list[0] != '\0' ? "; there are" : "", list);
}
