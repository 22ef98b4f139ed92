/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of a runtime's life fails once: from nri_runtime_new() over launched, built-in
 * and attached plugins and an event to the close. Whatever fails, nobody waits for ever, what was
 * told has its end, and nothing is left: no memory, no descriptor, no process.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "node.h"

static char program[PATH_MAX];

static void forget(struct node *node)
{
    node->ready = node->ended = node->closed = node->connected = node->lost = node->called = 0;
    node->posted = node->enumerated = node->line_count = 0;
    node->order[0] = '\0';
    node->runtime = NULL;
}

static void count_post(nri_runtime *runtime, void *user)
{
    struct node *node = user;
    (void)runtime;
    node->posted++;
}

static void attach(struct node *node, struct guest *guest, int fd)
{
    const int before = node->connected;
    int rc = nri_runtime_attach_fd(node->runtime, fd);
    if (rc != 0) {
        assert_int_equal(rc, NRI_E_NOMEM);
        (void)close(fd);
    }
    node_wait_for(node, node->connected > before || guest->ended > 0);
}

/* What the handle copies and gives out. */
static void require_and_look(const struct node *node)
{
    struct nri_failure_policy policy;
    char *text = NULL;

    nri_failure_policy_init(&policy, sizeof policy);
    policy.required = 1;
    int rc = nri_runtime_set_failure_policy(node->runtime, "inside", &policy);
    assert_true(rc == 0 || rc == NRI_E_NOMEM);
    rc = nri_runtime_metrics(node->runtime, &text, NULL);
    assert_true(rc == 0 ? strlen(text) > 0 : rc == NRI_E_NOMEM && text == NULL);
    nri_metrics_free(text);
}

static int live(struct node *node, struct guest *guest, struct guest *inside)
{
    struct nri_plugin_ops ops = guest_ops();
    int rc = nri_runtime_add_builtin(node->runtime, &ops, "inside", "10", "text", inside);
    if (rc != 0)
        assert_int_equal(rc, NRI_E_NOMEM);
    require_and_look(node);
    rc = node_begin(node);
    if (rc != 0)
        return rc;
    node_wait_for(node, node->ready > 0 || node->ended > 0);
    if (node->ended > 0)
        return node->end_code;
    attach(node, guest, guest_start_fd(guest, node, "20", "guest"));
    rc = nri_runtime_post(node->runtime, count_post, node);
    assert_true(rc == 0 || rc == NRI_E_NOMEM);
    rc = node_call(node, NRI_EVENT_RUN_POD_SANDBOX); /* refused: it has a container */
    assert_int_equal(rc, NRI_E_INVALID);
    rc = node_call(node, NRI_EVENT_CREATE_CONTAINER);
    assert_true(rc == 0 || rc == NRI_E_NOMEM);
    if (rc == 0)
        node_wait(node, &node->called, 1);
    return rc;
}

static bool is_named(int code)
{
    return code == 0 || code == NRI_E_NOMEM || code == NRI_E_LIMIT;
}

static size_t sweep(struct node *node, bool stops)
{
    for (size_t n = 1;; n++) {
        struct guest guest = {0}, inside = {0};
        forget(node);
        fail_alloc_arm(&node->heap, n);
        int rc = node_new(node);
        if (rc == 0) {
            rc = live(node, &guest, &inside);
            if (stops && node->ready > 0 && node->ended == 0)
                node_stop(node);
            node_close(node);
        } else {
            assert_int_equal(rc, NRI_E_NOMEM);
        }
        const bool fired = node->heap.fired;
        fail_alloc_arm(&node->heap, 0);
        if (guest.plugin != NULL)
            guest_close(&guest, node);
        if (!is_named(rc))
            fail_msg("allocation %zu fails: %s", n, nri_error_name(rc));
        assert_int_equal(node->connected, node->lost);
        if (node->heap.live_blocks != 0)
            fail_msg("allocation %zu: %zu blocks live", n, (size_t)node->heap.live_blocks);
        if (!fired) {
            assert_int_equal(rc, 0);
            assert_int_equal(node->connected, 3);
            assert_int_equal(node->called, 1);
            assert_int_equal(node->posted, 1);
            assert_int_equal(node->call_code, NRI_E_CONFLICT); /* both set the same variable */
            return n - 1;
        }
    }
}

static void test_every_allocation_fails_once(void **state)
{
    struct node *node = *state;
    node_link(node->plugins, "30-plain", program);
    node_write_text(node->config, "plain.conf", "some text", 0600);
    node->options.validator_config =
        "{\"reject_sysctl_adjustment\": true, \"required_plugins\": [\"inside\"]}";
    for (int stops = 0; stops < 2; stops++) {
        size_t points = sweep(node, stops != 0);
        assert_true(points > 50);
        print_message("%zu allocations failed one by one\n", points);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(test_every_allocation_fails_once)};
    if (argc < 2 || realpath(argv[1], program) == NULL)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
