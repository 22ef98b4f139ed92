/* SPDX-License-Identifier: Apache-2.0 */
/* Public bug reports (tests/cases.md) about merging, each with its exact outcome. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "merge_case.h"

#define A(text)         "{\"adjust\":" text "}"
#define L(text)         A("{\"linux\":" text "}")
#define R(text)         L("{\"resources\":" text "}")
#define C(text)         "{\"id\":\"c0\"," text "}"
#define CL(text)        C("\"linux\":" text)
#define U(...)          "{\"update\":[" __VA_ARGS__ "]}"
#define ONE(id, text)   "{\"container_id\":\"" id "\",\"linux\":{\"resources\":" text "}}"
#define MOUNT(at)       "{\"destination\":\"" at "\"}"
#define FROM(at, where) "{\"destination\":\"" at "\",\"source\":\"" where "\"}"
#define RLIMIT(type, n) "{\"type\":\"" type "\",\"hard\":\"" #n "\",\"soft\":\"" #n "\"}"
#define HUGE(size, n)   "{\"page_size\":\"" size "\",\"limit\":\"" #n "\"}"
#define CONFLICT(what)  "plugins \"20-b\" and \"10-a\" both tried to set " what

static void check(const struct merge_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        merge_case_check(&cases[i]);
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof(cases)[0])

static void test_S01_a_mount_that_is_only_removed(void **state)
{
    static const struct merge_case cases[] = {
        {.name = "what the runtime gets, and the next plugin",
         .container = C("\"mounts\":[" MOUNT("/a") "," MOUNT("/b") "]"),
         .replies = {A("{\"mounts\":[" MOUNT("-/b") "]}")},
         .result = A("{\"mounts\":[" MOUNT("-/b") "]}"),
         .visible = C("\"mounts\":[" MOUNT("/a") "]")},
    };
    (void)state;
    CHECK(cases);
}

static void test_S03_what_the_next_plugin_sees(void **state)
{
    static const struct merge_case cases[] = {
        {.name = "one mount added, one replaced, a device left alone",
         .container =
             C("\"mounts\":[" FROM("/m1", "/old") "," MOUNT("/m2") "],\"linux\":{\"devices\":["
                                                                   "{\"path\":\"/dev/d1\"}]}"),
         .replies = {A(
             "{\"mounts\":[" MOUNT("/m3") "," MOUNT("-/m1") "," FROM("/m1", "/new") "]}")},
         .visible = C("\"mounts\":[" MOUNT("/m2") "," MOUNT("/m3") "," FROM(
             "/m1", "/new") "],\"linux\":{\"devices\":[{\"path\":\"/dev/d1\"}]}")},
    };
    (void)state;
    CHECK(cases);
}

static void test_S06_a_container_that_has_none_of_it(void **state)
{
#define ALL                                                                                        \
    A("{\"annotations\":{\"a\":\"1\"},\"hooks\":{\"prestart\":[{\"path\":\"/h\"}]},"               \
      "\"rlimits\":[" RLIMIT("RLIMIT_CORE",                                                        \
                             1) "],\"linux\":{\"sysctl\":{\"k\":\"v\"},\"resources\":{"            \
                                "\"unified\":{\"u\":\"1\"}},\"net_devices\":{\"eth0\":{\"name\":"  \
                                "\"net1\"}}}}")
    static const struct merge_case cases[] = {
        {.name = "each value is in the result, and seen",
         .replies = {ALL},
         .result = ALL,
         .visible = C("\"annotations\":{\"a\":\"1\"},\"hooks\":{\"prestart\":[{\"path\":\"/h\"}]},"
                      "\"linux\":{\"resources\":{\"unified\":{\"u\":\"1\"}},\"sysctl\":{\"k\":"
                      "\"v\"},\"net_devices\":{\"eth0\":{\"name\":\"net1\"}}},\"rlimits\":[" RLIMIT(
                          "RLIMIT_CORE", 1) "]")},
    };
    (void)state;
    CHECK(cases);
#undef ALL
}

static void test_S08_nothing_is_no_tree_of_empty_messages(void **state)
{
    static const struct merge_case cases[] = {
        {.name = "no plugin", .result = "{}"},
        {.name = "two empty responses", .replies = {"{}", "{}"}, .result = "{}"},
        {.name = "an empty linux part", .replies = {L("{}")}, .result = "{}"},
    };
    (void)state;
    CHECK(cases);
}

static void test_S10_hooks_accumulate(void **state)
{
    static const struct merge_case cases[] = {
        {.name = "in order, with both as owners",
         .replies = {A("{\"hooks\":{\"prestart\":[{\"path\":\"/a\"}]}}"),
                     A("{\"hooks\":{\"prestart\":[{\"path\":\"/b\"}]}}")},
         .result = A("{\"hooks\":{\"prestart\":[{\"path\":\"/a\"},{\"path\":\"/b\"}]}}"),
         .owners = "{\"owners\":{\"c0\":{\"simple\":{\"3\":\"10-a,20-b\"}}}}"},
    };
    (void)state;
    CHECK(cases);
}

static void test_S13_rules_of_the_device_cgroup(void **state)
{
#define DENY  "{\"type\":\"a\"}"
#define FIRST "{\"allow\":true,\"type\":\"c\",\"major\":\"195\",\"access\":\"rwm\"}"
#define NEXT  "{\"allow\":true,\"type\":\"c\",\"major\":\"1\",\"minor\":\"3\",\"access\":\"r\"}"
#define HAS   CL("{\"resources\":{\"devices\":[" DENY "]}}")
    static const struct merge_case cases[] = {
        {.name = "both plugins' rules, no conflict, what is absent stays absent",
         .container = HAS,
         .replies = {R("{\"devices\":[" FIRST "]}"), R("{\"devices\":[" NEXT "]}")},
         .result = R("{\"devices\":[" FIRST "," NEXT "]}")},
        {.name = "what the second plugin sees",
         .container = HAS,
         .replies = {R("{\"devices\":[" FIRST "]}")},
         .visible = CL("{\"resources\":{\"devices\":[" DENY "," FIRST "]}}")},
    };
    (void)state;
    CHECK(cases);
#undef DENY
#undef FIRST
#undef NEXT
#undef HAS
}

static void test_S18_an_update_of_the_container_that_is_created(void **state)
{
    static const struct merge_case cases[] = {
        {.name = "an error by plugin and container",
         .container = "{\"id\":\"ctr0\"}",
         .replies = {"{\"adjust\":{\"args\":[\"x\"]},\"update\":[" ONE(
             "ctr0", "{\"cpu\":{\"shares\":\"2\"}}") "]}"},
         .error = "plugin \"10-a\" asked update of \"ctr0\" during creation"},
    };
    (void)state;
    CHECK(cases);
}

static void test_S39_namespaces(void **state)
{
#define HAS CL("{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\",\"path\":\"/n1\"}]}")
#define TEN L("{\"namespaces\":[{\"type\":\"-pid\"},{\"type\":\"network\",\"path\":\"/n2\"}]}")
    static const struct merge_case cases[] = {
        {.name = "in order",
         .container = HAS,
         .replies = {TEN, L("{\"namespaces\":[{\"type\":\"cgroup\"}]}")},
         .result = L("{\"namespaces\":[{\"type\":\"-pid\"},{\"type\":\"network\",\"path\":\"/n2\"},"
                     "{\"type\":\"cgroup\"}]}")},
        {.name = "a removal is owned",
         .container = HAS,
         .replies = {TEN, L("{\"namespaces\":[{\"type\":\"pid\",\"path\":\"/p\"}]}")},
         .error = CONFLICT("Namespace pid")},
    };
    (void)state;
    CHECK(cases);
#undef HAS
#undef TEN
}

static void test_S43_arguments(void **state)
{
    static const struct merge_case cases[] = {
        {.name = "set by two",
         .replies = {A("{\"args\":[\"sh\"]}"), A("{\"args\":[\"sleep\",\"1\"]}")},
         .error = CONFLICT("Args ")},
        {.name = "taken over, as the third plugin sees",
         .replies = {A("{\"args\":[\"sh\"]}"), A("{\"args\":[\"\",\"sleep\",\"1\"]}")},
         .result = A("{\"args\":[\"sleep\",\"1\"]}"),
         .visible = C("\"args\":[\"sleep\",\"1\"]")},
    };
    (void)state;
    CHECK(cases);
}

static void test_S46_limits_of_huge_pages_are_owned_by_size(void **state)
{
#define HAS CL("{\"resources\":{\"hugepage_limits\":[" HUGE("2MB", 10) "]}}")
#define TEN R("{\"hugepage_limits\":[" HUGE("2MB", 20) "]}")
    static const struct merge_case cases[] = {
        {.name = "each size once",
         .container = HAS,
         .replies = {TEN, R("{\"hugepage_limits\":[" HUGE("1GB", 1) "]}")},
         .result = R("{\"hugepage_limits\":[" HUGE("2MB", 20) "," HUGE("1GB", 1) "]}"),
         .visible =
             CL("{\"resources\":{\"hugepage_limits\":[" HUGE("2MB", 20) "," HUGE("1GB", 1) "]}}")},
        {.name = "the same size by two",
         .container = HAS,
         .replies = {TEN, R("{\"hugepage_limits\":[" HUGE("2MB", 30) "]}")},
         .error = CONFLICT("HugepageLimits 2MB")},
    };
    (void)state;
    CHECK(cases);
#undef HAS
#undef TEN
}

static void test_S52_evictions(void **state)
{
#define EVICTED                                                                                    \
    "{\"evict\":[{\"container_id\":\"c1\",\"reason\":\"mem\"},"                                    \
    "{\"container_id\":\"c2\",\"reason\":\"b\"}]}"
    static const char *const replies[] = {
        "{\"evict\":[{\"container_id\":\"c1\",\"reason\":\"mem\"}]}",
        "{\"evict\":[{\"container_id\":\"c1\",\"reason\":\"other\"},"
        "{\"container_id\":\"c2\",\"reason\":\"b\"}]}"};
    static const enum nri_event events[] = {NRI_EVENT_CREATE_CONTAINER, NRI_EVENT_UPDATE_CONTAINER};
    (void)state;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        const struct merge_case one = {.name = nri_event_name(events[i]),
                                       .event = events[i],
                                       .replies = {replies[0], replies[1]},
                                       .result = EVICTED};
        merge_case_check(&one);
    }
#undef EVICTED
}

static void test_S53_limits_are_owned_by_type(void **state)
{
#define HAS C("\"rlimits\":[" RLIMIT("RLIMIT_NOFILE", 1024) "]")
#define TEN A("{\"rlimits\":[" RLIMIT("RLIMIT_NOFILE", 65536) "]}")
    static const struct merge_case cases[] = {
        {.name = "each type once",
         .container = HAS,
         .replies = {TEN, A("{\"rlimits\":[" RLIMIT("RLIMIT_CORE", 1) "]}")},
         .result =
             A("{\"rlimits\":[" RLIMIT("RLIMIT_NOFILE", 65536) "," RLIMIT("RLIMIT_CORE", 1) "]}"),
         .visible =
             C("\"rlimits\":[" RLIMIT("RLIMIT_NOFILE", 65536) "," RLIMIT("RLIMIT_CORE", 1) "]")},
        {.name = "the same type by two",
         .container = HAS,
         .replies = {TEN, A("{\"rlimits\":[" RLIMIT("RLIMIT_NOFILE", 7) "]}")},
         .error = CONFLICT("Rlimits RLIMIT_NOFILE")},
    };
    (void)state;
    CHECK(cases);
#undef HAS
#undef TEN
}

#define RUNS 100

/* What the third plugin sees is what is applied: annotations are merged the same way there. */
static void test_S54_the_order_in_a_map_does_not_count(void **state)
{
    static const char *const replaced[] = {A("{\"annotations\":{\"-k\":\"\",\"k\":\"2\"}}"),
                                           A("{\"annotations\":{\"k\":\"2\",\"-k\":\"\"}}")};
    (void)state;
    for (uint64_t i = 0; i < RUNS; i++) {
        const struct merge_case removed = {
            .name = "removed",
            .replies = {A("{\"annotations\":{\"k\":\"1\"}}"), A("{\"annotations\":{\"-k\":\"\"}}")},
            .result = A("{\"annotations\":{\"-k\":\"\"}}"),
            .visible = "{\"id\":\"c0\"}",
            .seed = i + 1};
        merge_case_check(&removed);
        const struct merge_case set = {.name = "replaced",
                                       .replies = {removed.replies[0], replaced[i % 2]},
                                       .result = A("{\"annotations\":{\"-k\":\"\",\"k\":\"2\"}}"),
                                       .visible = C("\"annotations\":{\"k\":\"2\"}"),
                                       .seed = i + 1};
        merge_case_check(&set);
    }
}

static void test_S55_the_requested_container_comes_last(void **state)
{
#define ASKED "{\"memory\":{\"limit\":\"100\"},\"cpu\":{\"shares\":\"10\"}}"
    static const struct merge_case cases[] = {
        {.name = "what the plugin says supersedes what was asked for",
         .event = NRI_EVENT_UPDATE_CONTAINER,
         .resources = ASKED,
         .replies = {U(ONE("c0", "{\"cpu\":{\"shares\":\"20\"}}") "," ONE(
                         "c2", "{\"cpu\":{\"quota\":\"5\"}}")),
                     "{}"},
         .result = U(ONE("c2", "{\"cpu\":{\"quota\":\"5\"}}") "," ONE(
             "c0", "{\"memory\":{\"limit\":\"100\"},\"cpu\":{\"shares\":\"20\"}}"))},
        {.name = "nobody answers: no entry, and none that is nothing",
         .event = NRI_EVENT_UPDATE_CONTAINER,
         .resources = ASKED,
         .replies = {"{}", "{}"},
         .result = "{}",
         .visible = ASKED},
    };
    (void)state;
    CHECK(cases);
#undef ASKED
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_S01_a_mount_that_is_only_removed),
        cmocka_unit_test(test_S03_what_the_next_plugin_sees),
        cmocka_unit_test(test_S06_a_container_that_has_none_of_it),
        cmocka_unit_test(test_S08_nothing_is_no_tree_of_empty_messages),
        cmocka_unit_test(test_S10_hooks_accumulate),
        cmocka_unit_test(test_S13_rules_of_the_device_cgroup),
        cmocka_unit_test(test_S18_an_update_of_the_container_that_is_created),
        cmocka_unit_test(test_S39_namespaces),
        cmocka_unit_test(test_S43_arguments),
        cmocka_unit_test(test_S46_limits_of_huge_pages_are_owned_by_size),
        cmocka_unit_test(test_S52_evictions),
        cmocka_unit_test(test_S53_limits_are_owned_by_type),
        cmocka_unit_test(test_S54_the_order_in_a_map_does_not_count),
        cmocka_unit_test(test_S55_the_requested_container_comes_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
