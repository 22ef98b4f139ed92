/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of all that a plugin can set, in the order in which Go applies it, which decides what
 * conflict is found first: where it stands in a reply, in the merged reply and in the container
 * that the next plugin sees, and how it is merged.
 */
#ifndef NRI_RUNTIME_RULE_H
#define NRI_RUNTIME_RULE_H

#include <nri/field.h>
#include <stddef.h>
#include <stdint.h>

/* How a field is merged. */
enum nri_rule_kind {
    NRI_RULE_MESSAGE, /* a message, there or not */
    NRI_RULE_TEXT,    /* a string, not empty or not there */
    NRI_RULE_ENTRIES, /* a list with keys; a removal is forwarded only when nothing is set instead
                       */
    NRI_RULE_MAP,     /* a map; a removal is always forwarded */
    NRI_RULE_CLAIMED, /* a list with keys in which a removal is owned as a set is: namespaces */
    NRI_RULE_ADDED,   /* a list with keys from which nothing is removed */
    NRI_RULE_UNOWNED, /* a list that nobody owns: rules of the device cgroup */
    NRI_RULE_ARGS,
    NRI_RULE_HOOKS,
    NRI_RULE_RDT
};

/* The messages that have such fields: of a ContainerAdjustment, in the order from the outside. */
enum nri_part {
    NRI_PART_ADJUST,    /* ContainerAdjustment; of a container: Container */
    NRI_PART_LINUX,     /* LinuxContainerAdjustment; LinuxContainer */
    NRI_PART_RESOURCES, /* LinuxResources */
    NRI_PART_MEMORY,    /* LinuxMemory */
    NRI_PART_CPU,       /* LinuxCPU */
    NRI_PARTS
};

/* The lists that are collected. An update has the first two. */
enum nri_list {
    NRI_LIST_HUGEPAGES,
    NRI_LIST_UNIFIED,
    NRI_LISTS_OF_UPDATE,
    NRI_LIST_DEVICE_RULES = NRI_LISTS_OF_UPDATE,
    NRI_LIST_ANNOTATIONS,
    NRI_LIST_MOUNTS,
    NRI_LIST_ENV,
    NRI_LIST_DEVICES,
    NRI_LIST_NAMESPACES,
    NRI_LIST_SYSCTL,
    NRI_LIST_NET_DEVICES,
    NRI_LIST_RLIMITS,
    NRI_LIST_CDI_DEVICES,
    NRI_LISTS
};

#define NRI_NOT_SEEN UINT16_MAX /* an offset: the container does not have it */

struct nri_rule {
    uint8_t kind;              /* an nri_rule_kind */
    uint8_t part;              /* an nri_part */
    uint8_t list;              /* an nri_list, for lists */
    uint8_t field;             /* an nri_field */
    uint16_t member, count;    /* offsets of the member and of a list's count in the part */
    uint16_t seen, seen_count; /* the same in the container */
};

extern const struct nri_rule nri_rules[];
extern const size_t nri_rule_count;

/* The parts of an adjustment; NULL: not there. */
void nri_parts_of(const void *parts[NRI_PARTS], const void *adjust);
/* The same of resources. */
void nri_parts_of_resources(const void *parts[NRI_PARTS], const void *resources);

/* The pointer that a part's member is: to a message, a text or a list. */
void *nri_rule_pointer(const void *part, uint16_t offset);
void nri_rule_set_pointer(void *part, uint16_t offset, const void *pointer);
size_t nri_rule_number(const void *part, uint16_t offset);
void nri_rule_set_number(void *part, uint16_t offset, size_t number);

#endif
