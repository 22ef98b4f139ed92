/* SPDX-License-Identifier: Apache-2.0 */
/* Load: how many lives there are, what is counted, how it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "histogram.h"
#include "load.h"
#include "rig.h"

/* ---- percentiles ---- */

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void test_percentiles(void **state)
{
    enum { COUNT = 20000 };
    static struct histogram histogram;
    static uint64_t values[COUNT];
    uint64_t random = 1, sum = 0;
    (void)state;
    assert_int_equal(histogram_at(&histogram, 500), 0);
    for (int i = 0; i < COUNT; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        values[i] = random >> (random >> 58); /* of all sizes */
        sum += values[i];
        histogram_add(&histogram, values[i]);
    }
    qsort(values, COUNT, sizeof *values, compare);
    assert_int_equal(histogram.count, COUNT);
    assert_int_equal(histogram.sum, sum);
    assert_int_equal(histogram.largest, values[COUNT - 1]);
    assert_int_equal(histogram_at(&histogram, 1000), values[COUNT - 1]);
    for (unsigned per_mille = 1; per_mille <= 1000; per_mille++) {
        const uint64_t exact = values[COUNT / 1000 * per_mille - 1];
        const uint64_t told = histogram_at(&histogram, per_mille);
        assert_true(told >= exact);
        assert_true(told - exact <= exact / HISTOGRAM_PARTS);
    }
}

/* ---- lives ---- */

struct run {
    struct nrictl ctl;
    struct load *load;
    int done;
    char *text, *messages;
    size_t text_size, messages_size;
};

static void on_done(struct load *load, void *user)
{
    struct run *run = user;
    assert_ptr_equal(load, run->load);
    run->done++;
}

static void begin(struct rig *rig, struct run *run, const struct load_options *options)
{
    run->ctl.command = "sim";
    run->ctl.out = open_memstream(&run->text, &run->text_size);
    run->ctl.err = open_memstream(&run->messages, &run->messages_size);
    run->load = load_start(&run->ctl, rig->node, options, on_done, run);
    assert_non_null(run->load);
    rig->load = run->load;
}

static void end(struct rig *rig, struct run *run)
{
    rig_wait(rig, run->done > 0);
    assert_int_equal(run->done, 1);
    assert_int_equal(load_print(&run->ctl, run->load), NRICTL_OK);
    (void)fclose(run->ctl.out);
    (void)fclose(run->ctl.err);
    rig->load = NULL;
}

static void drop(struct run *run)
{
    load_free(run->load);
    free(run->text);
    free(run->messages);
}

static void expect(const struct run *run, const char *part)
{
    if (strstr(run->text, part) == NULL)
        fail_msg("\"%s\" is not in %s", part, run->text);
}

static void test_so_many_lives(void **state)
{
    struct rig *rig = *state;
    struct run run = {.ctl = {.json = true}};
    struct guest guest = {.count = 0};
    const struct load_options options = {.pods = 5, .containers = 2};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    begin(rig, &run, &options);
    end(rig, &run);
    expect(&run, "\"pods\": 5,");
    expect(&run, "\"containers\": 10,");
    /* RunPod, and of each container 6 and its stop, StopPod, 2 RemoveContainer, RemovePod. */
    expect(&run, "\"events\": 95,");
    expect(&run, "\"errors\": 0,");
    expect(&run, "\"first_error\": null");
    expect(&run, "\"plugin\": \"10-guest\"");
    assert_int_equal(rig->outcomes, 95);
    assert_int_equal(guest.count, 95);
    assert_int_equal(guest_count(&guest, "CreateContainer"), 10);
    assert_int_equal(load_errors(run.load), 0);
    assert_int_equal(store_pod_count(node_store(rig->node)), 0);
    drop(&run);
    guest_close(&guest, rig);
}

/* At most so many at a time, until it is told to stop. */
static void test_until_it_is_stopped(void **state)
{
    struct rig *rig = *state;
    struct run run = {.done = 0};
    const struct load_options options = {.pods = 3, .duration_ms = LOAD_MOST_DURATION_MS};
    rig_start(rig);
    begin(rig, &run, &options);
    for (int outcomes = rig->outcomes; outcomes < 300; outcomes = rig->outcomes) {
        assert_true(store_pod_count(node_store(rig->node)) <= 3);
        rig_wait(rig, rig->outcomes > outcomes);
    }
    assert_int_equal(run.done, 0);
    load_stop(run.load);
    end(rig, &run);
    expect(&run, " 0 errors\n");
    expect(&run, "CreateContainer");
    assert_int_equal(store_pod_count(node_store(rig->node)), 0);
    drop(&run);
}

static void test_for_some_time(void **state)
{
    struct rig *rig = *state;
    struct run run = {.done = 0};
    const struct load_options options = {.pods = 1, .rate = 1000, .duration_ms = 200};
    rig_start(rig);
    begin(rig, &run, &options);
    end(rig, &run);
    expect(&run, " 0 errors\n");
    assert_string_equal(run.messages, ""); /* no terminal, no progress */
    drop(&run);
}

static void test_progress(void **state)
{
    struct rig *rig = *state;
    struct run run = {.ctl = {.progress = true}};
    const struct load_options options = {.pods = 1, .duration_ms = LOAD_MOST_DURATION_MS};
    rig_start(rig);
    begin(rig, &run, &options);
    rig_wait(rig, run.messages_size > 0);
    load_stop(run.load);
    end(rig, &run);
    assert_non_null(strstr(run.messages, " pod sandboxes, "));
    assert_string_equal(run.messages + strlen(run.messages) - 4, "\r\033[K"); /* it is gone */
    drop(&run);
}

/* A rate holds lives back: of one a second there is one only in 300 ms. */
static void test_rate(void **state)
{
    struct rig *rig = *state;
    struct run run = {.ctl = {.json = true}};
    const struct load_options options = {.pods = 100, .rate = 1, .duration_ms = 300};
    rig_start(rig);
    begin(rig, &run, &options);
    end(rig, &run);
    expect(&run, "\"pods\": 1,");
    drop(&run);
}

static int refuse(struct guest *guest, nri_request *request)
{
    (void)guest;
    return nri_request_event(request) == NRI_EVENT_CREATE_CONTAINER
               ? nri_request_fail(request, NRI_E_REJECTED, "no room")
               : 0;
}

/* What follows from the refusal is no error of its own. */
static void test_errors(void **state)
{
    struct rig *rig = *state;
    struct run run = {.done = 0};
    struct guest guest = {.act = refuse};
    const struct load_options options = {.pods = 4};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    begin(rig, &run, &options);
    end(rig, &run);
    assert_int_equal(load_errors(run.load), 4);
    expect(&run, "4 pod sandboxes, 0 containers, ");
    expect(&run, "first error: CreateContainer: ");
    expect(&run, "no room");
    drop(&run);
    guest_close(&guest, rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles),
        cmocka_unit_test_setup_teardown(test_so_many_lives, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_until_it_is_stopped, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_for_some_time, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_progress, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_rate, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_errors, rig_setup, rig_teardown),
    };
    return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
