/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are released by other threads, while the loop's thread goes on, and after the
 * connection is gone. To be run under TSan and valgrind too.
 */
#include "support.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 200, EACH = 8 };

/* A slot for calls that are to be released, with a lock of its own: it stands for a user's queue.
 */
struct mailbox {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    struct nri_rpc_call *calls[THREADS * EACH];
    size_t count;
    bool done;
    size_t wrong; /* calls whose content was not what it should be */
};

static struct nri_rpc_call *mailbox_take(struct mailbox *box)
{
    struct nri_rpc_call *call = NULL;
    (void)pthread_mutex_lock(&box->mutex);
    while (box->count == 0 && !box->done) {
        (void)pthread_cond_wait(&box->filled, &box->mutex);
    }
    if (box->count > 0) {
        call = box->calls[--box->count];
    }
    (void)pthread_mutex_unlock(&box->mutex);
    return call;
}

static bool mailbox_put(struct mailbox *box, struct nri_rpc_call *call)
{
    bool room;
    (void)pthread_mutex_lock(&box->mutex);
    room = box->count < THREADS * EACH;
    if (room) {
        box->calls[box->count++] = call;
        (void)pthread_cond_signal(&box->filled);
    }
    (void)pthread_mutex_unlock(&box->mutex);
    return room;
}

/* Reads the request, builds something in its arena and releases it. */
static void *release_all(void *argument)
{
    struct mailbox *box = argument;
    struct nri_rpc_call *call;
    while ((call = mailbox_take(box)) != NULL) {
        const configure_request *request =
            (const configure_request *)(const void *)nri_rpc_call_message(call);
        const bool good = nri_message_text_length(request->runtime_name) == 10 &&
                          nri_arena_text(nri_rpc_call_arena(call), "built here", 10) != NULL &&
                          nri_rpc_call_refuse(call, 2, "late") != 0;
        nri_rpc_call_release(call);
        if (!good) {
            (void)pthread_mutex_lock(&box->mutex);
            box->wrong++;
            (void)pthread_mutex_unlock(&box->mutex);
        }
    }
    return NULL;
}

static void box_start(struct mailbox *box, pthread_t threads[THREADS])
{
    *box = (struct mailbox){.count = 0};
    assert_int_equal(pthread_mutex_init(&box->mutex, NULL), 0);
    assert_int_equal(pthread_cond_init(&box->filled, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, release_all, box), 0);
    }
}

static void box_stop(struct mailbox *box, pthread_t threads[THREADS])
{
    (void)pthread_mutex_lock(&box->mutex);
    box->done = true;
    (void)pthread_cond_broadcast(&box->filled);
    (void)pthread_mutex_unlock(&box->mutex);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(box->count, 0);
    assert_int_equal(box->wrong, 0);
    (void)pthread_mutex_destroy(&box->mutex);
    (void)pthread_cond_destroy(&box->filled);
}

/* Replied on the loop's thread, released on another. */
static void test_replied_calls(void **state)
{
    (void)state;
    struct fail_alloc memory;
    struct served s;
    struct mailbox box;
    pthread_t threads[THREADS];
    size_t refused_here = 0;
    fail_alloc_init(&memory, NULL);
    const struct nri_alloc alloc = fail_alloc_resolved(&memory);
    served_init(&s, NULL);
    rpc_peer_fini(&s.peer);
    assert_int_equal(rpc_peer_init_plugin(&s.peer, NULL, &alloc), 0);
    box_start(&box, threads);
    uint32_t stream = 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < EACH; i++, stream += 2) {
            served_configure(&s, stream, "0123456789");
        }
        assert_int_equal(served_feed(&s, 0), 0);
        struct nri_rpc_call *call;
        while ((call = rpc_peer_take(&s.peer)) != NULL) {
            assert_int_equal(nri_rpc_call_refuse(call, 2, "seen"), 0);
            if (!mailbox_put(&box, call)) {
                nri_rpc_call_release(call);
                refused_here++;
            }
        }
        served_answers(&s);
        assert_int_equal(s.answers.count, EACH);
    }
    served_fini(&s);
    box_stop(&box, threads);
    print_message("%d calls, %zu of them released by the loop's own thread\n", ROUNDS * EACH,
                  refused_here);
    assert_int_equal(memory.live_blocks, 0);
}

/* Detached by the close, and released while and after the connection goes. */
static void test_detached_calls(void **state)
{
    (void)state;
    struct fail_alloc memory;
    fail_alloc_init(&memory, NULL);
    const struct nri_alloc alloc = fail_alloc_resolved(&memory);
    for (int round = 0; round < ROUNDS; round++) {
        struct served s;
        struct mailbox box;
        pthread_t threads[THREADS];
        struct nri_rpc_call *call;
        served_init(&s, NULL);
        rpc_peer_fini(&s.peer);
        assert_int_equal(rpc_peer_init_plugin(&s.peer, NULL, &alloc), 0);
        for (uint32_t i = 0; i < EACH; i++) {
            served_configure(&s, 2 * i + 1, "0123456789");
        }
        assert_int_equal(served_feed(&s, 0), 0);
        box_start(&box, threads);
        for (int i = 0; i < EACH / 2; i++) { /* some replied before */
            call = rpc_peer_take(&s.peer);
            assert_int_equal(nri_rpc_call_refuse(call, 2, "seen"), 0);
            assert_true(mailbox_put(&box, call));
        }
        nri_rpc_close(s.peer.rpc, NRI_E_CLOSED, "gone");
        while ((call = rpc_peer_take(&s.peer)) != NULL) {
            assert_true(mailbox_put(&box, call));
        }
        nri_rpc_free(s.peer.rpc);
        s.peer.rpc = NULL;
        served_fini(&s);
        box_stop(&box, threads);
        assert_int_equal(memory.live_blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replied_calls),
        cmocka_unit_test(test_detached_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
