/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The word that is meant by a misspelt one.
 */
#ifndef NRICTL_NEAR_H
#define NRICTL_NEAR_H

#include <stddef.h>

/* How many letters have to be changed, added, dropped or swapped with their neighbour; words longer
 * than 63 bytes are compared as far as that. Case does not count, nor do - and _. */
size_t near_distance(const char *a, const char *b);

/* The best of several: offered one by one. */
struct near {
    const char *word, *best;
    size_t distance;
};
void near_begin(struct near *near, const char *word);
void near_offer(struct near *near, const char *candidate);
/* NULL: none is near enough to be meant. */
const char *near_end(const struct near *near);

#endif
