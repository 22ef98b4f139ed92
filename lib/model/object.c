/* SPDX-License-Identifier: Apache-2.0 */
#include "model/object.h"

static const char starved_pod[] = "pod sandbox: out of memory";
static const char starved_container[] = "container: out of memory";

static struct nri_pod_object *pod_object(const nri_pod *pod)
{
    return (void *)((char *)(uintptr_t)pod - offsetof(struct nri_pod_object, message));
}

static struct nri_container_object *container_object(const nri_container *container)
{
    return (void *)((char *)(uintptr_t)container - offsetof(struct nri_container_object, message));
}

/* ---- making and freeing ---- */

/* No limit: only the caller adds to an object, and what is copied has passed the request's. */
static void init(struct nri_object *object, const struct nri_alloc *alloc)
{
    nri_arena_init(&object->arena, alloc, 0, SIZE_MAX);
    object->parts = NULL;
    object->starved = false;
}

static void release(void *memory, struct nri_object *object)
{
    struct nri_alloc alloc = object->arena.alloc;
    nri_arena_fini(&object->arena);
    nri_alloc_release(&alloc, memory);
}

struct nri_pod_object *nri_pod_object_make(const struct nri_alloc *alloc)
{
    struct nri_pod_object *object = nri_alloc_raw(alloc, sizeof *object);
    if (object != NULL) {
        init(&object->object, alloc);
        nri__pkg__api__v1alpha1__pod_sandbox__init(&object->message);
    }
    return object;
}

struct nri_container_object *nri_container_object_make(const struct nri_alloc *alloc)
{
    struct nri_container_object *object = nri_alloc_raw(alloc, sizeof *object);
    if (object != NULL) {
        init(&object->object, alloc);
        nri__pkg__api__v1alpha1__container__init(&object->message);
    }
    return object;
}

int nri_pod_new(nri_pod **pod, const struct nri_allocator *allocator)
{
    struct nri_alloc alloc;
    if (pod == NULL)
        return NRI_E_INVALID;
    *pod = NULL;
    int code = nri_alloc_resolve(&alloc, allocator);
    if (code != 0)
        return code;
    struct nri_pod_object *object = nri_pod_object_make(&alloc);
    if (object == NULL)
        return NRI_E_NOMEM;
    *pod = (void *)&object->message;
    return 0;
}

int nri_container_new(nri_container **container, const struct nri_allocator *allocator)
{
    struct nri_alloc alloc;
    if (container == NULL)
        return NRI_E_INVALID;
    *container = NULL;
    int code = nri_alloc_resolve(&alloc, allocator);
    if (code != 0)
        return code;
    struct nri_container_object *object = nri_container_object_make(&alloc);
    if (object == NULL)
        return NRI_E_NOMEM;
    *container = (void *)&object->message;
    return 0;
}

nri_pod *nri_pod_free(nri_pod *pod)
{
    if (pod != NULL)
        release(pod_object(pod), &pod_object(pod)->object);
    return NULL;
}

nri_container *nri_container_free(nri_container *container)
{
    if (container != NULL)
        release(container_object(container), &container_object(container)->object);
    return NULL;
}

/* ---- the parts ---- */

/* Room for the parts, which begin with the builder. Keys are the caller's own choice, so that the
 * seed need not be a secret of the host's: that addresses differ from process to process is enough.
 */
static void *make_parts(struct nri_object *object, size_t size, const char *starved)
{
    struct nri_builder *builder = nri_arena_zero(&object->arena, size);
    if (builder == NULL) {
        object->starved = true;
        return NULL;
    }
    const uint64_t seed[2] = {(uintptr_t)object, (uintptr_t)starved_pod};
    nri_builder_init(builder, &object->arena, seed, 0, NULL);
    if (object->starved)
        (void)nri_builder_fail(builder, NRI_E_NOMEM, starved);
    object->parts = builder;
    return builder;
}

int nri_pod_enter(nri_pod *pod, struct nri_pod_parts **parts)
{
    if (pod == NULL)
        return NRI_E_INVALID;
    struct nri_pod_object *object = pod_object(pod);
    *parts = object->object.parts;
    if (*parts != NULL)
        return 0;
    _Static_assert(offsetof(struct nri_pod_parts, builder) == 0, "the builder stands first");
    struct nri_pod_parts *made = make_parts(&object->object, sizeof *made, starved_pod);
    if (made == NULL)
        return NRI_E_NOMEM;
    made->message = &object->message;
    made->linux_part = object->message.linux;
    made->overhead.builder = &made->builder;
    made->pod_resources.builder = &made->builder;
    made->resources.builder = &made->builder;
    *parts = made;
    return 0;
}

int nri_container_enter(nri_container *container, struct nri_container_parts **parts)
{
    if (container == NULL)
        return NRI_E_INVALID;
    struct nri_container_object *object = container_object(container);
    *parts = object->object.parts;
    if (*parts != NULL)
        return 0;
    _Static_assert(offsetof(struct nri_container_parts, builder) == 0, "the builder stands first");
    struct nri_container_parts *made = make_parts(&object->object, sizeof *made, starved_container);
    if (made == NULL)
        return NRI_E_NOMEM;
    made->message = &object->message;
    made->linux_part = object->message.linux;
    made->resources.builder = &made->builder;
    *parts = made;
    return 0;
}

int nri_pod_need_linux(struct nri_pod_parts *parts, const struct nri_where *field)
{
    if (parts->linux_part != NULL)
        return 0;
    Nri__Pkg__Api__V1alpha1__LinuxPodSandbox *made =
        nri_arena_alloc(parts->builder.arena, sizeof *made);
    if (made == NULL)
        return nri_builder_refuse_memory(&parts->builder, field);
    nri__pkg__api__v1alpha1__linux_pod_sandbox__init(made);
    parts->linux_part = made;
    return 0;
}

int nri_container_need_linux(struct nri_container_parts *parts, const struct nri_where *field)
{
    if (parts->linux_part != NULL)
        return 0;
    Nri__Pkg__Api__V1alpha1__LinuxContainer *made =
        nri_arena_alloc(parts->builder.arena, sizeof *made);
    if (made == NULL)
        return nri_builder_refuse_memory(&parts->builder, field);
    nri__pkg__api__v1alpha1__linux_container__init(made);
    parts->linux_part = made;
    return 0;
}

/* ---- errors ---- */

/* The first failed call, or NULL while there is none or no room for one. */
static const struct nri_error *error_of(const struct nri_object *object)
{
    const struct nri_builder *builder = object->parts;
    return builder != NULL ? &builder->error : NULL;
}

int nri_pod_error(const nri_pod *pod)
{
    const struct nri_object *object = pod != NULL ? &pod_object(pod)->object : NULL;
    if (object == NULL)
        return 0;
    return error_of(object) != NULL ? error_of(object)->code : object->starved ? NRI_E_NOMEM : 0;
}

const char *nri_pod_error_text(const nri_pod *pod)
{
    const struct nri_object *object = pod != NULL ? &pod_object(pod)->object : NULL;
    if (object == NULL)
        return "";
    return error_of(object) != NULL ? error_of(object)->text : object->starved ? starved_pod : "";
}

int nri_container_error(const nri_container *container)
{
    const struct nri_object *object =
        container != NULL ? &container_object(container)->object : NULL;
    if (object == NULL)
        return 0;
    return error_of(object) != NULL ? error_of(object)->code : object->starved ? NRI_E_NOMEM : 0;
}

const char *nri_container_error_text(const nri_container *container)
{
    const struct nri_object *object =
        container != NULL ? &container_object(container)->object : NULL;
    if (object == NULL)
        return "";
    return error_of(object) != NULL ? error_of(object)->text
           : object->starved        ? starved_container
                                    : "";
}
