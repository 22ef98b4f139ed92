/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dup.h"

#include "model/object.h"
#include "wire/message.h"

int nri_pod_dup_with(const nri_pod *pod, const struct nri_alloc *alloc, nri_pod **copy)
{
    struct nri_pod_object *object = nri_pod_object_make(alloc);
    if (object == NULL)
        return NRI_E_NOMEM;
    const void *from = pod != NULL ? pod : nri_pod_view(NULL);
    nri_arena_expect(&object->object.arena, nri_message_copy_room(from));
    const Nri__Pkg__Api__V1alpha1__PodSandbox *message =
        (const void *)nri_message_copy(from, &object->object.arena);
    nri_pod *made = (void *)&object->message;
    if (message == NULL) {
        nri_pod_free(made);
        return NRI_E_NOMEM;
    }
    object->message = *message;
    *copy = made;
    return 0;
}

int nri_container_dup_with(const nri_container *container, const struct nri_alloc *alloc,
                           nri_container **copy)
{
    struct nri_container_object *object = nri_container_object_make(alloc);
    if (object == NULL)
        return NRI_E_NOMEM;
    const void *from = container != NULL ? container : nri_container_view(NULL);
    nri_arena_expect(&object->object.arena, nri_message_copy_room(from));
    const Nri__Pkg__Api__V1alpha1__Container *message =
        (const void *)nri_message_copy(from, &object->object.arena);
    nri_container *made = (void *)&object->message;
    if (message == NULL) {
        nri_container_free(made);
        return NRI_E_NOMEM;
    }
    object->message = *message;
    *copy = made;
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
