/* SPDX-License-Identifier: Apache-2.0 */
/* Removals, in every order in which plugins may make them, and what later plugins see of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "merge_case.h"

#define NAME_SIZE 64
#define TEXT_SIZE 512

/* A kind of list: a reply around the entries, an entry that sets %s with a value, and one that
 * removes it; the same in the container. */
struct kind {
    const char *field, *key;
    const char *reply, *set, *removal, *seen_list, *seen;
    const char *brackets;
    bool map;
};

static const struct kind kinds[] = {
    {"Annotations", "k", "{\"adjust\":{\"annotations\":%s}}", "\"%s\":\"%d\"", "\"-%s\":\"\"",
     "{\"id\":\"c0\",\"annotations\":%s}", "\"%s\":\"%d\"", "{}", true},
    {"Mounts", "/m", "{\"adjust\":{\"mounts\":%s}}", "{\"destination\":\"%s\",\"source\":\"/%d\"}",
     "{\"destination\":\"-%s\"}", "{\"id\":\"c0\",\"mounts\":%s}",
     "{\"destination\":\"%s\",\"source\":\"/%d\"}", "[]", false},
    {"Env", "K", "{\"adjust\":{\"env\":%s}}", "{\"key\":\"%s\",\"value\":\"%d\"}",
     "{\"key\":\"-%s\"}", "{\"id\":\"c0\",\"env\":%s}", "\"%s=%d\"", "[]", false},
    {"Devices", "/d", "{\"adjust\":{\"linux\":{\"devices\":%s}}}",
     "{\"path\":\"%s\",\"major\":\"%d\"}", "{\"path\":\"-%s\"}",
     "{\"id\":\"c0\",\"linux\":{\"devices\":%s}}", "{\"path\":\"%s\",\"major\":\"%d\"}", "[]",
     false},
    {"Sysctl", "k", "{\"adjust\":{\"linux\":{\"sysctl\":%s}}}", "\"%s\":\"%d\"", "\"-%s\":\"\"",
     "{\"id\":\"c0\",\"linux\":{\"sysctl\":%s}}", "\"%s\":\"%d\"", "{}", true},
    {"LinuxNetDevices", "k", "{\"adjust\":{\"linux\":{\"net_devices\":%s}}}",
     "\"%s\":{\"name\":\"%d\"}", "\"-%s\":{}", "{\"id\":\"c0\",\"linux\":{\"net_devices\":%s}}",
     "\"%s\":{\"name\":\"%d\"}", "{}", true},
};

/*
 * A list in a few letters: "+1" sets the key to 1, "-" removes it, "." is another entry, which
 * nobody touches.
 */
static const char *list(const struct kind *kind, const char *letters, bool seen,
                        char out[TEXT_SIZE])
{
    char entries[TEXT_SIZE] = "", whole[TEXT_SIZE];
    size_t length = 0;
    for (const char *at = letters; *at != '\0'; at++) {
        const char *form = seen ? kind->seen : kind->set;
        if (length > 0)
            entries[length++] = ',';
        if (*at == '+')
            length +=
                (size_t)snprintf(entries + length, NAME_SIZE * 2, form, kind->key, *++at - '0');
        else if (*at == '.')
            length += (size_t)snprintf(entries + length, NAME_SIZE * 2, form, "/other", 9);
        else
            length += (size_t)snprintf(entries + length, NAME_SIZE * 2, kind->removal, kind->key);
    }
    snprintf(whole, sizeof whole, "%c%s%c", kind->brackets[0], entries, kind->brackets[1]);
    snprintf(out, TEXT_SIZE, seen ? kind->seen_list : kind->reply, whole);
    return out;
}

/* Letters as above, and "!AB" for a conflict that plugin A has with plugin B. */
static const struct {
    const char *name, *container, *replies[4];
    const char *result, *seen; /* as it should be */
    const char *go_map;        /* the conflict as Go has it in a map; NULL: the same */
} rows[] = {
    {"set over what is there", ".+7", {"+1"}, "+1", ".+1", NULL},
    {"remove what is there", ".+7", {"-"}, "-", ".", NULL},
    {"remove what is not there", ".", {"-"}, "-", ".", NULL},
    {"remove and set in one reply", ".+7", {"-+1"}, "?1", ".+1", NULL},
    {"set and remove in one reply", ".+7", {"+1-"}, "?1", ".+1", NULL},
    {"removed by two", ".+7", {"-", "-"}, "-", ".", NULL},
    {"set by one, removed by another", ".", {"+1", "-"}, "-", ".", NULL},
    {"set by one, replaced by another", ".", {"+1", "-+2"}, "?2", ".+2", NULL},
    {"removed by one, set by another", ".+7", {"-", "+1"}, "-+1", ".+1", NULL},
    {"removed, set by two", ".+7", {"-", "+1", "+2"}, "!32", NULL, NULL},
    {"set, removed by another, set by a third", ".", {"+1", "-", "+3"}, "!32", NULL, "!31"},
    {"set, replaced, set by a third", ".", {"+1", "-+2", "+3"}, "!32", NULL, NULL},
};

static const char *const plugins[] = {"", "10-a", "20-b", "30-c"};

static void check(const struct kind *kind, size_t row, bool go)
{
    char texts[6][TEXT_SIZE], name[2 * NAME_SIZE], result[8];
    const char *expected = rows[row].result;
    snprintf(name, sizeof name, "%s: %s%s", kind->field, rows[row].name, go ? ", Go" : "");
    if (go && kind->map && rows[row].go_map != NULL)
        expected = rows[row].go_map;
    /* Maps keep the removal beside what is set in the same reply; elsewhere the set is enough. */
    if (expected[0] == '?') {
        snprintf(result, sizeof result, "%s+%c", kind->map ? "-" : "", expected[1]);
        expected = result;
    }
    struct merge_case one = {.name = name, .go = go};
    one.container = list(kind, rows[row].container, true, texts[0]);
    for (size_t i = 0; i < 3 && rows[row].replies[i] != NULL; i++)
        one.replies[i] = list(kind, rows[row].replies[i], false, texts[1 + i]);
    if (expected[0] == '!') {
        snprintf(texts[4], TEXT_SIZE, "plugins \"%s\" and \"%s\" both tried to set %s %s",
                 plugins[expected[1] - '0'], plugins[expected[2] - '0'], kind->field, kind->key);
        one.error = texts[4];
    } else if (!go) { /* of Go's results tests/interop has the whole */
        one.result = list(kind, expected, false, texts[4]);
        one.visible = list(kind, rows[row].seen, true, texts[5]);
    }
    merge_case_check(&one);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
            check(&kinds[i], row, false);
            check(&kinds[i], row, true);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
