/* SPDX-License-Identifier: Apache-2.0 */
#include "revision.h"

#include "ignored.h"
#include "memory.h"
#include "model/model.h"
#include "runtime/merge.h"
#include "runtime/messages.h"

/* Far above what a container has. */
#define MOST_BYTES ((size_t)256 << 20)

/* ---- what merging does not show to other plugins ---- */

static int add_cdi_devices(nri_container *next, const adjustment_message *adjust)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < adjust->n_cdi_devices; i++)
        code = nri_container_add_cdi_device(next, adjust->cdi_devices[i]->name);
    return code;
}

/* RDT: a removal comes before what is set. */
static void set_rdt(linux_container_message *linux_part, rdt_message *room,
                    const rdt_message *adjusted)
{
    *room = linux_part->rdt != NULL && !adjusted->remove ? *linux_part->rdt
                                                         : NRI_MESSAGE_NEW(rdt_message, LINUX_RDT);
    if (adjusted->clos_id != NULL)
        room->clos_id = adjusted->clos_id;
    if (adjusted->schemata != NULL)
        room->schemata = adjusted->schemata;
    if (adjusted->enable_monitoring != NULL)
        room->enable_monitoring = adjusted->enable_monitoring;
    const bool empty =
        room->clos_id == NULL && room->schemata == NULL && room->enable_monitoring == NULL;
    linux_part->rdt = empty ? NULL : room;
}

static int copy_with_rdt(const container_message *merged, const adjustment_message *adjust,
                         nri_container **next)
{
    linux_container_message linux_part = NRI_MESSAGE_NEW(linux_container_message, LINUX_CONTAINER);
    container_message container = *merged;
    rdt_message rdt;
    if (adjust->linux != NULL && adjust->linux->rdt != NULL) {
        if (merged->linux != NULL)
            linux_part = *merged->linux;
        set_rdt(&linux_part, &rdt, adjust->linux->rdt);
        container.linux = &linux_part;
    }
    return nri_container_dup(nri_container_view(&container), NULL, next);
}

/* ---- merging ---- */

static int merge(const nri_container *container, const adjustment_message *adjust,
                 nri_container **next, struct nri_error *error)
{
    static const uint64_t seed[2] = {0, 0}; /* keys of one answer that was merged before */
    create_message reply = NRI_MESSAGE_NEW(create_message, CREATE_CONTAINER_RESPONSE);
    const container_message *given = (const void *)container, *merged = NULL;
    struct nri_arena arena;
    struct nri_merge *merge_of = NULL;
    memory_arena(&arena, MOST_BYTES);
    reply.adjust = (void *)(uintptr_t)adjust; /* it is only read */
    int code = nri_merge_new(&merge_of, &arena, seed, NULL, NRI_EVENT_CREATE_CONTAINER, NULL, given,
                             NULL, error);
    if (code == 0)
        code = nri_merge_create_reply(merge_of, "the node", &reply, error);
    if (code == 0) {
        merged = nri_merge_container(merge_of, NULL);
        code = merged == NULL ? NRI_E_NOMEM : copy_with_rdt(merged, adjust, next);
        if (code != 0)
            (void)nri_error_set(error, code, "out of memory for a container");
    }
    nri_arena_fini(&arena);
    return code;
}

static int copy(const nri_container *container, nri_container **next, struct nri_error *error)
{
    const int code = nri_container_dup(container, NULL, next);
    return code == 0 ? 0 : nri_error_set(error, code, "out of memory for a container");
}

int revision_adjust(const nri_container *container, const nri_adjustment *adjustment,
                    const struct imitate *imitate, nri_container **next, struct nri_error *error)
{
    struct ignored room;
    const adjustment_message *adjust = ignored_drop(
        &room, imitate, adjustment == NULL ? NULL : nri_adjustment_message(adjustment));
    if (adjust == NULL)
        return copy(container, next, error);
    int code = merge(container, adjust, next, error);
    if (code == 0 && (code = add_cdi_devices(*next, adjust)) != 0) {
        (void)nri_error_set(error, code, "%s", nri_container_error_text(*next));
        *next = nri_container_free(*next);
    }
    return code;
}

int revision_update(const nri_container *container, const nri_resources *resources,
                    nri_container **next, struct nri_error *error)
{
    linux_adjustment_message linux_part =
        NRI_MESSAGE_NEW(linux_adjustment_message, LINUX_CONTAINER_ADJUSTMENT);
    adjustment_message adjust = NRI_MESSAGE_NEW(adjustment_message, CONTAINER_ADJUSTMENT);
    if (!nri_resources_is_present(resources))
        return copy(container, next, error);
    linux_part.resources = (void *)(uintptr_t)resources; /* it is only read */
    adjust.linux = &linux_part;
    return merge(container, &adjust, next, error);
}

int revision_resources(nri_resources *to, const nri_resources *from, struct nri_error *error)
{
    nri_error *failure = NULL;
    char *text = NULL;
    size_t length = 0;
    if (to == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for resources");
    int code = nri_resources_to_json(from, NULL, &text, &length, &failure);
    if (code == 0)
        code = nri_resources_merge_json(to, text, length, NULL, &failure);
    if (code != 0)
        (void)nri_error_set(error, code, "%s", nri_error_get_text(failure));
    nri_error_free(failure);
    nri_json_free(text);
    return code;
}
