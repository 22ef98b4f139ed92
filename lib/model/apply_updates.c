/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerUpdate and ContainerEviction. */
#include "model/apply.h"
#include "model/reader.h"
#include "model/updates_builder.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

static int failed(const nri_updates *updates)
{
    int code = nri_updates_error(updates);
    return code != 0 ? code : NRI_E_NOMEM;
}

static int apply_update(nri_updates *updates, const MESSAGE(ContainerUpdate) * message,
                        struct nri_json_subject *at)
{
    const MESSAGE(LinuxResources) *from = message->linux != NULL ? message->linux->resources : NULL;
    nri_update *update = nri_updates_container(updates, nri_reader_text(message->container_id));
    int code = nri_update_enter(update);
    if (code == 0 && message->ignore_failure)
        code = nri_update_set_ignore_failure(update, true);
    if (code != 0 || from == NULL)
        return code;
    nri_resources *resources = nri_update_edit_resources(update);
    return resources != NULL ? nri_apply_resources(resources, from, at) : failed(updates);
}

int nri_apply_updates(nri_updates *updates, const MESSAGE(UpdateContainersRequest) * message,
                      struct nri_json_subject *at)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < message->n_update; i++) {
        nri_apply_at(at, &message->base, "update", i);
        code = apply_update(updates, message->update[i], at);
    }
    for (size_t i = 0; code == 0 && i < message->n_evict; i++) {
        const MESSAGE(ContainerEviction) *eviction = message->evict[i];
        nri_apply_at(at, &message->base, "evict", i);
        code = nri_updates_evict(updates, nri_reader_text(eviction->container_id),
                                 nri_reader_text(eviction->reason));
    }
    return code;
}
