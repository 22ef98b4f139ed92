/* SPDX-License-Identifier: Apache-2.0 */
/* An adjustment that belongs to no request. It is made here, because the seed of its
 * hashes comes from the system. */
#include "io/host.h"
#include "model/adjustment_builder.h"

/* The adjustment lives in the arena. There is no limit: only the caller adds to it. */
struct adjustment_object {
    struct nri_arena arena;
};

static void release(struct adjustment_object *object)
{
    struct nri_alloc alloc = object->arena.alloc;
    nri_arena_fini(&object->arena);
    nri_alloc_release(&alloc, object);
}

int nri_adjustment_new(nri_adjustment **adjustment, const struct nri_allocator *allocator)
{
    const struct nri_host *host = nri_host_system();
    struct nri_alloc alloc;
    uint64_t seed[2];
    if (adjustment == NULL)
        return NRI_E_INVALID;
    *adjustment = NULL;
    int code = nri_alloc_resolve(&alloc, allocator);
    if (code == 0)
        code = host->random(host->context, seed, sizeof seed);
    if (code != 0)
        return code;
    struct adjustment_object *object = nri_alloc_raw(&alloc, sizeof *object);
    if (object == NULL)
        return NRI_E_NOMEM;
    nri_arena_init(&object->arena, &alloc, 0, SIZE_MAX);
    nri_adjustment *made = nri_adjustment_make(&object->arena, seed, 0, NULL);
    if (made == NULL) {
        release(object);
        return NRI_E_NOMEM;
    }
    made->owns_arena = true;
    *adjustment = made;
    return 0;
}

nri_adjustment *nri_adjustment_free(nri_adjustment *adjustment)
{
    if (adjustment != NULL && adjustment->owns_arena) {
        char *arena = (void *)adjustment->builder.arena;
        release((void *)(arena - offsetof(struct adjustment_object, arena)));
    }
    return NULL;
}
