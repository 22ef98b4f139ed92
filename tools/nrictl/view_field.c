/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in a view each field stands that plugins set.
 */
#include <stdio.h>
#include <string.h>

#include "view.h"

enum kind {
    KIND_PLAIN,   /* one value */
    KIND_MEMBERS, /* an object: a value a key */
    KIND_LIST     /* a list of elements with keys */
};

struct field_place {
    const char *path; /* at most four members */
    enum kind kind;
    unsigned list; /* its place among VIEW_LISTS */
};

static const struct field_place places[] = {
    /* The rules of the device cgroup, which nobody owns. */
    [NRI_FIELD_NONE] = {"linux.resources.devices", KIND_PLAIN, 0},
    [NRI_FIELD_ANNOTATIONS] = {"annotations", KIND_MEMBERS, 0},
    [NRI_FIELD_MOUNTS] = {"mounts", KIND_LIST, 0},
    [NRI_FIELD_OCI_HOOKS] = {"hooks", KIND_PLAIN, 0},
    [NRI_FIELD_DEVICES] = {"linux.devices", KIND_LIST, 1},
    [NRI_FIELD_CDI_DEVICES] = {"nri.CDI_devices", KIND_LIST, 2},
    [NRI_FIELD_ENV] = {"process.env", KIND_LIST, 3},
    [NRI_FIELD_ARGS] = {"process.args", KIND_PLAIN, 0},
    [NRI_FIELD_MEM_LIMIT] = {"linux.resources.memory.limit", KIND_PLAIN, 0},
    [NRI_FIELD_MEM_RESERVATION] = {"linux.resources.memory.reservation", KIND_PLAIN, 0},
    [NRI_FIELD_MEM_SWAP_LIMIT] = {"linux.resources.memory.swap", KIND_PLAIN, 0},
    [NRI_FIELD_MEM_KERNEL_LIMIT] = {"linux.resources.memory.kernel", KIND_PLAIN, 0},
    [NRI_FIELD_MEM_TCP_LIMIT] = {"linux.resources.memory.kernelTCP", KIND_PLAIN, 0},
    [NRI_FIELD_MEM_SWAPPINESS] = {"linux.resources.memory.swappiness", KIND_PLAIN, 0},
    [NRI_FIELD_MEM_DISABLE_OOM_KILLER] = {"linux.resources.memory.disableOOMKiller", KIND_PLAIN, 0},
    [NRI_FIELD_MEM_USE_HIERARCHY] = {"linux.resources.memory.useHierarchy", KIND_PLAIN, 0},
    [NRI_FIELD_CPU_SHARES] = {"linux.resources.cpu.shares", KIND_PLAIN, 0},
    [NRI_FIELD_CPU_QUOTA] = {"linux.resources.cpu.quota", KIND_PLAIN, 0},
    [NRI_FIELD_CPU_PERIOD] = {"linux.resources.cpu.period", KIND_PLAIN, 0},
    [NRI_FIELD_CPU_REALTIME_RUNTIME] = {"linux.resources.cpu.realtimeRuntime", KIND_PLAIN, 0},
    [NRI_FIELD_CPU_REALTIME_PERIOD] = {"linux.resources.cpu.realtimePeriod", KIND_PLAIN, 0},
    [NRI_FIELD_CPUSET_CPUS] = {"linux.resources.cpu.cpus", KIND_PLAIN, 0},
    [NRI_FIELD_CPUSET_MEMS] = {"linux.resources.cpu.mems", KIND_PLAIN, 0},
    [NRI_FIELD_PIDS_LIMIT] = {"linux.resources.pids.limit", KIND_PLAIN, 0},
    [NRI_FIELD_HUGEPAGE_LIMITS] = {"linux.resources.hugepageLimits", KIND_LIST, 4},
    [NRI_FIELD_BLOCKIO_CLASS] = {"nri.blockio_class", KIND_PLAIN, 0},
    [NRI_FIELD_RDT_CLASS] = {"nri.rdt_class", KIND_PLAIN, 0},
    [NRI_FIELD_CGROUPS_UNIFIED] = {"linux.resources.unified", KIND_MEMBERS, 0},
    [NRI_FIELD_CGROUPS_PATH] = {"linux.cgroupsPath", KIND_PLAIN, 0},
    [NRI_FIELD_OOM_SCORE_ADJ] = {"process.oomScoreAdj", KIND_PLAIN, 0},
    [NRI_FIELD_RLIMITS] = {"process.rlimits", KIND_LIST, 5},
    [NRI_FIELD_IO_PRIORITY] = {"process.ioPriority", KIND_PLAIN, 0},
    [NRI_FIELD_SECCOMP_POLICY] = {"linux.seccomp", KIND_PLAIN, 0},
    [NRI_FIELD_NAMESPACE] = {"linux.namespaces", KIND_LIST, 6},
    [NRI_FIELD_SYSCTL] = {"linux.sysctl", KIND_MEMBERS, 0},
    [NRI_FIELD_LINUX_NET_DEVICES] = {"linux.netDevices", KIND_MEMBERS, 0},
    [NRI_FIELD_LINUX_SCHED] = {"process.scheduler", KIND_PLAIN, 0},
    [NRI_FIELD_RDT_CLOS_ID] = {"linux.intelRdt.closID", KIND_PLAIN, 0},
    [NRI_FIELD_RDT_SCHEMATA] = {"linux.intelRdt.schemata", KIND_PLAIN, 0},
    [NRI_FIELD_RDT_ENABLE_MONITORING] = {"linux.intelRdt.enableMonitoring", KIND_PLAIN, 0},
    [NRI_FIELD_MEMORY_POLICY] = {"linux.memoryPolicy", KIND_PLAIN, 0},
};

static const struct field_place *place_of(int field)
{
    const bool known = field >= 0 && (size_t)field < sizeof places / sizeof *places;
    return known && places[field].path != NULL ? &places[field] : NULL;
}

const char *view_field_path(int field)
{
    const struct field_place *place = place_of(field);
    return place != NULL ? place->path : NULL;
}

bool view_field_keyed(int field)
{
    const struct field_place *place = place_of(field);
    return place != NULL && place->kind != KIND_PLAIN;
}

/* The value at a path, and the name of the member that holds it. */
static const struct nri_json *walk(const struct nri_json *value, const char *path,
                                   const char **last)
{
    char name[32];
    for (;;) {
        const size_t length = strcspn(path, ".");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, path);
        value = nri_json_get(value, name);
        *last = path;
        if (path[length] == '\0')
            return value;
        path += length + 1;
    }
}

static int find_element(const struct view *view, struct view_document *document,
                        const struct field_place *place, const struct nri_json *list,
                        const char *name, const char *key, const struct nri_json **value)
{
    struct element_index **index = &document->lists[place->list];
    if (*index == NULL) {
        struct element_index *made = nri_arena_alloc(view->arena, sizeof *made);
        if (made == NULL)
            return view->arena->failure;
        const int code = element_index_make(made, view->arena, view->seed,
                                            element_form(name, strlen(name)), list);
        if (code != 0)
            return code;
        *index = made;
    }
    *value = element_index_last(*index, key, strlen(key));
    return 0;
}

int view_value(const struct view *view, struct view_document *document, int field, const char *key,
               const struct nri_json **value)
{
    const struct field_place *place = place_of(field);
    const char *name;
    *value = NULL;
    const struct nri_json *found = place != NULL ? walk(document->root, place->path, &name) : NULL;
    if (found == NULL)
        return 0;
    if (place->kind == KIND_LIST)
        return find_element(view, document, place, found, name, key, value);
    *value = place->kind == KIND_MEMBERS ? nri_json_get(found, key) : found;
    return 0;
}
