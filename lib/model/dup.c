/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy is one heap object: the arena that holds what the message points to, and the message
 * itself. Users hold a pointer to the message, so that readers need not know copies; freeing goes
 * back from it to the object.
 */
#include "model/dup.h"

#include "wire/message.h"

struct pod_copy {
    struct nri_arena arena;
    Nri__Pkg__Api__V1alpha1__PodSandbox message;
};

struct container_copy {
    struct nri_arena arena;
    Nri__Pkg__Api__V1alpha1__Container message;
};

/* The arena needs no limit: what is copied has passed the request's. */
static const void *copy_into(struct nri_arena *arena, const struct nri_alloc *alloc,
                             const void *message)
{
    nri_arena_init(arena, alloc, 0, SIZE_MAX);
    return nri_message_copy(message, arena);
}

static void release_object(void *object, struct nri_arena *arena)
{
    struct nri_alloc alloc = arena->alloc;
    nri_arena_fini(arena);
    nri_alloc_release(&alloc, object);
}

int nri_pod_dup_with(const nri_pod *pod, const struct nri_alloc *alloc, nri_pod **copy)
{
    struct pod_copy *object = nri_alloc_raw(alloc, sizeof *object);
    if (object == NULL)
        return NRI_E_NOMEM;
    const void *from = pod != NULL ? pod : nri_pod_view(NULL);
    const Nri__Pkg__Api__V1alpha1__PodSandbox *message = copy_into(&object->arena, alloc, from);
    if (message == NULL) {
        release_object(object, &object->arena);
        return NRI_E_NOMEM;
    }
    object->message = *message;
    *copy = (void *)&object->message;
    return 0;
}

int nri_container_dup_with(const nri_container *container, const struct nri_alloc *alloc,
                           nri_container **copy)
{
    struct container_copy *object = nri_alloc_raw(alloc, sizeof *object);
    if (object == NULL)
        return NRI_E_NOMEM;
    const void *from = container != NULL ? container : nri_container_view(NULL);
    const Nri__Pkg__Api__V1alpha1__Container *message = copy_into(&object->arena, alloc, from);
    if (message == NULL) {
        release_object(object, &object->arena);
        return NRI_E_NOMEM;
    }
    object->message = *message;
    *copy = (void *)&object->message;
    return 0;
}

int nri_pod_dup(const nri_pod *pod, const struct nri_allocator *allocator, nri_pod **copy)
{
    struct nri_alloc alloc;
    if (copy == NULL)
        return NRI_E_INVALID;
    *copy = NULL;
    int code = nri_alloc_resolve(&alloc, allocator);
    return code != 0 ? code : nri_pod_dup_with(pod, &alloc, copy);
}

int nri_container_dup(const nri_container *container, const struct nri_allocator *allocator,
                      nri_container **copy)
{
    struct nri_alloc alloc;
    if (copy == NULL)
        return NRI_E_INVALID;
    *copy = NULL;
    int code = nri_alloc_resolve(&alloc, allocator);
    return code != 0 ? code : nri_container_dup_with(container, &alloc, copy);
}

nri_pod *nri_pod_free(nri_pod *pod)
{
    if (pod != NULL) {
        void *object = (char *)pod - offsetof(struct pod_copy, message);
        release_object(object, &((struct pod_copy *)object)->arena);
    }
    return NULL;
}

nri_container *nri_container_free(nri_container *container)
{
    if (container != NULL) {
        void *object = (char *)container - offsetof(struct container_copy, message);
        release_object(object, &((struct container_copy *)object)->arena);
    }
    return NULL;
}
