/* SPDX-License-Identifier: Apache-2.0 */
/* The store of the resources to be changed, and its single values; lists are in resources_lists.c.
 */
#include "model/resources_builder.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/cpu_list.h"
#include "model/resources_store.h"
#include "wire/message.h"

typedef Nri__Pkg__Api__V1alpha1__OptionalUInt64 optional_uint64;
typedef Nri__Pkg__Api__V1alpha1__OptionalInt64 optional_int64;
typedef Nri__Pkg__Api__V1alpha1__OptionalBool optional_bool;
typedef Nri__Pkg__Api__V1alpha1__OptionalString optional_string;

#define PLACE(member) offsetof(struct nri_resources_store, member)

/* What may be set: its name in errors, its place in the store, whether it belongs to the memory
 * part (else to the CPU part), its range. */
struct unsigned_value {
    const char *name;
    size_t place;
    bool memory;
    uint64_t least, most;
    const char *rule;
};

struct signed_value {
    const char *name;
    size_t place;
    bool memory;
    int64_t least;
    bool none; /* -1 is allowed too, and means "no limit" */
    const char *rule;
};

static const char bytes_or_none[] = "must be 0 bytes or more, or -1 for none";

static const struct unsigned_value cpu_shares = {"cpu shares", PLACE(cpu.shares),    false, 2,
                                                 262144,       "must be 2 to 262144"};
static const struct unsigned_value cpu_period = {
    "cpu period", PLACE(cpu.period), false, 1000, 1000000, "must be 1000 to 1000000 microseconds"};
static const struct unsigned_value cpu_realtime_period = {
    "cpu realtime period",          PLACE(cpu.realtime_period), false, 1, UINT64_MAX,
    "must be 1 microsecond or more"};
static const struct unsigned_value memory_swappiness = {
    "memory swappiness", PLACE(memory.swappiness), true, 0, 100, "must be 0 to 100"};

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
static const struct signed_value memory_limit = {"memory limit", PLACE(memory.limit), true, 0,
                                                 true,           bytes_or_none};
static const struct signed_value memory_reservation = {
    "memory reservation", PLACE(memory.reservation), true, 0, false, "must be 0 bytes or more"};
static const struct signed_value memory_swap = {"memory swap", PLACE(memory.swap), true, 0,
                                                true,          bytes_or_none};
static const struct signed_value memory_kernel = {
    "memory kernel", PLACE(memory.kernel), true, 0, true, bytes_or_none};
static const struct signed_value memory_kernel_tcp = {
    "memory kernel tcp", PLACE(memory.kernel_tcp), true, 0, true, bytes_or_none};

/* ---- the store ---- */

Nri__Pkg__Api__V1alpha1__LinuxResources *
nri_resources_builder_message(const struct nri_resources_builder *resources)
{
    struct nri_resources_store *store = resources->store;
    return store != NULL && store->used ? &store->resources : NULL;
}

struct nri_resources_store *nri_resources_store_of(nri_resources *resources)
{
    char *message = (void *)resources;
    return (void *)(message - offsetof(struct nri_resources_store, resources));
}

int nri_resources_enter(nri_resources *resources)
{
    return nri_builder_enter(resources != NULL ? nri_resources_store_of(resources)->builder : NULL);
}

struct nri_where nri_resources_where(const struct nri_resources_store *store, const char *name)
{
    return (struct nri_where){
        .within = store->container_id != NULL ? "update" : NULL,
        .key = store->container_id,
        .name = name,
    };
}

int nri_resources_refuse_memory(struct nri_resources_store *store, const char *name)
{
    struct nri_where where = nri_resources_where(store, name);
    return nri_builder_refuse_memory(store->builder, &where);
}

static void refuse_memory(const struct nri_resources_builder *resources)
{
    const struct nri_where where = {
        .within = resources->container_id != NULL ? "update" : NULL,
        .key = resources->container_id,
        .name = "resources",
    };
    (void)nri_builder_refuse_memory(resources->builder, &where);
}

/* One that is not the builder's yet; NULL on no memory, with the failed call kept. */
static struct nri_resources_store *make_store(const struct nri_resources_builder *resources)
{
    struct nri_resources_store *store = nri_arena_zero(resources->builder->arena, sizeof *store);
    if (store == NULL) {
        refuse_memory(resources);
        return NULL;
    }
    store->builder = resources->builder;
    store->container_id = resources->container_id;
    nri__pkg__api__v1alpha1__linux_resources__init(&store->resources);
    nri__pkg__api__v1alpha1__linux_cpu__init(&store->cpu);
    nri__pkg__api__v1alpha1__linux_memory__init(&store->memory);
    nri__pkg__api__v1alpha1__linux_pids__init(&store->pids);
    return store;
}

/* The parts become the store's, so that setters find them at their places. */
static void adopt(struct nri_resources_store *store,
                  const Nri__Pkg__Api__V1alpha1__LinuxResources *own)
{
    store->used = true;
    store->resources = *own;
    if (own->cpu != NULL) {
        store->cpu = *own->cpu;
        store->resources.cpu = &store->cpu;
    }
    if (own->memory != NULL) {
        store->memory = *own->memory;
        store->resources.memory = &store->memory;
    }
    if (own->pids != NULL) {
        store->pids = *own->pids;
        store->resources.pids = &store->pids;
    }
}

/* Setters write into what they find: into a copy, because whoever has read `from` keeps what he
 * read. */
static struct nri_resources_store *adopt_copy(const struct nri_resources_builder *resources,
                                              const Nri__Pkg__Api__V1alpha1__LinuxResources *from)
{
    struct nri_resources_store *store = make_store(resources);
    if (store == NULL)
        return NULL;
    const void *copy = nri_message_copy(&from->base, resources->builder->arena);
    if (copy == NULL) {
        refuse_memory(resources);
        return NULL;
    }
    adopt(store, copy);
    return store;
}

nri_resources *nri_resources_builder_adopt(struct nri_resources_builder *resources,
                                           const Nri__Pkg__Api__V1alpha1__LinuxResources *from)
{
    if (resources->store == NULL && from != NULL)
        resources->store = adopt_copy(resources, from);
    else if (resources->store == NULL)
        resources->store = make_store(resources);
    return resources->store != NULL ? (void *)&resources->store->resources : NULL;
}

/* Not by way of the function above, so that a plugin that adopts nothing need not hold the code
 * that copies messages. */
nri_resources *nri_resources_builder_edit(struct nri_resources_builder *resources)
{
    if (resources->store == NULL)
        resources->store = make_store(resources);
    return resources->store != NULL ? (void *)&resources->store->resources : NULL;
}

/* ---- the change, which follows all checks and allocations ---- */

static void *place_in(struct nri_resources_store *store, size_t place)
{
    return (char *)store + place;
}

static void use_part(struct nri_resources_store *store, bool memory)
{
    store->used = true;
    if (memory)
        store->resources.memory = &store->memory;
    else
        store->resources.cpu = &store->cpu;
}

/* ---- values of each kind ---- */

static int set_unsigned(nri_resources *resources, const struct unsigned_value *kind, uint64_t value)
{
    int code = nri_resources_enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = nri_resources_store_of(resources);
    if (value < kind->least || value > kind->most) {
        char number[24];
        struct nri_where where = nri_resources_where(store, kind->name);
        snprintf(number, sizeof number, "%" PRIu64, value);
        return nri_builder_refuse_number(store->builder, NRI_E_RANGE, &where, number, kind->rule);
    }
    optional_uint64 **place = place_in(store, kind->place);
    if (*place == NULL) {
        optional_uint64 *made = nri_arena_alloc(store->builder->arena, sizeof *made);
        if (made == NULL)
            return nri_resources_refuse_memory(store, kind->name);
        nri__pkg__api__v1alpha1__optional_uint64__init(made);
        *place = made;
    }
    (*place)->value = value;
    use_part(store, kind->memory);
    return 0;
}

static int refuse_signed(struct nri_resources_store *store, const char *name, int64_t value,
                         const char *rule)
{
    char number[24];
    struct nri_where where = nri_resources_where(store, name);
    snprintf(number, sizeof number, "%" PRId64, value);
    return nri_builder_refuse_number(store->builder, NRI_E_RANGE, &where, number, rule);
}

static int set_signed(nri_resources *resources, const struct signed_value *kind, int64_t value)
{
    int code = nri_resources_enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = nri_resources_store_of(resources);
    if (value < kind->least && !(kind->none && value == -1))
        return refuse_signed(store, kind->name, value, kind->rule);
    optional_int64 **place = place_in(store, kind->place);
    if (*place == NULL) {
        optional_int64 *made = nri_arena_alloc(store->builder->arena, sizeof *made);
        if (made == NULL)
            return nri_resources_refuse_memory(store, kind->name);
        nri__pkg__api__v1alpha1__optional_int64__init(made);
        *place = made;
    }
    (*place)->value = value;
    use_part(store, kind->memory);
    return 0;
}

static int set_memory_bool(nri_resources *resources, const char *name, size_t place, bool value)
{
    int code = nri_resources_enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = nri_resources_store_of(resources);
    optional_bool **slot = place_in(store, place);
    if (*slot == NULL) {
        optional_bool *made = nri_arena_alloc(store->builder->arena, sizeof *made);
        if (made == NULL)
            return nri_resources_refuse_memory(store, name);
        nri__pkg__api__v1alpha1__optional_bool__init(made);
        *slot = made;
    }
    (*slot)->value = value;
    use_part(store, true);
    return 0;
}

/* A class: "" is a value too, one that clears. */
static int set_class(nri_resources *resources, const char *name, size_t place, const char *value)
{
    int code = nri_resources_enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = nri_resources_store_of(resources);
    struct nri_where where = nri_resources_where(store, name);
    code = nri_builder_check_text(store->builder, &where, value);
    if (code != 0)
        return code;
    optional_string **slot = place_in(store, place);
    char *text = nri_builder_text(store->builder, value);
    optional_string *made = *slot;
    if (text != NULL && made == NULL) {
        made = nri_arena_alloc(store->builder->arena, sizeof *made);
        if (made != NULL)
            nri__pkg__api__v1alpha1__optional_string__init(made);
    }
    if (text == NULL || made == NULL)
        return nri_resources_refuse_memory(store, name);
    made->value = text;
    *slot = made;
    store->used = true;
    return 0;
}

static int check_cpu_list(struct nri_resources_store *store, const char *name, const char *list)
{
    const char *rule;
    char text[128];
    size_t offset;
    struct nri_where where = nri_resources_where(store, name);
    int code = nri_builder_check_filled(store->builder, &where, list);
    if (code != 0)
        return code;
    code = nri_cpu_list_check(list, &rule, &offset);
    if (code == 0)
        return 0;
    snprintf(text, sizeof text, "wrong at offset %zu: %s", offset, rule);
    return nri_builder_refuse(store->builder, code, &where, list, text);
}

static int set_cpu_list(nri_resources *resources, const char *name, size_t place, const char *list)
{
    int code = nri_resources_enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = nri_resources_store_of(resources);
    code = check_cpu_list(store, name, list);
    if (code != 0)
        return code;
    char *text = nri_builder_text(store->builder, list);
    if (text == NULL)
        return nri_resources_refuse_memory(store, name);
    char **slot = place_in(store, place);
    *slot = text;
    use_part(store, false);
    return 0;
}

/* ---- the setters ---- */

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
    return set_cpu_list(resources, "cpuset cpus", PLACE(cpu.cpus), cpus);
}

int nri_resources_set_cpuset_mems(nri_resources *resources, const char *mems)
{
    return set_cpu_list(resources, "cpuset mems", PLACE(cpu.mems), mems);
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

int nri_resources_set_memory_kernel(nri_resources *resources, int64_t bytes)
{
    return set_signed(resources, &memory_kernel, bytes);
}

int nri_resources_set_memory_kernel_tcp(nri_resources *resources, int64_t bytes)
{
    return set_signed(resources, &memory_kernel_tcp, bytes);
}

int nri_resources_set_memory_swappiness(nri_resources *resources, uint64_t swappiness)
{
    return set_unsigned(resources, &memory_swappiness, swappiness);
}

int nri_resources_set_memory_disable_oom_killer(nri_resources *resources, bool disable)
{
    return set_memory_bool(resources, "memory disable oom killer", PLACE(memory.disable_oom_killer),
                           disable);
}

int nri_resources_set_memory_use_hierarchy(nri_resources *resources, bool use)
{
    return set_memory_bool(resources, "memory use hierarchy", PLACE(memory.use_hierarchy), use);
}

int nri_resources_set_blockio_class(nri_resources *resources, const char *name)
{
    return set_class(resources, "blockio class", PLACE(resources.blockio_class), name);
}

int nri_resources_set_rdt_class(nri_resources *resources, const char *name)
{
    return set_class(resources, "rdt class", PLACE(resources.rdt_class), name);
}

int nri_resources_set_pids_limit(nri_resources *resources, int64_t limit)
{
    int code = nri_resources_enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = nri_resources_store_of(resources);
    if (limit < 1 && limit != -1)
        return refuse_signed(store, "pids limit", limit, "must be 1 or more, or -1 for none");
    store->pids.limit = limit;
    store->resources.pids = &store->pids;
    store->used = true;
    return 0;
}
