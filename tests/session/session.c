/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdlib.h>

int session_setup(void **state)
{
    struct session *s = calloc(1, sizeof *s);
    if (s == NULL)
        return 1;
    fake_runtime_init(&s->fr, &s->recorder);
    *state = s;
    return 0;
}

int session_teardown(void **state)
{
    struct session *s = *state;
    fake_runtime_fini(&s->fr);
    free(s);
    return 0;
}

void session_answer(struct session *s)
{
    struct nri_rpc_call *call = rpc_peer_take(&s->fr.peer);
    fake_runtime_reply(&s->fr, call);
    nri_rpc_call_release(call);
    fake_runtime_run(&s->fr);
}

void session_refuse(struct session *s, int grpc, const char *text)
{
    struct nri_rpc_call *call = rpc_peer_take(&s->fr.peer);
    assert_int_equal(nri_rpc_call_refuse(call, grpc, text), 0);
    nri_rpc_call_release(call);
    fake_runtime_run(&s->fr);
}

void session_answer_failed(struct session *s, size_t index)
{
    MESSAGE(UpdateContainersResponse) response;
    struct nri_rpc_call *call = rpc_peer_take(&s->fr.peer);
    INIT(update_containers_response)(&response);
    response.n_failed = 1;
    response.failed = &s->fr.last_update->update[index];
    assert_int_equal(nri_rpc_call_reply(call, &response.base, &s->fr.error), 0);
    nri_rpc_call_release(call);
    fake_runtime_run(&s->fr);
}

nri_updates *session_eviction(size_t size)
{
    nri_updates *updates;
    char *reason = malloc(size + 1);
    assert_non_null(reason);
    memset(reason, 'x', size);
    reason[size] = '\0';
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    assert_int_equal(nri_updates_evict(updates, "c", reason), 0);
    free(reason);
    return updates;
}
