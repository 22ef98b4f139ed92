/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of one reading of a configuration: taken piece by piece, given back as a whole. */
#ifndef NRI_APP_CONFIG_REGION_H
#define NRI_APP_CONFIG_REGION_H

#include <stddef.h>

struct app_region_block;

/* All zero is an empty one. */
struct app_region {
    struct app_region_block *blocks;
    size_t used, room; /* of the newest block, in bytes */
};

/* Zeroed memory for anything, which lives as long as the region; NULL when there is none left. */
void *app_region_take(struct app_region *region, size_t size);
/* The same for `count` things. */
void *app_region_take_many(struct app_region *region, size_t count, size_t size);
/* A copy of `length` bytes with a NUL behind them; NULL when there is no memory. */
char *app_region_text(struct app_region *region, const char *text, size_t length);
/* Gives everything back; the region is empty again. */
void app_region_fini(struct app_region *region);

#endif
