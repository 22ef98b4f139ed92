/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole exchange with each allocation failing in turn: nothing crashes, nothing leaks, every call
 * completes once. The sweep ends when a run no longer fails.
 */
#include "support.h"

struct exchange {
    struct rpc_peer runtime, plugin;
    struct rpc_link link;
    struct rpc_outcome outcomes[8];
    size_t started; /* of them */
};

static void answer_update(struct rpc_peer *peer, struct nri_rpc_call *call)
{
    struct big_response big;
    (void)peer;
    big_response_init(&big, 30000, 'r');
    (void)nri_rpc_call_reply(call, &big.message.base, NULL);
    nri_rpc_call_release(call);
    big_response_fini(&big);
}

static void invoke(struct exchange *x, struct rpc_peer *from, unsigned method,
                   const ProtobufCMessage *message, uint64_t timeout)
{
    static const char *const metadata[] = {"key", "value", "another", "one"};
    if (nri_rpc_invoke(from->rpc, method, message, x->link.now, timeout, metadata, 2,
                       rpc_outcome_done, &x->outcomes[x->started], NULL) == 0) {
        x->started++;
    }
}

/* Calls both ways of several sizes, one refused, one never answered, one that times out, a bad one,
 * and requests that queue. */
static void calls(struct exchange *x)
{
    configure_request configure;
    configure_response response;
    struct nri_rpc_call *call;
    struct big_request small, large;
    nri__pkg__api__v1alpha1__configure_request__init(&configure);
    nri__pkg__api__v1alpha1__configure_response__init(&response);
    big_request_init(&small, 100, 's');
    big_request_init(&large, 50000, 'l');
    x->runtime.request = answer_update;
    invoke(x, &x->plugin, UPDATE_CONTAINERS, &small.message.base, 0);
    invoke(x, &x->plugin, UPDATE_CONTAINERS, &large.message.base, 0);
    invoke(x, &x->runtime, CONFIGURE, &configure.base, 0);
    invoke(x, &x->runtime, CONFIGURE, &configure.base, NRI_SEC);
    invoke(x, &x->runtime, CONFIGURE, &configure.base, 10 * NRI_SEC);
    (void)rpc_link_run(&x->link);
    for (int i = 0; (call = rpc_peer_take(&x->plugin)) != NULL; i++) {
        if (i == 0) {
            (void)nri_rpc_call_reply(call, &response.base, NULL);
        } else if (i == 1) {
            (void)nri_rpc_call_refuse(call, 9, "no");
        }
        nri_rpc_call_release(call);
    }
    x->link.now += 2 * NRI_SEC;
    nri_rpc_tick(x->runtime.rpc, x->link.now);
    (void)rpc_link_run(&x->link);
    invoke(x, &x->runtime, SHUTDOWN, &configure.base, 0);  /* not its message: refused here */
    invoke(x, &x->runtime, CONFIGURE, &configure.base, 0); /* pending when it closes */
    big_request_fini(&small);
    big_request_fini(&large);
}

static void run(struct exchange *x, const struct nri_alloc *alloc)
{
    struct nri_rpc_limits limits;
    *x = (struct exchange){.started = 0};
    nri_rpc_limits_default(&limits);
    limits.max_in_flight = 1;
    const int a = rpc_peer_init_runtime(&x->runtime, &limits, alloc);
    const int b = rpc_peer_init_plugin(&x->plugin, &limits, alloc);
    assert_true(a == 0 || a == NRI_E_NOMEM);
    assert_true(b == 0 || b == NRI_E_NOMEM);
    if (a == 0 && b == 0) {
        rpc_link_init(&x->link, rpc_peer_end(&x->runtime), rpc_peer_end(&x->plugin));
        x->link.cut = 4097;
        calls(x);
        rpc_link_fini(&x->link);
    }
    rpc_peer_fini(&x->runtime);
    rpc_peer_fini(&x->plugin);
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    struct fail_alloc memory;
    struct exchange x;
    size_t n = 0, survived = 0;
    fail_alloc_init(&memory, NULL);
    const struct nri_alloc alloc = fail_alloc_resolved(&memory);
    do {
        n++;
        assert_true(n < 10000);
        fail_alloc_arm(&memory, n);
        run(&x, &alloc);
        assert_int_equal(memory.live_blocks, 0);
        for (size_t i = 0; i < x.started; i++) {
            assert_int_equal(x.outcomes[i].count, 1);
        }
        survived += memory.fired && x.started == 6;
    } while (memory.fired);
    print_message("%zu points of failure; after %zu of them the exchange went on to its end\n",
                  n - 1, survived);
    /* The run without a failure did what it was meant to. */
    assert_true(n - 1 > 20);
    assert_int_equal(x.started, 6);
    assert_int_equal(x.outcomes[0].code, 0);
    assert_int_equal(x.outcomes[1].code, 0);
    assert_int_equal(x.outcomes[2].code, 0);
    assert_int_equal(x.outcomes[3].code, NRI_E_TIMEOUT);
    assert_int_equal(x.outcomes[4].grpc, 13);
    assert_int_equal(x.outcomes[5].code, NRI_E_CLOSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
