/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/host.h"
#include "base/log.h"
#include "base/text.h"

static struct sink {
    size_t count;
    enum nri_log_level level;
    char text[2048], event[64], pod[64], container[64], plugin[64];
    uint64_t suppressed;
} sink;

static void take(void *user, const nri_log_record *record)
{
    struct sink *s = user;
    s->count++;
    s->level = nri_log_record_level(record);
    snprintf(s->text, sizeof s->text, "%s", nri_log_record_text(record));
    snprintf(s->event, sizeof s->event, "%s", nri_log_record_event(record));
    snprintf(s->pod, sizeof s->pod, "%s", nri_log_record_pod(record));
    snprintf(s->container, sizeof s->container, "%s", nri_log_record_container(record));
    snprintf(s->plugin, sizeof s->plugin, "%s", nri_log_record_plugin(record));
    s->suppressed = nri_log_record_suppressed(record);
}

static void start(struct nri_log *log, int level)
{
    memset(&sink, 0, sizeof sink);
    nri_log_init(log, take, &sink, level);
}

static void test_record(void **state)
{
    (void)state;
    struct nri_log log;
    start(&log, 0);
    log.plugin = "10-test";
    struct nri_log_about about = {"CreateContainer", "p1", "c1", NULL};
    nri_log_write(&log, 0, NRI_LOG_WARN, &about, "took %d\nms", 7);
    assert_int_equal(sink.count, 1);
    assert_int_equal(sink.level, NRI_LOG_WARN);
    assert_string_equal(sink.text, "took 7 ms");
    assert_string_equal(sink.event, "CreateContainer");
    assert_string_equal(sink.pod, "p1");
    assert_string_equal(sink.container, "c1");
    assert_string_equal(sink.plugin, "10-test");
    about.plugin = "20-other";
    nri_log_write(&log, 0, NRI_LOG_WARN, &about, "z");
    assert_string_equal(sink.plugin, "20-other");
    log.plugin = NULL;
    about = (struct nri_log_about){0};
    nri_log_write(&log, 0, NRI_LOG_ERROR, &about, "x");
    assert_string_equal(sink.event, "");
    assert_string_equal(sink.plugin, "");
    nri_log_write(&log, 0, NRI_LOG_ERROR, NULL, "y");
    assert_string_equal(sink.pod, "");
    assert_int_equal(sink.count, 4);
}

static void test_levels(void **state)
{
    (void)state;
    static const struct {
        int given, kept;
    } levels[] = {{0, NRI_LOG_INFO},  {-5, NRI_LOG_INFO}, {1, 1}, {2, 2}, {3, 3}, {4, 4},
                  {99, NRI_LOG_DEBUG}};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        struct nri_log log;
        start(&log, levels[i].given);
        for (int level = NRI_LOG_ERROR; level <= NRI_LOG_DEBUG; level++) {
            assert_int_equal(nri_log_wants(&log, (enum nri_log_level)level),
                             level <= levels[i].kept);
            nri_log_write(&log, 0, (enum nri_log_level)level, NULL, "x");
        }
        assert_int_equal(sink.count, levels[i].kept);
        nri_log_init(&log, NULL, NULL, levels[i].given);
        assert_false(nri_log_wants(&log, NRI_LOG_ERROR));
        nri_log_write(&log, 0, NRI_LOG_ERROR, NULL, "x");
        assert_int_equal(sink.count, levels[i].kept);
    }
    assert_string_equal(nri_log_level_name(NRI_LOG_ERROR), "error");
    assert_string_equal(nri_log_level_name(NRI_LOG_WARN), "warn");
    assert_string_equal(nri_log_level_name(NRI_LOG_INFO), "info");
    assert_string_equal(nri_log_level_name(NRI_LOG_DEFAULT), "info");
    assert_string_equal(nri_log_level_name(NRI_LOG_DEBUG), "debug");
    assert_string_equal(nri_log_level_name((enum nri_log_level)99), "?");
    assert_string_equal(nri_log_level_name((enum nri_log_level) - 1), "?");
}

static size_t burst(struct nri_log *log, uint64_t now, enum nri_log_level level, int count)
{
    size_t before = sink.count;
    for (int i = 0; i < count; i++)
        nri_log_write(log, now, level, NULL, "x");
    return sink.count - before;
}

static void test_rate_limit(void **state)
{
    (void)state;
    struct nri_log log;
    start(&log, NRI_LOG_DEBUG);
    uint64_t now = 5 * NRI_SEC;
    assert_int_equal(burst(&log, now, NRI_LOG_WARN, 1000), NRI_LOG_BURST);
    assert_int_equal(burst(&log, now, NRI_LOG_ERROR, 10), 10); /* each level has its own */
    assert_int_equal(burst(&log, now, NRI_LOG_DEBUG, 1000), 1000);
    now += NRI_SEC / NRI_LOG_PER_SECOND;
    assert_int_equal(burst(&log, now - 1, NRI_LOG_WARN, 1), 0);
    assert_int_equal(burst(&log, now, NRI_LOG_WARN, 5), 1);
    assert_int_equal(sink.suppressed, 1000 - NRI_LOG_BURST + 1);
    now += NRI_SEC;
    assert_int_equal(burst(&log, now, NRI_LOG_WARN, 100), NRI_LOG_PER_SECOND);
    assert_int_equal(sink.suppressed, 0);
    now += 3600 * NRI_SEC;
    nri_log_write(&log, now, NRI_LOG_WARN, NULL, "x");
    assert_int_equal(sink.suppressed, 100 - NRI_LOG_PER_SECOND);
    assert_int_equal(burst(&log, now, NRI_LOG_WARN, 1000), NRI_LOG_BURST - 1);
}

/* The clock of a test may start at 0, and a clock that steps back must not silence the log for
 * ever. */
static void test_rate_limit_from_zero(void **state)
{
    (void)state;
    struct nri_log log;
    start(&log, 0);
    assert_int_equal(burst(&log, 0, NRI_LOG_INFO, 100), NRI_LOG_BURST);
    assert_int_equal(burst(&log, 10 * NRI_SEC, NRI_LOG_INFO, 100), NRI_LOG_BURST);
    assert_int_equal(burst(&log, 9 * NRI_SEC, NRI_LOG_INFO, 1), 0);
    assert_int_equal(burst(&log, 11 * NRI_SEC, NRI_LOG_INFO, 100), NRI_LOG_PER_SECOND);
}

static void test_long_text_is_cut(void **state)
{
    (void)state;
    struct nri_log log;
    static char text[3000];
    start(&log, 0);
    for (size_t at = 0; at + 3 < sizeof text; at += 3)
        memcpy(text + at, "\xE2\x82\xAC", 4);
    for (size_t shift = 0; shift < 3; shift++) {
        nri_log_write(&log, 0, NRI_LOG_INFO, NULL, "%.*s%s", (int)shift, "xyz", text);
        assert_in_range(strlen(sink.text), 1021, 1023);
        assert_true(nri_utf8_valid(sink.text, strlen(sink.text), NULL));
        assert_null(strchr(sink.text, '?'));
    }
}

static void count_record(void *user, const nri_log_record *record)
{
    atomic_size_t *totals = user;
    atomic_fetch_add(&totals[0], 1);
    atomic_fetch_add(&totals[1], nri_log_record_suppressed(record));
}

static void *log_many(void *argument)
{
    for (int i = 0; i < 1000; i++)
        nri_log_write(argument, 0, NRI_LOG_INFO, NULL, "x");
    return NULL;
}

static void test_many_threads_share_one_burst(void **state)
{
    (void)state;
    struct nri_log log;
    atomic_size_t totals[2];
    atomic_init(&totals[0], 0);
    atomic_init(&totals[1], 0);
    nri_log_init(&log, count_record, totals, 0);
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, &log), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(totals[0], NRI_LOG_BURST);
    nri_log_write(&log, NRI_SEC, NRI_LOG_INFO, NULL, "x");
    assert_int_equal(totals[0] + totals[1], 4 * 1000 + 1); /* each was handed out or counted */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_rate_limit),
        cmocka_unit_test(test_rate_limit_from_zero),
        cmocka_unit_test(test_long_text_is_cut),
        cmocka_unit_test(test_many_threads_share_one_burst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
