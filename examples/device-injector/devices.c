/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: nodes, CDI devices, network devices. */
#include "inject.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The major and minor numbers of Linux have 12 and 20 bits. */
#define LARGEST_MAJOR 0xfff
#define LARGEST_MINOR 0xfffff

/* A device node as an annotation asks for it. */
struct node {
    const char *path, *type;
    int64_t major, minor;
    uint32_t file_mode, uid, gid;
    bool has_type, has_major, has_minor, has_file_mode, has_uid, has_gid;
};

static bool read_id(struct values *values, const value *item, const char *member, int64_t largest,
                    uint32_t *id)
{
    int64_t number;
    const bool has = values_int(values, values_member(values, item, member), 0, largest, &number);
    *id = (uint32_t)number;
    return has;
}

static void read_node(struct values *values, const value *item, struct node *node)
{
    node->path = values_text(values, values_member(values, item, "path"));
    node->type = values_text(values, values_member(values, item, "type"));
    node->has_type = node->type[0] != '\0';
    node->has_major =
        values_int(values, values_member(values, item, "major"), 0, LARGEST_MAJOR, &node->major);
    node->has_minor =
        values_int(values, values_member(values, item, "minor"), 0, LARGEST_MINOR, &node->minor);
    node->has_uid = read_id(values, item, "uid", UINT32_MAX, &node->uid);
    node->has_gid = read_id(values, item, "gid", UINT32_MAX, &node->gid);
    /* A mode of 0 has always meant the runtime's own. */
    node->has_file_mode =
        read_id(values, item, "file_mode", 07777, &node->file_mode) && node->file_mode != 0;
    if (values->error[0] == '\0' && node->path[0] == '\0')
        values_fail(values, item, "path is missing");
}

/* A FIFO has no numbers and no access rules. */
static bool is_fifo(const struct node *node)
{
    return strcmp(node->type, "p") == 0;
}

static int add_given(nri_adjustment *adjustment, const struct node *node)
{
    const int code = nri_adjustment_add_device(
        adjustment, node->path, node->type, node->major, node->minor,
        node->has_file_mode ? &node->file_mode : NULL, node->has_uid ? &node->uid : NULL,
        node->has_gid ? &node->gid : NULL);
    if (code != 0 || is_fifo(node))
        return code;
    return nri_adjustment_add_device_rule(adjustment, true, node->type[0] == 'u' ? "c" : node->type,
                                          &node->major, &node->minor, "rwm");
}

/* The device is the host's; mode and owner may be given all the same. */
static int add_from_host(nri_adjustment *adjustment, const struct node *node)
{
    return nri_adjustment_inject_device_as(
        adjustment, node->path, NULL, NULL, node->has_file_mode ? &node->file_mode : NULL,
        node->has_uid ? &node->uid : NULL, node->has_gid ? &node->gid : NULL);
}

static void inject_device(struct injection *injection, const value *item)
{
    struct values *values = &injection->values;
    struct node node;
    read_node(values, item, &node);
    if (values->error[0] != '\0')
        return;
    const bool given = node.has_type && ((node.has_major && node.has_minor) || is_fifo(&node));
    if (!given && (node.has_type || node.has_major || node.has_minor)) {
        values_fail(values, item, "type, major and minor: all of them, or none for the host's");
        return;
    }
    const int code = given ? add_given(injection->adjustment, &node)
                           : add_from_host(injection->adjustment, &node);
    if (inject_built(injection, code, item))
        inject_say(injection, "device %s", node.path);
}

void inject_devices(struct injection *injection)
{
    static const char *const members[] = {"path",      "type", "major", "minor",
                                          "file_mode", "uid",  "gid"};
    inject_each(injection, members, COUNT(members), "path", inject_device);
}

static void inject_net_device(struct injection *injection, const value *item)
{
    struct values *values = &injection->values;
    const char *host = values_text(values, values_member(values, item, "hostIf"));
    const char *name = values_text(values, values_member(values, item, "name"));
    if (values->error[0] == '\0' &&
        inject_built(injection, nri_adjustment_add_net_device(injection->adjustment, host, name),
                     item))
        inject_say(injection, "network device %s as %s", host, name[0] == '\0' ? host : name);
}

void inject_net_devices(struct injection *injection)
{
    static const char *const members[] = {"hostIf", "name"};
    inject_each(injection, members, COUNT(members), "hostIf", inject_net_device);
}

void inject_cdi_devices(struct injection *injection)
{
    struct values *values = &injection->values;
    const value *list = values_root(values);
    for (size_t i = 0; i < values_count(values, list); i++) {
        const value *item = values_at(values, list, i);
        const char *name = values_text(values, item);
        if (values->error[0] == '\0' &&
            inject_built(injection, nri_adjustment_add_cdi_device(injection->adjustment, name),
                         item == NULL ? list : item))
            inject_say(injection, "CDI device %s", name);
    }
}
