/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Sets of CPUs or memory nodes.
 *
 * Numbers go from 0 to NRI_CPUSET_LARGEST. A set is for one thread at a time. A NULL set reads as
 * an empty one; functions that change one give NRI_E_INVALID for NULL.
 */
#ifndef NRI_CPUSET_H
#define NRI_CPUSET_H

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/error.h>

NRI_BEGIN_DECLS

/** The largest number in a set, and in the lists that builders take
 * (nri_adjustment_set_cpuset_cpus()): far above any kernel's limit, and a set that holds it takes
 * 128 KiB. */
#define NRI_CPUSET_LARGEST 1048575u

/** The longest list that is read into a set, in bytes: no set is written longer by
 * nri_cpuset_format(). Since 0.1.0. */
#define NRI_CPUSET_TEXT_LARGEST 5242880u

/**
 * Makes an empty set, which nri_cpuset_free() frees.
 * @param set set to the set; NULL on an error
 * @param allocator where its memory comes from; copied; NULL for the C library's
 * @return 0, NRI_E_INVALID, NRI_E_ABI, NRI_E_NOMEM. Since 0.1.0.
 */
NRI_API int nri_cpuset_new(nri_cpuset **set, const struct nri_allocator *allocator) NRI_WARN_UNUSED;
/** Frees a set. NULL is ignored. Returns NULL. Since 0.1.0. */
NRI_API nri_cpuset *nri_cpuset_free(nri_cpuset *set);
/**
 * Sets a set to what a list says, such as "0-3,7": numbers and ranges separated by commas, blanks
 * around them allowed, in any order, overlaps allowed; "" is the empty set.
 * @param set the set; unchanged on an error
 * @param list the list, of at most NRI_CPUSET_TEXT_LARGEST bytes. Time goes with its length and
 * with its largest number, not with how much its ranges hold
 * @param error set to an error that names the list, the offset and what would be right; may be
 * NULL
 * @return 0, NRI_E_INVALID, NRI_E_SYNTAX, NRI_E_RANGE, NRI_E_LIMIT (too long), NRI_E_NOMEM. Since
 * 0.1.0.
 */
NRI_API int nri_cpuset_parse(nri_cpuset *set, const char *list, nri_error **error);
/**
 * Writes a set as the shortest list, such as "0-3,7".
 * @param set the set
 * @param text where to write, always NUL-terminated if `size` is not 0
 * @param size the room there, in bytes
 * @return the length of the whole list in bytes, without the NUL, as snprintf() does. Since 0.1.0.
 */
NRI_API size_t nri_cpuset_format(const nri_cpuset *set, char *text, size_t size);
/** Adds a number. Returns 0, NRI_E_INVALID, NRI_E_RANGE, NRI_E_NOMEM; the set is unchanged on an
 * error, as by all functions here. Since 0.1.0. */
NRI_API int nri_cpuset_add(nri_cpuset *set, unsigned number);
/** Takes a number out, if it is there. Returns 0 or NRI_E_INVALID. Since 0.1.0. */
NRI_API int nri_cpuset_remove(nri_cpuset *set, unsigned number);
/** Empties a set. Returns 0 or NRI_E_INVALID. Since 0.1.0. */
NRI_API int nri_cpuset_clear(nri_cpuset *set);
/** Sets a set to what another holds. Returns 0, NRI_E_INVALID, NRI_E_NOMEM. Since 0.1.0. */
NRI_API int nri_cpuset_copy(nri_cpuset *set, const nri_cpuset *from);
/** Adds all that another set holds. Returns 0, NRI_E_INVALID, NRI_E_NOMEM. Since 0.1.0. */
NRI_API int nri_cpuset_union(nri_cpuset *set, const nri_cpuset *other);
/** Takes out all that another set holds. Returns 0 or NRI_E_INVALID. Since 0.1.0. */
NRI_API int nri_cpuset_minus(nri_cpuset *set, const nri_cpuset *other);
/** Keeps only what another set holds too. Returns 0 or NRI_E_INVALID. Since 0.1.0. */
NRI_API int nri_cpuset_intersect(nri_cpuset *set, const nri_cpuset *other);
/** Whether a number is in a set. Since 0.1.0. */
NRI_API bool nri_cpuset_contains(const nri_cpuset *set, unsigned number);
/** Whether all that `part` holds is in `set`. Since 0.1.0. */
NRI_API bool nri_cpuset_includes(const nri_cpuset *set, const nri_cpuset *part);
/** Whether two sets hold the same. Since 0.1.0. */
NRI_API bool nri_cpuset_equal(const nri_cpuset *a, const nri_cpuset *b);
/** How many numbers a set holds. Since 0.1.0. */
NRI_API size_t nri_cpuset_count(const nri_cpuset *set);
/** The smallest number in a set that is at least `from`; false when there is none. To go over all,
 * start with 0 and go on with the number found plus 1. Since 0.1.0. */
NRI_API bool nri_cpuset_next(const nri_cpuset *set, unsigned from, unsigned *number);

NRI_END_DECLS

#endif
