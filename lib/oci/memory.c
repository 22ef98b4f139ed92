/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linux.resources.memory. OCI's swap is memory and swap together, so a new limit alone would give
 * swap to a container that has none, or leave less together than the limit, which runtimes refuse:
 * where none is set along with the limit, the one in the document follows it.
 *
 * Go's generator knows the limit alone, not 0, and always makes swap the same.
 */
#include "oci/nouns.h"

NRI_OCI_PLACE(memory, resources, "memory");

typedef NRI_OCI_MESSAGE(LinuxMemory) memory_message;
typedef NRI_OCI_MESSAGE(OptionalInt64) int64_wrapper;
typedef NRI_OCI_MESSAGE(OptionalBool) bool_wrapper;

static void set_int64(struct nri_oci_edit *edit, struct nri_json *object, const char *key,
                      const int64_wrapper *number)
{
    if (number != NULL)
        nri_oci_set(edit, object, key, nri_oci_int64(edit, number->value));
}

static void set_bool(struct nri_oci_edit *edit, struct nri_json *object, const char *key,
                     const bool_wrapper *boolean)
{
    if (boolean != NULL)
        nri_oci_set(edit, object, key, nri_oci_bool(edit, boolean->value != 0));
}

/* A number of the document; false when it is absent. */
static bool number_of(struct nri_oci_edit *edit, const struct nri_json *object, const char *key,
                      int64_t *number)
{
    const struct nri_json_place place = {.parent = &memory_place, .name = key};
    const struct nri_json *value = nri_json_get(object, key);
    if (nri_json_type(value) == NRI_JSON_NULL ||
        !nri_oci_expect(edit, &place, value, NRI_JSON_NUMBER))
        return false;
    const int code = nri_json_int64(value, number);
    if (code != 0)
        nri_oci_blame(edit, &place, value, code, "must be an integer of 64 bits");
    return code == 0;
}

/* -1 and less are without limit. */
static bool less(int64_t a, int64_t b)
{
    return a >= 0 && (b < 0 || a < b);
}

static void let_swap_follow(struct nri_oci_edit *edit, struct nri_json *object, int64_t limit)
{
    int64_t old_limit, swap;
    if (!number_of(edit, object, "swap", &swap))
        return;
    const bool had_none = number_of(edit, object, "limit", &old_limit) && swap == old_limit;
    if (had_none || (swap != 0 && less(swap, limit)))
        nri_oci_set(edit, object, "swap", nri_oci_int64(edit, limit));
}

static void apply_as_go(struct nri_oci_edit *edit, const memory_message *memory)
{
    if (memory->limit == NULL || memory->limit->value == 0)
        return;
    struct nri_json *object = nri_oci_make(edit, &memory_place, NRI_JSON_OBJECT);
    set_int64(edit, object, "limit", memory->limit);
    set_int64(edit, object, "swap", memory->limit);
}

static bool has_any(const memory_message *memory)
{
    return memory->limit != NULL || memory->reservation != NULL || memory->swap != NULL ||
           memory->kernel != NULL || memory->kernel_tcp != NULL || memory->swappiness != NULL ||
           memory->disable_oom_killer != NULL || memory->use_hierarchy != NULL;
}

void nri_oci_apply_memory(struct nri_oci_edit *edit, const nri_oci_resources_part *resources)
{
    const memory_message *memory = resources->memory;
    if (memory == NULL || !has_any(memory))
        return;
    if (nri_oci_go(edit)) {
        apply_as_go(edit, memory);
        return;
    }
    struct nri_json *object = nri_oci_make(edit, &memory_place, NRI_JSON_OBJECT);
    if (memory->limit != NULL && memory->swap == NULL && object != NULL)
        let_swap_follow(edit, object, memory->limit->value);
    set_int64(edit, object, "limit", memory->limit);
    set_int64(edit, object, "reservation", memory->reservation);
    set_int64(edit, object, "swap", memory->swap);
    set_int64(edit, object, "kernel", memory->kernel);
    set_int64(edit, object, "kernelTCP", memory->kernel_tcp);
    if (memory->swappiness != NULL)
        nri_oci_set(edit, object, "swappiness", nri_oci_uint64(edit, memory->swappiness->value));
    set_bool(edit, object, "disableOOMKiller", memory->disable_oom_killer);
    set_bool(edit, object, "useHierarchy", memory->use_hierarchy);
}
