/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.mounts */
#include "model/adjustment_builder.h"
#include "model/make.h"

typedef NRI_MESSAGE(Mount) mount_message;

static mount_message *make_removal(struct nri_builder *builder, const char *destination)
{
    mount_message *message = nri_make_empty(builder, &nri__pkg__api__v1alpha1__mount__descriptor);
    if (message != NULL)
        message->destination = nri_builder_marker(builder, destination);
    return message != NULL && message->destination != NULL ? message : NULL;
}

/* After all checks. `entry` NULL: there is to be none. */
static int change(nri_adjustment *adjustment, const char *destination, bool removes,
                  mount_message *entry)
{
    struct nri_builder *builder = &adjustment->builder;
    mount_message *removal = NULL;
    char *key = entry != NULL ? entry->destination : nri_builder_text(builder, destination);
    bool done = key != NULL;
    if (done && removes) {
        removal = make_removal(builder, destination);
        done = removal != NULL;
    }
    if (done)
        done = nri_keyed_set(&adjustment->mounts, builder, key,
                             removal != NULL ? &removal->base : NULL,
                             entry != NULL ? &entry->base : NULL) == 0;
    if (done)
        return 0;
    const struct nri_where field = {.within = "mount", .key = destination, .name = "entry"};
    return nri_builder_refuse_memory(builder, &field);
}

int nri_adjustment_add_mount(nri_adjustment *adjustment, const char *destination, const char *type,
                             const char *source, const char *const *options, size_t option_count)
{
    mount_message *entry;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_mount(&adjustment->builder, destination, type, source, options,
                              option_count, &entry);
    return code == 0 ? change(adjustment, destination, false, entry) : code;
}

int nri_adjustment_replace_mount(nri_adjustment *adjustment, const char *destination,
                                 const char *type, const char *source, const char *const *options,
                                 size_t option_count)
{
    mount_message *entry;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_mount(&adjustment->builder, destination, type, source, options,
                              option_count, &entry);
    return code == 0 ? change(adjustment, destination, true, entry) : code;
}

int nri_adjustment_remove_mount(nri_adjustment *adjustment, const char *destination)
{
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_check_mount_destination(&adjustment->builder, destination);
    return code == 0 ? change(adjustment, destination, true, NULL) : code;
}
