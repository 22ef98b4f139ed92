/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the device cgroup (linux.resources.devices), of which a later one overrides an
 * earlier one.
 */
#ifndef NRI_OCI_RULES_H
#define NRI_OCI_RULES_H

#include "base/map.h"
#include "oci/edit.h"

struct nri_oci_rule {
    bool allow;
    const char *type, *access;
    const int64_t *major, *minor; /* NULL: all */
};

/* What is in the document, so that a rule is not added where it would change nothing. */
struct nri_oci_rules {
    struct nri_json *array; /* NULL until there is a rule to add */
    struct nri_map latest;  /* of a rule its position + 1 */
    size_t latest_other[2]; /* position + 1 of the last rule that denies, and that allows */
};

#define NRI_OCI_RULE_SHOWN 80
/* A rule as a text, the same for the same rule alone; NULL without memory. */
const char *nri_oci_rule_show(struct nri_oci_edit *edit, const struct nri_oci_rule *rule);
/* The type and numbers alone, of a device. */
void nri_oci_rule_show_device(char shown[NRI_OCI_RULE_SHOWN], char type, int64_t major,
                              int64_t minor);

void nri_oci_rules_begin(struct nri_oci_rules *rules, struct nri_oci_edit *edit);
/* Adds a rule at the end, unless the same one is there with none behind it that does the opposite.
 * Go's generator adds each. */
void nri_oci_rules_add(struct nri_oci_rules *rules, struct nri_oci_edit *edit,
                       const struct nri_oci_where *where, const struct nri_oci_rule *rule);
/* Removes the rules that allow exactly one of these devices, each shown by
 * nri_oci_rule_show_device(). Before nri_oci_rules_begin(). */
void nri_oci_rules_revoke(struct nri_oci_edit *edit, const struct nri_map *devices);

#endif
