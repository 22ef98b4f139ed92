/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/pool.h"

#define SMALL_BUFFER 1024u /* a receive buffer that is not worth trimming */

int nri_rpc_pool_new(struct nri_rpc_pool **pool, const struct nri_alloc *alloc, size_t max_receive,
                     const uint64_t seed[2])
{
    struct nri_rpc_pool *p = nri_alloc_zero(alloc, sizeof *p);
    if (p == NULL) {
        return NRI_E_NOMEM;
    }
    p->alloc = *alloc;
    p->seed[0] = seed[0];
    p->seed[1] = seed[1];
    p->max_receive = max_receive;
    nri_buf_init(&p->spare, alloc, max_receive);
    p->holders = 1;
    const int code = nri_lock_init(&p->lock);
    if (code != 0) {
        nri_alloc_release(alloc, p);
        return code;
    }
    *pool = p;
    return 0;
}

static void destroy_call(struct nri_rpc_call *call)
{
    const struct nri_alloc alloc = call->pool->alloc;
    nri_buf_fini(&call->data);
    nri_arena_fini(&call->arena);
    nri_alloc_release(&alloc, call);
}

static void destroy_pool(struct nri_rpc_pool *pool)
{
    const struct nri_alloc alloc = pool->alloc;
    nri_lock_fini(&pool->lock);
    nri_alloc_release(&alloc, pool);
}

/* The last thing that a holder does with the pool: another thread may be the last one, and the pool
 * gone. */
static void drop_hold(struct nri_rpc_pool *pool)
{
    nri_lock_take(&pool->lock);
    pool->holders--;
    const bool last = pool->holders == 0;
    nri_lock_give(&pool->lock);
    if (last) {
        destroy_pool(pool);
    }
}

void nri_rpc_pool_close(struct nri_rpc_pool *pool)
{
    nri_buf_fini(&pool->spare);
    nri_lock_take(&pool->lock);
    struct nri_rpc_call *idle = pool->idle;
    pool->idle = NULL;
    pool->idle_count = 0;
    pool->closed = true;
    nri_lock_give(&pool->lock);
    while (idle != NULL) {
        struct nri_rpc_call *next = idle->next;
        destroy_call(idle);
        idle = next;
    }
    drop_hold(pool);
}

static struct nri_rpc_call *new_call(struct nri_rpc_pool *pool)
{
    struct nri_rpc_call *call = nri_alloc_zero(&pool->alloc, sizeof *call);
    if (call != NULL) {
        call->pool = pool;
        atomic_init(&call->state, NRI_RPC_CALL_OPEN);
        nri_buf_init(&call->data, &pool->alloc, pool->max_receive);
        nri_arena_init(&call->arena, &pool->alloc, NRI_RPC_FIRST_CHUNK, SIZE_MAX);
    }
    return call;
}

static void swap_data(struct nri_rpc_call *call, struct nri_buf *other)
{
    const struct nri_buf data = call->data;
    call->data = *other;
    *other = data;
}

struct nri_rpc_call *nri_rpc_pool_get(struct nri_rpc_pool *pool)
{
    nri_lock_take(&pool->lock);
    struct nri_rpc_call *call = pool->idle;
    if (call != NULL) {
        pool->idle = call->next;
        call->next = NULL;
        pool->idle_count--;
        pool->holders++;
    }
    nri_lock_give(&pool->lock);
    if (call == NULL) {
        /* Outside the lock: an allocator of the user's may take its time. Only the connection gets
         * calls, and it holds the pool itself, so the pool stays. */
        call = new_call(pool);
        if (call != NULL) {
            nri_lock_take(&pool->lock);
            pool->holders++;
            nri_lock_give(&pool->lock);
        }
    }
    if (call != NULL && call->data.data == NULL) {
        swap_data(call, &pool->spare);
    }
    return call;
}

void nri_rpc_pool_take_data(struct nri_rpc_call *call)
{
    struct nri_buf *spare = &call->pool->spare;
    nri_buf_reset(&call->data, NRI_RPC_POOL_BUFFER);
    if (call->data.capacity > spare->capacity) {
        swap_data(call, spare);
    }
    nri_buf_fini(&call->data);
}

void nri_rpc_pool_trim_data(struct nri_rpc_call *call)
{
    const size_t size = nri_buf_size(&call->data);
    struct nri_buf fresh;
    /* What the call kept of its last message: calls go round, and there may be many in a queue. */
    nri_arena_fini(&call->arena);
    if (call->data.capacity <= SMALL_BUFFER || call->data.capacity / 2 <= size) {
        return;
    }
    nri_buf_init(&fresh, &call->pool->alloc, call->data.limit);
    if (size == 0 || nri_buf_append(&fresh, call->data.data + call->data.start, size) == 0) {
        swap_data(call, &fresh);
    }
    nri_buf_fini(&fresh);
}

size_t nri_rpc_pool_most(const struct nri_rpc_call *call, const struct nri_rpc_limits *limits,
                         size_t size)
{
    const size_t room = SIZE_MAX - limits->arena_base;
    size_t limit = SIZE_MAX;
    if (limits->arena_factor == 0 || size <= room / limits->arena_factor) {
        limit = limits->arena_base + limits->arena_factor * size;
    }
    /* The first chunk is there from the last message, or will be as large as that needed: it is
     * given. */
    return limit > call->arena.chunk_size ? limit : call->arena.chunk_size;
}

void nri_rpc_pool_limit(struct nri_rpc_call *call, const struct nri_rpc_limits *limits, size_t size)
{
    call->arena.limit = nri_rpc_pool_most(call, limits, size);
}

/* Makes a call as good as new, and makes its arena's first chunk as large as this message needed,
 * so that the next one of its kind finds its memory there. */
static void clean_call(struct nri_rpc_call *call)
{
    const size_t chunk = call->arena.chunk_size;
    const size_t taken = call->arena.taken;
    nri_arena_reset(&call->arena);
    const bool grow = taken > chunk && chunk < NRI_RPC_POOL_ARENA;
    if (grow || call->arena.taken > NRI_RPC_POOL_ARENA) {
        nri_arena_fini(&call->arena);
        nri_arena_init(&call->arena, &call->pool->alloc,
                       taken < NRI_RPC_POOL_ARENA ? taken : NRI_RPC_POOL_ARENA, SIZE_MAX);
    }
    call->arena.limit = SIZE_MAX;
    nri_buf_reset(&call->data, NRI_RPC_POOL_BUFFER);
    call->rpc = NULL;
    call->stream = 0;
    call->method = 0;
    call->timeout = 0;
    call->received = 0;
    call->size = 0;
    call->charge = 0;
    call->message = NULL;
    call->metadata = (struct nri_rpc_metadata){0};
    call->next = NULL;
    call->previous = NULL;
    atomic_store_explicit(&call->state, NRI_RPC_CALL_OPEN, memory_order_relaxed);
}

void nri_rpc_pool_put(struct nri_rpc_call *call)
{
    struct nri_rpc_pool *pool = call->pool;
    clean_call(call);
    nri_lock_take(&pool->lock);
    const bool keep = !pool->closed && pool->idle_count < NRI_RPC_POOL_CALLS;
    if (keep) {
        call->next = pool->idle;
        pool->idle = call;
        pool->idle_count++;
        pool->holders--;
    }
    nri_lock_give(&pool->lock);
    if (keep) {
        return; /* from here on the call, and with it the pool, may be gone */
    }
    destroy_call(call);
    drop_hold(pool);
}
