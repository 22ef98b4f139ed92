/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of the other tests have no row for: arguments, hooks, RDT, namespaces, rules of
 * the device cgroup, replies with nothing in them, and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "merge_case.h"

#define A(text)         "{\"adjust\":" text "}"
#define L(text)         A("{\"linux\":" text "}")
#define R(text)         L("{\"resources\":" text "}")
#define C(text)         "{\"id\":\"c0\"," text "}"
#define HUGE(size, n)   "{\"page_size\":\"" size "\",\"limit\":\"" #n "\"}"
#define RLIMIT(type, n) "{\"type\":\"" type "\",\"hard\":\"" #n "\",\"soft\":\"" #n "\"}"
#define RULE(n)         "{\"allow\":true,\"type\":\"c\",\"major\":\"" #n "\"}"

static const struct merge_case cases[] = {
    {.name = "no reply", .result = "{}", .visible = "{\"id\":\"c0\"}", .owners = "{}"},
    {.name = "replies with nothing in them",
     .replies = {"{}", A("{}"), L("{}"),
                 A("{\"hooks\":{},\"linux\":{\"resources\":"
                   "{\"memory\":{},\"cpu\":{}},\"rdt\":{}}}")},
     .result = "{}",
     .owners = "{}"},
    {.name = "Go's result of nothing",
     .replies = {L("{}")},
     .result = A("{\"hooks\":{},\"linux\":{\"resources\":{\"memory\":{},\"cpu\":{}},\"rdt\":{}}}"),
     .go = true},
    {.name = "arguments are taken over",
     .container = C("\"args\":[\"x\"]"),
     .replies = {A("{\"args\":[\"sh\"]}"), A("{\"args\":[\"\",\"sleep\",\"1\"]}")},
     .result = A("{\"args\":[\"sleep\",\"1\"]}"),
     .visible = C("\"args\":[\"sleep\",\"1\"]"),
     .owners = "{\"owners\":{\"c0\":{\"simple\":{\"7\":\"20-b\"}}}}"},
    {.name = "arguments that are only cleared are the container's own",
     .container = C("\"args\":[\"x\"]"),
     .replies = {A("{\"args\":[\"sh\"]}"), A("{\"args\":[\"\"]}")},
     .result = "{}",
     .visible = C("\"args\":[\"x\"]")},
    {.name = "hooks accumulate",
     .container = C("\"hooks\":{\"prestart\":[{\"path\":\"/0\"}]}"),
     .replies =
         {A("{\"hooks\":{\"prestart\":[{\"path\":\"/a\"}]}}"),
          A("{\"hooks\":{\"prestart\":[{\"path\":\"/b\"}],\"poststop\":[{\"path\":\"/c\"}]}}")},
     .result = A("{\"hooks\":{\"prestart\":[{\"path\":\"/a\"},{\"path\":\"/b\"}],"
                 "\"poststop\":[{\"path\":\"/c\"}]}}"),
     .visible = C("\"hooks\":{\"prestart\":[{\"path\":\"/0\"},{\"path\":\"/a\"},{\"path\":\"/b\"}],"
                  "\"poststop\":[{\"path\":\"/c\"}]}"),
     .owners = "{\"owners\":{\"c0\":{\"simple\":{\"3\":\"10-a,20-b\"}}}}"},
    {.name = "RDT removed and set by another",
     .replies = {L("{\"rdt\":{\"clos_id\":\"a\",\"schemata\":[\"x\"]}}"),
                 L("{\"rdt\":{\"remove\":true}}")},
     .result = L("{\"rdt\":{\"remove\":true}}"),
     .owners =
         "{\"owners\":{\"c0\":{\"simple\":{\"37\":\"-20-b\",\"38\":\"-20-b\",\"39\":\"-20-b\"}}}}"},
    {.name = "RDT replaced in one reply keeps the removal",
     .replies = {L("{\"rdt\":{\"clos_id\":\"a\"}}"),
                 L("{\"rdt\":{\"remove\":true,\"clos_id\":\"b\"}}")},
     .result = L("{\"rdt\":{\"clos_id\":\"b\",\"remove\":true}}")},
    {.name = "RDT removed by one, set by another",
     .replies = {L("{\"rdt\":{\"remove\":true}}"), L("{\"rdt\":{\"clos_id\":\"b\"}}")},
     .error = "plugins \"20-b\" and \"10-a\" both tried to set RdtClosID "},
    {.name = "namespaces, removals first",
     .container = C("\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\",\"path\":"
                    "\"/n1\"},{\"type\":\"ipc\"}]}"),
     .replies =
         {L("{\"namespaces\":[{\"type\":\"network\",\"path\":\"/n2\"},{\"type\":\"-pid\"}]}"),
          L("{\"namespaces\":[{\"type\":\"cgroup\"}]}")},
     .result = L("{\"namespaces\":[{\"type\":\"-pid\"},{\"type\":\"network\",\"path\":\"/n2\"},"
                 "{\"type\":\"cgroup\"}]}"),
     .visible = C("\"linux\":{\"namespaces\":[{\"type\":\"ipc\"},{\"type\":\"network\",\"path\":"
                  "\"/n2\"},{\"type\":\"cgroup\"}]}")},
    {.name = "a removed namespace is owned",
     .replies = {L("{\"namespaces\":[{\"type\":\"-pid\"}]}"),
                 L("{\"namespaces\":[{\"type\":\"pid\",\"path\":\"/p\"}]}")},
     .error = "plugins \"20-b\" and \"10-a\" both tried to set Namespace pid"},
    {.name = "rules of the device cgroup are nobody's",
     .container = C("\"linux\":{\"resources\":{\"devices\":[" RULE(0) "]}}"),
     .replies = {R("{\"devices\":[" RULE(1) "]}"), R("{\"devices\":[" RULE(1) "," RULE(2) "]}")},
     .result = R("{\"devices\":[" RULE(1) "," RULE(1) "," RULE(2) "]}"),
     .visible = C("\"linux\":{\"resources\":{\"devices\":[" RULE(0) "," RULE(1) "," RULE(
         1) "," RULE(2) "]}}"),
     .owners = "{}"},
    {.name = "huge pages are seen once a size",
     .container = C("\"linux\":{\"resources\":{\"hugepage_limits\":[" HUGE("2MB", 10) "]}}"),
     .replies = {R("{\"hugepage_limits\":[" HUGE("2MB", 20) "]}"),
                 R("{\"hugepage_limits\":[" HUGE("1GB", 1) "]}")},
     .visible = C("\"linux\":{\"resources\":{\"hugepage_limits\":[" HUGE("2MB", 20) "," HUGE(
         "1GB", 1) "]}}")},
    {.name = "Go shows huge pages twice",
     .container = C("\"linux\":{\"resources\":{\"hugepage_limits\":[" HUGE("2MB", 10) "]}}"),
     .replies = {R("{\"hugepage_limits\":[" HUGE("2MB", 20) "]}")},
     .visible = C("\"hooks\":{},\"linux\":{\"resources\":{\"memory\":{},\"cpu\":{},"
                  "\"hugepage_limits\":[" HUGE("2MB", 10) "," HUGE("2MB", 20) "]}}"),
     .go = true},
    {.name = "limits are seen once a type",
     .container = C("\"rlimits\":[" RLIMIT("RLIMIT_NOFILE", 1) "," RLIMIT("RLIMIT_CPU", 1) "]"),
     .replies = {A("{\"rlimits\":[" RLIMIT("RLIMIT_NOFILE", 2) "]}")},
     .visible = C("\"rlimits\":[" RLIMIT("RLIMIT_CPU", 1) "," RLIMIT("RLIMIT_NOFILE", 2) "]")},
    {.name = "a container without a linux part",
     .replies = {L("{\"sysctl\":{\"k\":\"v\"},\"resources\":{\"unified\":{\"a\":\"1\"},"
                   "\"cpu\":{\"cpus\":\"1\"}}}")},
     .visible = C("\"linux\":{\"sysctl\":{\"k\":\"v\"},\"resources\":{\"unified\":{\"a\":\"1\"},"
                  "\"cpu\":{\"cpus\":\"1\"}}}")},
    {.name = "a key twice in one reply, the last wins",
     .replies = {A("{\"env\":[{\"key\":\"K\",\"value\":\"1\"},{\"key\":\"K\",\"value\":\"2\"}]}")},
     .result = A("{\"env\":[{\"key\":\"K\",\"value\":\"2\"}]}"),
     .visible = C("\"env\":[\"K=2\"]"),
     .field = NRI_FIELD_ENV,
     .policy = NRI_MERGE_LAST_WINS},
    {.name = "a device twice in one reply, once",
     .replies = {L(
         "{\"devices\":[{\"path\":\"/d\",\"major\":\"1\"},{\"path\":\"/d\",\"major\":\"1\"}]}")},
     .result = L("{\"devices\":[{\"path\":\"/d\",\"major\":\"1\"}]}"),
     .visible = C("\"linux\":{\"devices\":[{\"path\":\"/d\",\"major\":\"1\"}]}"),
     .field = NRI_FIELD_DEVICES,
     .policy = NRI_MERGE_DEDUP},
};
#define CASES (sizeof cases / sizeof cases[0])

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        merge_case_check(&cases[i]);
}

/* Every allocation fails once: a code says so, and the run without it comes to the same again. */
static void test_allocations(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        if (cases[i].error != NULL)
            continue;
        char *first = NULL, *text = NULL;
        int code = merge_case_run(&cases[i], SIZE_MAX, 0, &first, NULL);
        assert_int_equal(code, 0);
        size_t n = 1;
        while ((code = merge_case_run(&cases[i], SIZE_MAX, n, &text, NULL)) != 0) {
            assert_int_equal(code, NRI_E_NOMEM);
            assert_true(++n < 1000);
        }
        assert_true(n > 1);
        assert_string_equal(text, first); /* 100 times the same, too */
        free(text);
        for (int again = 0; again < 100; again++) {
            assert_int_equal(merge_case_run(&cases[i], SIZE_MAX, 0, &text, NULL), 0);
            assert_string_equal(text, first);
            free(text);
        }
        free(first);
    }
}

/* The limit of the arena is the limit of all that a merge takes. */
static void test_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        size_t needed = 0;
        if (cases[i].error != NULL)
            continue;
        assert_int_equal(merge_case_run(&cases[i], SIZE_MAX, 0, NULL, &needed), 0);
        for (size_t limit = 64; limit < needed; limit += 16) {
            size_t used = 0;
            int code = merge_case_run(&cases[i], limit, 0, NULL, &used);
            if (code != NRI_E_LIMIT && code != 0)
                fail_msg("%s: code %d with %zu of %zu bytes", cases[i].name, code, limit, needed);
            assert_true(used <= limit);
        }
    }
}

#define MANY      3000

#define MANY_ROOM ((size_t)MANY * 64)

/* Writes behind what is there. */
static void put(char **at, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(char **at, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(*at, 128, format, arguments);
    va_end(arguments);
    assert_in_range(length, 1, 127);
    *at += length;
}

/* Keys by the thousand: a list is long enough for its hash. */
static void test_many(void **state)
{
    char *texts[4], *at[4];
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        texts[i] = at[i] = malloc(MANY_ROOM);
        assert_non_null(texts[i]);
        put(&at[i], "{\"adjust\":{\"env\":[");
    }
    for (int pass = 0; pass < 2; pass++) { /* what the second plugin removes comes first */
        for (int i = 0; i < MANY; i++) {
            const char *sign = i % 2 == 0 ? "-" : "";
            const char *comma = i == MANY - 1 ? "" : ",";
            if (pass == 0)
                put(&at[0], "{\"key\":\"K%d\",\"value\":\"v\"}%s", i, comma);
            if (pass == 0 && i % 2 == 0)
                put(&at[1], "{\"key\":\"-K%d\"}%s", i, i == MANY - 2 ? "" : ",");
            if ((pass == 0) == (i % 2 == 0))
                put(&at[2], "{\"key\":\"%sK%d\",\"value\":\"%s\"}%s", sign, i, pass == 0 ? "" : "v",
                    comma);
        }
    }
    put(&at[3], "{\"key\":\"K%d\"}", MANY - 1);
    for (size_t i = 0; i < 4; i++)
        memcpy(at[i], "]}}", sizeof "]}}");
    struct merge_case one = {.name = "many", .replies = {texts[0], texts[1]}, .result = texts[2]};
    merge_case_check(&one);
    one = (struct merge_case){.name = "many, conflict",
                              .replies = {texts[0], texts[1], texts[3]},
                              .error = "plugins \"30-c\" and \"10-a\" both tried to set Env K2999"};
    merge_case_check(&one);
    for (size_t i = 0; i < 4; i++)
        free(texts[i]);
}

/* What the audit is told. */
static void test_changes(void **state)
{
    static const struct merge_case told[] = {
        {.name = "set, removed, dropped",
         .replies = {A("{\"env\":[{\"key\":\"K\"}],\"args\":[\"a\"]}"),
                     A("{\"env\":[{\"key\":\"-K\"},{\"key\":\"L\"}],\"args\":[\"\",\"b\"],"
                       "\"annotations\":{\"-x\":\"\"},\"hooks\":{\"poststop\":[{\"path\":\"/h\"}]},"
                       "\"linux\":{\"namespaces\":[{\"type\":\"-pid\"}]}}")},
         .changes = "removed c0 Annotations x;removed c0 Env K;dropped c0 Env K from 10-a;"
                    "set c0 Env L;removed c0 Args;dropped c0 Args from 10-a;set c0 Args;"
                    "set c0 OciHooks;removed c0 Namespace pid;"},
        {.name = "replaced",
         .replies = {A("{\"env\":[{\"key\":\"K\"}]}"), A("{\"env\":[{\"key\":\"K\"}]}")},
         .changes = "replaced c0 Env K from 10-a;",
         .field = NRI_FIELD_ENV,
         .policy = NRI_MERGE_LAST_WINS},
        {.name = "kept, of a reply with an update",
         .replies = {A("{\"env\":[{\"key\":\"K\"}]}"),
                     "{\"adjust\":{\"env\":[{\"key\":\"K\"}]},\"update\":[{\"container_id\":\"c1\","
                     "\"linux\":{\"resources\":{\"cpu\":{\"shares\":\"1\"}}}}]}"},
         .changes = "kept c0 Env K from 10-a;set c1 CPUShares;",
         .field = NRI_FIELD_ENV,
         .policy = NRI_MERGE_DEDUP},
        {.name = "nothing", .replies = {A("{\"env\":[{\"key\":\"K\"}]}"), "{}"}, .changes = ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        merge_case_check(&told[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),   cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_limit),   cmocka_unit_test(test_many),
        cmocka_unit_test(test_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
