/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.CDI_devices */
#include "model/adjustment_builder.h"
#include "model/make.h"

static int put(nri_adjustment *adjustment, const char *name)
{
    NRI_MESSAGE(ContainerAdjustment) *message = &adjustment->frame->message;
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    NRI_MESSAGE(CDIDevice) * device;
    if (rare != NULL) {
        if (nri_unique_find(&rare->cdi_devices, message->n_cdi_devices, &message->cdi_devices,
                            name) != SIZE_MAX)
            return 0;
        int code = nri_make_cdi_device(&adjustment->builder, name, &device);
        if (code != 0)
            return code;
        if (nri_unique_set(&rare->cdi_devices, &adjustment->builder, &message->n_cdi_devices,
                           &message->cdi_devices, &device->base) == 0)
            return 0;
    }
    const struct nri_where field = {.within = "CDI device", .key = name, .name = "entry"};
    return nri_builder_refuse_memory(&adjustment->builder, &field);
}

int nri_adjustment_add_cdi_device(nri_adjustment *adjustment, const char *name)
{
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_check_cdi_device(&adjustment->builder, name);
    return code == 0 ? put(adjustment, name) : code;
}
