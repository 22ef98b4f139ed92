/* SPDX-License-Identifier: Apache-2.0 */
/* A device of the host: its node, and the rule of the device cgroup without which the node gives
 * no access. */
#include "model/adjustment_builder.h"
#include "model/make.h"

typedef NRI_MESSAGE(LinuxDevice) device_message;
typedef NRI_MESSAGE(LinuxDeviceCgroup) rule_message;

static const char *rule_for(int code)
{
    switch (code) {
    case NRI_E_NOT_FOUND:
        return "is not there";
    case NRI_E_PERMISSION:
        return "must be in a directory that this process may search";
    case NRI_E_INVALID:
        return "must be a character device, a block device or a FIFO";
    default:
        return "cannot be looked at";
    }
}

static int look_at(nri_adjustment *adjustment, const char *host_path, nri_host_look look,
                   void *context, struct nri_host_device *device)
{
    const struct nri_where field = {.name = "host device"};
    int code = nri_check_absolute(&adjustment->builder, &field, host_path);
    if (code != 0)
        return code;
    code = look(context, host_path, device);
    if (code != 0)
        code = nri_builder_refuse(&adjustment->builder, code, &field, host_path, rule_for(code));
    return code;
}

static int make_node(nri_adjustment *adjustment, const char *path,
                     const struct nri_host_device *device, const struct nri_node_rights *rights,
                     device_message **node)
{
    const char type[2] = {device->type, '\0'};
    return nri_make_device(&adjustment->builder, path, type, device->major, device->minor,
                           rights->file_mode != NULL ? rights->file_mode : &device->mode,
                           rights->uid != NULL ? rights->uid : &device->uid,
                           rights->gid != NULL ? rights->gid : &device->gid, node);
}

static int allow(nri_adjustment *adjustment, const struct nri_host_device *device,
                 const char *access, rule_message **rule)
{
    const char type[2] = {device->type, '\0'};
    nri_resources *resources = nri_adjustment_edit_resources(adjustment);
    if (resources == NULL)
        return adjustment->builder.arena->failure;
    return nri_resources_hold_device_rule(resources, type, device->major, device->minor,
                                          access != NULL ? access : "rwm", rule);
}

/* The rule, then the node; without the node the rule goes again. */
static int put(nri_adjustment *adjustment, const struct nri_host_device *device,
               device_message *node, const char *access)
{
    rule_message *rule = NULL;
    int code = 0;
    if (device->type != 'p') /* the device cgroup knows no FIFOs */
        code = allow(adjustment, device, access, &rule);
    if (code != 0)
        return code;
    code = nri_adjustment_put_device(adjustment, false, node, rule);
    if (code != 0 && rule != NULL)
        nri_resources_release_device_rule(nri_resources_builder_edit(&adjustment->resources), rule);
    return code;
}

int nri_adjustment_inject(nri_adjustment *adjustment, const char *host_path, const char *path,
                          const char *access, const struct nri_node_rights *rights,
                          nri_host_look look, void *context)
{
    struct nri_host_device device;
    device_message *node;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = look_at(adjustment, host_path, look, context, &device);
    if (code == 0)
        code = make_node(adjustment, path != NULL ? path : host_path, &device, rights, &node);
    return code == 0 ? put(adjustment, &device, node, access) : code;
}
