/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths in a container, by their letters alone: which are the same, and which encloses which.
 */
#ifndef NRI_OCI_PATH_H
#define NRI_OCI_PATH_H

#include "base/arena.h"

/* The shortest spelling: no "." and no "..", where something is in front of it to go back from, no
 * empty parts; "." for nothing. A text with its length; NULL: the arena failed. */
char *nri_oci_path_clean(struct nri_arena *arena, const char *path, size_t length);
/* How many separators a clean path has: "/" and "/a" have one, "/a/b" two. */
size_t nri_oci_path_depth(const char *clean, size_t length);

#endif
