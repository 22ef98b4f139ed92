/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Kubernetes quantities, and the arithmetic from CPUs to cgroup values. All functions are
 * thread-safe; overflow never wraps.
 */
#ifndef NRI_QUANTITY_H
#define NRI_QUANTITY_H

#include <nri/api.h>
#include <nri/error.h>

NRI_BEGIN_DECLS

/**
 * Reads a Kubernetes quantity in whole units, rounded up (away from zero): digits with an optional
 * sign, point and suffix: n u m, k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as "e3", "E3"
 * or "e-3" (an "E" without digits behind is the suffix). A digit must be there; "5." and ".5" do.
 * Case counts: "K" is none.
 * @param text the quantity, such as "2Gi", "1.5G", "100m"
 * @param value set to the value; unchanged on an error
 * @param error set to an error that says where and what would be right; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_SYNTAX, NRI_E_RANGE (does not fit; Kubernetes would cap some),
 * NRI_E_NOMEM. Since 0.1.0.
 */
NRI_API int nri_quantity_parse(const char *text, int64_t *value, nri_error **error);
/** Reads a quantity in thousandths: "100m" is 100, "1.5" is 1500. As nri_quantity_parse(). Since
 * 0.1.0. */
NRI_API int nri_quantity_parse_milli(const char *text, int64_t *value, nri_error **error);
/**
 * Writes whole units in Kubernetes' canonical form with binary suffixes, such as "2Gi" or "1500";
 * below 1024 that form has decimal ones, so that 1000 is "1k". nri_quantity_parse() reads it back.
 * @param value the value
 * @param text where to write, always NUL-terminated if `size` is not 0
 * @param size the room there, in bytes
 * @return the length of the whole text in bytes, as snprintf() does. Since 0.1.0.
 */
NRI_API size_t nri_quantity_format(int64_t value, char *text, size_t size);
/** Writes thousandths in canonical form, such as "100m" or "2". As nri_quantity_format(). Since
 * 0.1.0. */
NRI_API size_t nri_quantity_format_milli(int64_t value, char *text, size_t size);

/** CPU shares (2 to 262144) for a number of thousandths of a CPU, as Kubernetes counts: 1000 gives
 * 1024; less than 2 gives 2, more than 262144 gives 262144. Since 0.1.0. */
NRI_API uint64_t nri_cpu_milli_to_shares(uint64_t milli);
/** Thousandths of a CPU for CPU shares, rounded up. Since 0.1.0. */
NRI_API uint64_t nri_cpu_shares_to_milli(uint64_t shares);
/** CPU quota in microseconds for a number of thousandths of a CPU, at least 1000; -1, no limit, for
 * 0. `period` is in microseconds, 0 for 100000. Since 0.1.0. */
NRI_API int64_t nri_cpu_milli_to_quota(uint64_t milli, uint64_t period);
/** Thousandths of a CPU for a quota and period in microseconds, rounded down; 0 for no limit (a
 * quota below 1). `period` 0 for 100000. UINT64_MAX for what is over 64 bits. Since 0.1.0. */
NRI_API uint64_t nri_cpu_quota_to_milli(int64_t quota, uint64_t period);
/** The cgroup v2 cpu.weight (1 to 10000) for CPU shares, by the linear formula of the OCI runtimes:
 * 1 + (shares - 2) * 9999 / 262142; 0, not set, for 0. Shares below 2 count as 2, above 262144 as
 * 262144. Since 0.1.0. */
NRI_API uint64_t nri_cpu_shares_to_weight(uint64_t shares);
/** The smallest CPU shares that give a cgroup v2 cpu.weight; 0 for 0. Weights above 10000 count as
 * 10000. Since 0.1.0. */
NRI_API uint64_t nri_cpu_weight_to_shares(uint64_t weight);

NRI_END_DECLS

#endif
