/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

static char *filled(struct nri_arena *arena, size_t length, char fill)
{
    struct nri_alloc alloc;
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    nri_arena_init(arena, &alloc, 0, SIZE_MAX);
    char *bytes = malloc(length + 1);
    assert_non_null(bytes);
    memset(bytes, fill, length);
    char *text = nri_arena_text(arena, bytes, length);
    assert_non_null(text);
    free(bytes);
    return text;
}

void big_request_init(struct big_request *big, size_t length, char fill)
{
    nri__pkg__api__v1alpha1__update_containers_request__init(&big->message);
    nri__pkg__api__v1alpha1__container_eviction__init(&big->evict);
    big->evict.reason = filled(&big->arena, length, fill);
    big->evictions[0] = &big->evict;
    big->message.n_evict = 1;
    big->message.evict = big->evictions;
}

void big_request_fini(struct big_request *big)
{
    nri_arena_fini(&big->arena);
}

void big_response_init(struct big_response *big, size_t length, char fill)
{
    nri__pkg__api__v1alpha1__update_containers_response__init(&big->message);
    nri__pkg__api__v1alpha1__container_update__init(&big->update);
    big->update.container_id = filled(&big->arena, length, fill);
    big->failed[0] = &big->update;
    big->message.n_failed = 1;
    big->message.failed = big->failed;
}

void big_response_fini(struct big_response *big)
{
    nri_arena_fini(&big->arena);
}

void served_init(struct served *served, const struct nri_rpc_limits *limits)
{
    assert_int_equal(rpc_peer_init_plugin(&served->peer, limits, NULL), 0);
    raw_init(&served->in);
    raw_init(&served->out);
    go_reader_init(&served->go);
    served->answers = (struct raw_responses){0};
    served->now = 1000;
}

void served_fini(struct served *served)
{
    rpc_peer_fini(&served->peer);
    nri_buf_fini(&served->in);
    nri_buf_fini(&served->out);
    go_reader_fini(&served->go);
    raw_responses_free(&served->answers);
}

void served_answers(struct served *served)
{
    const uint8_t *bytes;
    size_t count;
    nri_rpc_output(served->peer.rpc, &bytes, &count);
    assert_int_equal(nri_buf_append(&served->out, bytes, count), 0);
    if (go_reader_feed(&served->go, bytes, count) != 0) {
        fail_msg("a Go peer could not read this: %s", go_reader_error(&served->go));
    }
    assert_int_equal(served->go.shared, 0);
    go_reader_forget(&served->go);
    nri_rpc_written(served->peer.rpc, count);
    raw_responses_free(&served->answers);
    raw_responses(&served->out, &served->answers);
    nri_buf_reset(&served->out, 0);
}

int served_feed(struct served *served, size_t cut)
{
    int code = 0;
    while (code == 0 && nri_buf_size(&served->in) > 0) {
        size_t count = nri_buf_size(&served->in);
        count = cut != 0 && count > cut ? cut : count;
        /* On the heap in its very size, so that reading past the end is seen. */
        uint8_t *bytes = malloc(count);
        assert_non_null(bytes);
        memcpy(bytes, served->in.data + served->in.start, count);
        nri_buf_consume(&served->in, count);
        code = nri_rpc_input(served->peer.rpc, bytes, count, served->now, &served->peer.error);
        free(bytes);
    }
    nri_buf_reset(&served->in, SIZE_MAX);
    served_answers(served);
    return code;
}

void served_configure(struct served *served, uint32_t stream, const char *runtime_name)
{
    struct nri_buf payload;
    raw_init(&payload);
    raw_text(&payload, 2, runtime_name);
    raw_request(&served->in, 1, stream, PLUGIN, "Configure", payload.data, nri_buf_size(&payload));
    nri_buf_fini(&payload);
}

void served_init_counted(struct served *s, struct fail_alloc *memory,
                         const struct nri_rpc_limits *limits)
{
    fail_alloc_init(memory, NULL);
    served_init(s, limits);
    rpc_peer_fini(&s->peer);
    const struct nri_alloc alloc = fail_alloc_resolved(memory);
    assert_int_equal(rpc_peer_init_plugin(&s->peer, limits, &alloc), 0);
}

void served_fini_counted(struct served *s, struct fail_alloc *memory)
{
    served_fini(s);
    assert_int_equal(memory->live_blocks, 0);
}

void served_assert_usable(struct served *s, uint32_t stream)
{
    served_configure(s, stream, "still there");
    assert_int_equal(served_feed(s, 0), 0);
    assert_int_equal(s->answers.count, 0);
    struct nri_rpc_call *call = rpc_peer_take(&s->peer);
    assert_non_null(call);
    assert_int_equal(nri_rpc_call_stream(call), stream);
    assert_int_equal(nri_rpc_call_refuse(call, 2, "seen"), 0);
    nri_rpc_call_release(call);
    served_answers(s);
    assert_answer(s, 0, stream, 2);
}
