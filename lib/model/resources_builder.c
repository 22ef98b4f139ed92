/* SPDX-License-Identifier: Apache-2.0 */
#include "model/resources_builder.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/cpu_list.h"

typedef Nri__Pkg__Api__V1alpha1__OptionalUInt64 optional_uint64;
typedef Nri__Pkg__Api__V1alpha1__OptionalInt64 optional_int64;

/* One piece for all messages that hold values; cpu and memory become part of resources with their
 * first value. */
struct nri_resources_store {
    struct nri_builder *builder;
    const char *container_id;
    Nri__Pkg__Api__V1alpha1__LinuxResources resources;
    Nri__Pkg__Api__V1alpha1__LinuxCPU cpu;
    Nri__Pkg__Api__V1alpha1__LinuxMemory memory;
};

#define PLACE(member) offsetof(struct nri_resources_store, member)

/* What may be set: its name in errors, its place in the store, its range. */
struct unsigned_value {
    const char *name;
    size_t place;
    uint64_t least, most;
    const char *rule;
};

struct signed_value {
    const char *name;
    size_t place;
    bool memory; /* belongs to the memory part, else to the CPU part */
    int64_t least;
    bool none; /* -1 is allowed too, and means "no limit" */
    const char *rule;
};

static const struct unsigned_value cpu_shares = {"cpu shares", PLACE(cpu.shares), 2, 262144,
                                                 "must be 2 to 262144"};
static const struct unsigned_value cpu_period = {"cpu period", PLACE(cpu.period), 1000, 1000000,
                                                 "must be 1000 to 1000000 microseconds"};
static const struct unsigned_value cpu_realtime_period = {"cpu realtime period",
                                                          PLACE(cpu.realtime_period), 1, UINT64_MAX,
                                                          "must be 1 microsecond or more"};

static const struct signed_value cpu_quota = {
    "cpu quota", PLACE(cpu.quota),
    false,       1000,
    true,        "must be 1000 microseconds or more, or -1 for none"};
static const struct signed_value cpu_realtime_runtime = {
    "cpu realtime runtime",
    PLACE(cpu.realtime_runtime),
    false,
    0,
    true,
    "must be 0 microseconds or more, or -1 for none"};
static const struct signed_value memory_limit = {
    "memory limit", PLACE(memory.limit), true, 0, true, "must be 0 bytes or more, or -1 for none"};
static const struct signed_value memory_reservation = {
    "memory reservation", PLACE(memory.reservation), true, 0, false, "must be 0 bytes or more"};
static const struct signed_value memory_swap = {
    "memory swap", PLACE(memory.swap), true, 0, true, "must be 0 bytes or more, or -1 for none"};

Nri__Pkg__Api__V1alpha1__LinuxResources *
nri_resources_builder_message(const struct nri_resources_builder *resources)
{
    struct nri_resources_store *store = resources->store;
    bool used = store != NULL && (store->resources.cpu != NULL || store->resources.memory != NULL);
    return used ? &store->resources : NULL;
}

nri_resources *nri_resources_builder_edit(struct nri_resources_builder *resources)
{
    const struct nri_where where = {
        .within = resources->container_id != NULL ? "update" : NULL,
        .key = resources->container_id,
        .name = "resources",
    };
    if (resources->store == NULL) {
        struct nri_resources_store *store =
            nri_arena_alloc(resources->builder->arena, sizeof *store);
        if (store == NULL) {
            (void)nri_builder_refuse_memory(resources->builder, &where);
            return NULL;
        }
        store->builder = resources->builder;
        store->container_id = resources->container_id;
        nri__pkg__api__v1alpha1__linux_resources__init(&store->resources);
        nri__pkg__api__v1alpha1__linux_cpu__init(&store->cpu);
        nri__pkg__api__v1alpha1__linux_memory__init(&store->memory);
        resources->store = store;
    }
    return (void *)&resources->store->resources;
}

static struct nri_resources_store *store_of(nri_resources *resources)
{
    char *message = (void *)resources;
    return (void *)(message - offsetof(struct nri_resources_store, resources));
}

/* nri_builder_enter() for resources that may be NULL. */
static int enter(nri_resources *resources)
{
    return nri_builder_enter(resources != NULL ? store_of(resources)->builder : NULL);
}

static struct nri_where where_of(const struct nri_resources_store *store, const char *name)
{
    return (struct nri_where){
        .within = store->container_id != NULL ? "update" : NULL,
        .key = store->container_id,
        .name = name,
    };
}

static int refuse_memory(struct nri_resources_store *store, const char *name)
{
    struct nri_where where = where_of(store, name);
    return nri_builder_refuse_memory(store->builder, &where);
}

static void *place_in(struct nri_resources_store *store, size_t place)
{
    return (char *)store + place;
}

static int set_unsigned(nri_resources *resources, const struct unsigned_value *kind, uint64_t value)
{
    int code = enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = store_of(resources);
    if (value < kind->least || value > kind->most) {
        char number[24];
        struct nri_where where = where_of(store, kind->name);
        snprintf(number, sizeof number, "%" PRIu64, value);
        return nri_builder_refuse_number(store->builder, NRI_E_RANGE, &where, number, kind->rule);
    }
    optional_uint64 **place = place_in(store, kind->place);
    if (*place == NULL) {
        optional_uint64 *made = nri_arena_alloc(store->builder->arena, sizeof *made);
        if (made == NULL)
            return refuse_memory(store, kind->name);
        nri__pkg__api__v1alpha1__optional_uint64__init(made);
        *place = made;
    }
    (*place)->value = value;
    store->resources.cpu = &store->cpu;
    return 0;
}

static int set_signed(nri_resources *resources, const struct signed_value *kind, int64_t value)
{
    int code = enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = store_of(resources);
    if (value < kind->least && !(kind->none && value == -1)) {
        char number[24];
        struct nri_where where = where_of(store, kind->name);
        snprintf(number, sizeof number, "%" PRId64, value);
        return nri_builder_refuse_number(store->builder, NRI_E_RANGE, &where, number, kind->rule);
    }
    optional_int64 **place = place_in(store, kind->place);
    if (*place == NULL) {
        optional_int64 *made = nri_arena_alloc(store->builder->arena, sizeof *made);
        if (made == NULL)
            return refuse_memory(store, kind->name);
        nri__pkg__api__v1alpha1__optional_int64__init(made);
        *place = made;
    }
    (*place)->value = value;
    if (kind->memory)
        store->resources.memory = &store->memory;
    else
        store->resources.cpu = &store->cpu;
    return 0;
}

static int check_list(struct nri_resources_store *store, const char *name, const char *list)
{
    const char *rule;
    char text[128];
    size_t offset;
    struct nri_where where = where_of(store, name);
    int code = nri_builder_check_filled(store->builder, &where, list);
    if (code != 0)
        return code;
    code = nri_cpu_list_check(list, &rule, &offset);
    if (code == 0)
        return 0;
    snprintf(text, sizeof text, "wrong at offset %zu: %s", offset, rule);
    return nri_builder_refuse(store->builder, code, &where, list, text);
}

static int set_list(nri_resources *resources, const char *name, size_t place, const char *list)
{
    int code = enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = store_of(resources);
    code = check_list(store, name, list);
    if (code != 0)
        return code;
    char *text = nri_builder_text(store->builder, list);
    if (text == NULL)
        return refuse_memory(store, name);
    char **slot = place_in(store, place);
    *slot = text;
    store->resources.cpu = &store->cpu;
    return 0;
}

int nri_resources_set_cpu_shares(nri_resources *resources, uint64_t shares)
{
    return set_unsigned(resources, &cpu_shares, shares);
}

int nri_resources_set_cpu_quota(nri_resources *resources, int64_t quota)
{
    return set_signed(resources, &cpu_quota, quota);
}

int nri_resources_set_cpu_period(nri_resources *resources, uint64_t period)
{
    return set_unsigned(resources, &cpu_period, period);
}

int nri_resources_set_cpu_realtime_runtime(nri_resources *resources, int64_t runtime)
{
    return set_signed(resources, &cpu_realtime_runtime, runtime);
}

int nri_resources_set_cpu_realtime_period(nri_resources *resources, uint64_t period)
{
    return set_unsigned(resources, &cpu_realtime_period, period);
}

int nri_resources_set_cpuset_cpus(nri_resources *resources, const char *cpus)
{
    return set_list(resources, "cpuset cpus", PLACE(cpu.cpus), cpus);
}

int nri_resources_set_cpuset_mems(nri_resources *resources, const char *mems)
{
    return set_list(resources, "cpuset mems", PLACE(cpu.mems), mems);
}

int nri_resources_set_memory_limit(nri_resources *resources, int64_t bytes)
{
    return set_signed(resources, &memory_limit, bytes);
}

int nri_resources_set_memory_reservation(nri_resources *resources, int64_t bytes)
{
    return set_signed(resources, &memory_reservation, bytes);
}

int nri_resources_set_memory_swap(nri_resources *resources, int64_t bytes)
{
    return set_signed(resources, &memory_swap, bytes);
}
