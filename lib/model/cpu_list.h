/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of CPUs or memory nodes, as the kernel reads them: numbers and ranges, separated by commas,
 * such as "0-3,7". No number is above NRI_CPUSET_LARGEST. */
#ifndef NRI_MODEL_CPU_LIST_H
#define NRI_MODEL_CPU_LIST_H

#include <stddef.h>

/* Reads one number or range at *at, which moves behind it, or to where it is wrong. 0; or
 * NRI_E_INVALID or NRI_E_RANGE; *rule is what would be right (static). */
int nri_cpu_list_range(const char **at, unsigned *first, unsigned *last, const char **rule);

/* Whether a whole list is what every runtime takes: not empty, and no blanks. 0; or NRI_E_INVALID
 * or NRI_E_RANGE with *rule and *offset set to where it is wrong. */
int nri_cpu_list_check(const char *text, const char **rule, size_t *offset);

#endif
