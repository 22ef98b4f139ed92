/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of CPUs or memory nodes, as the kernel reads them: numbers and ranges, separated by commas,
 * such as "0-3,7". */
#ifndef NRI_MODEL_CPU_LIST_H
#define NRI_MODEL_CPU_LIST_H

#include <stddef.h>

#define NRI_CPU_LIST_LARGEST                                                                       \
    1048575u /* far above any kernel's limit; keeps a slip such as "07000000" from passing */

/* 0; or NRI_E_INVALID or NRI_E_RANGE with *rule set to what would be right (static) and *offset to
 * where it is wrong. */
int nri_cpu_list_check(const char *text, const char **rule, size_t *offset);

#endif
