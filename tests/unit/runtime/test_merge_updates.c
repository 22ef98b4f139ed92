/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of containers, in replies to all three events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "merge_case.h"

#define U(...)        "{\"update\":[" __VA_ARGS__ "]}"
#define ONE(id, text) "{\"container_id\":\"" id "\",\"linux\":{\"resources\":" text "}}"
#define MAY(id, text)                                                                              \
    "{\"container_id\":\"" id "\",\"ignore_failure\":true,\"linux\":{\"resources\":" text "}}"
#define SHARES(n)            "{\"cpu\":{\"shares\":\"" #n "\"}}"
#define CONFLICT(p, q, what) "plugins \"" p "\" and \"" q "\" both tried to set " what

static const struct merge_case cases[] = {
    {.name = "of another container during creation",
     .replies = {U(ONE("c1", SHARES(1)))},
     .result = U(ONE("c1", SHARES(1))),
     .owners = "{\"owners\":{\"c1\":{\"simple\":{\"16\":\"10-a\"}}}}"},
    {.name = "of the container that is created",
     .replies = {U(MAY("c0", SHARES(1)))},
     .error = "plugin \"10-a\" asked update of \"c0\" during creation"},
    {.name = "by two of the same",
     .replies = {U(ONE("c1", SHARES(1))), U(ONE("c1", SHARES(2)))},
     .error = CONFLICT("20-b", "10-a", "CPUShares ")},
    {.name = "by two of the same, ignored: all of the second is lost",
     .replies = {U(ONE("c1", SHARES(1))),
                 U(MAY("c1", "{\"memory\":{\"limit\":\"5\"},\"cpu\":{\"shares\":\"2\"}}"))},
     .result = U(ONE("c1", SHARES(1)))},
    {.name = "what an ignored update claimed before its conflict stays claimed",
     .replies = {U(ONE("c1", SHARES(1))),
                 U(MAY("c1", "{\"memory\":{\"limit\":\"5\"},\"cpu\":{\"shares\":\"2\"}}")),
                 U(ONE("c1", "{\"memory\":{\"limit\":\"6\"}}"))},
     .error = CONFLICT("30-c", "20-b", "MemLimit ")},
    {.name = "may fail only when all said so",
     .replies = {U(MAY("c1", SHARES(1))), U(MAY("c1", "{\"cpu\":{\"quota\":\"1\"}}")),
                 U(MAY("c2", SHARES(1))), U(ONE("c2", "{\"cpu\":{\"quota\":\"1\"}}"))},
     .result = U(MAY("c1", "{\"cpu\":{\"shares\":\"1\",\"quota\":\"1\"}}") "," ONE(
         "c2", "{\"cpu\":{\"shares\":\"1\",\"quota\":\"1\"}}"))},
    {.name = "the same key twice in one",
     .replies = {U(ONE("c1", "{\"hugepage_limits\":[{\"page_size\":\"2MB\"},"
                             "{\"page_size\":\"2MB\"}]}"))},
     .error = CONFLICT("10-a", "10-a", "HugepageLimits 2MB")},
    {.name = "without resources",
     .replies = {"{\"update\":[{\"container_id\":\"c1\"}]}"},
     .result = "{\"update\":[{\"container_id\":\"c1\"}]}"},
    {.name = "the requested one is last, upon what was asked for",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .resources = "{\"memory\":{\"limit\":\"100\"},\"cpu\":{\"shares\":\"10\"}}",
     .replies = {U(ONE("c0", SHARES(20)) "," ONE("c2", "{\"cpu\":{\"quota\":\"5\"}}")), "{}"},
     .result = U(ONE("c2", "{\"cpu\":{\"quota\":\"5\"}}") "," ONE(
         "c0", "{\"memory\":{\"limit\":\"100\"},\"cpu\":{\"shares\":\"20\"}}")),
     .visible = "{\"memory\":{\"limit\":\"100\"},\"cpu\":{\"shares\":\"20\"}}"},
    {.name = "nobody answers",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .resources = SHARES(10),
     .replies = {"{}", "{}"},
     .result = "{}",
     .visible = SHARES(10)},
    {.name = "without resources what was asked for stays",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .resources = SHARES(10),
     .replies = {"{\"update\":[{\"container_id\":\"c0\"}]}"},
     .result = U(ONE("c0", SHARES(10)))},
    {.name = "Go's result: without resources what was asked for is lost",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .resources = SHARES(10),
     .replies = {"{\"update\":[{\"container_id\":\"c0\"}]}"},
     .result = U(ONE("c0", "{\"memory\":{},\"cpu\":{}}")),
     .go = true},
    {.name = "the limit of processes is the plugin's",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .resources = "{\"pids\":{\"limit\":\"7\"}}",
     .replies = {U(ONE("c0", "{\"pids\":{\"limit\":\"8\"}}")), U(ONE("c0", SHARES(1)))},
     .result = U(ONE("c0", "{\"cpu\":{\"shares\":\"1\"},\"pids\":{\"limit\":\"8\"}}"))},
    {.name = "Go's result: the limit of processes is nobody's, and two conflict on it",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .resources = "{\"pids\":{\"limit\":\"7\"}}",
     .replies = {U(ONE("c0", SHARES(1))), U(ONE("c0", "{\"cpu\":{\"quota\":\"1\"}}"))},
     .error = CONFLICT("20-b", "10-a", "PidsLimit "),
     .go = true},
    {.name = "Go's result: a plugin's limit of processes is dropped",
     .replies = {U(ONE("c1", "{\"pids\":{\"limit\":\"8\"}}"))},
     .result = "{\"adjust\":{\"hooks\":{},\"linux\":{\"resources\":{\"memory\":{},\"cpu\":{}}}},"
               "\"update\":[" ONE("c1", "{\"memory\":{},\"cpu\":{}}") "]}",
     .go = true},
    {.name = "huge pages, once a size",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .resources = "{\"hugepage_limits\":[{\"page_size\":\"2MB\",\"limit\":\"1\"},"
                  "{\"page_size\":\"1GB\",\"limit\":\"1\"}],\"unified\":{\"a\":\"1\"}}",
     .replies = {U(ONE("c0", "{\"hugepage_limits\":[{\"page_size\":\"2MB\",\"limit\":\"2\"}],"
                             "\"unified\":{\"a\":\"2\",\"b\":\"3\"}}"))},
     .result = U(ONE("c0", "{\"hugepage_limits\":[{\"page_size\":\"1GB\",\"limit\":\"1\"},"
                           "{\"page_size\":\"2MB\",\"limit\":\"2\"}],"
                           "\"unified\":{\"a\":\"2\",\"b\":\"3\"}}"))},
    {.name = "of a container that stops, its own too",
     .event = NRI_EVENT_STOP_CONTAINER,
     .replies = {U(ONE("c0", SHARES(1)) "," ONE("c1", SHARES(2)))},
     .result = U(ONE("c0", SHARES(1)) "," ONE("c1", SHARES(2)))},
    {.name = "the last wins",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .replies = {U(ONE("c0", "{\"unified\":{\"a\":\"1\"}}")),
                 U(ONE("c0", "{\"unified\":{\"a\":\"2\"}}"))},
     .result = U(ONE("c0", "{\"unified\":{\"a\":\"2\"}}")),
     .field = NRI_FIELD_CGROUPS_UNIFIED,
     .policy = NRI_MERGE_LAST_WINS},
    {.name = "the same twice",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .replies = {U(ONE("c0", SHARES(1))), U(ONE("c0", SHARES(1)))},
     .result = U(ONE("c0", SHARES(1))),
     .field = NRI_FIELD_CPU_SHARES,
     .policy = NRI_MERGE_DEDUP},
    {.name = "each container is evicted once, with the first reason",
     .replies =
         {"{\"evict\":[{\"container_id\":\"c1\",\"reason\":\"mem\"}]}",
          "{\"evict\":[{\"container_id\":\"c1\",\"reason\":\"x\"},{\"container_id\":\"c2\"}]}"},
     .result = "{\"evict\":[{\"container_id\":\"c1\",\"reason\":\"mem\"},"
               "{\"container_id\":\"c2\"}]}"},
    {.name = "evictions from an update",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .replies = {"{\"evict\":[{\"container_id\":\"c1\",\"reason\":\"mem\"}]}"},
     .result = "{\"evict\":[{\"container_id\":\"c1\",\"reason\":\"mem\"}]}"},
    {.name = "Go's result: no eviction",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .replies = {"{\"evict\":[{\"container_id\":\"c1\",\"reason\":\"mem\"}]}"},
     .result = "{}",
     .go = true},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        merge_case_check(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
