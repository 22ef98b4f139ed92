/* SPDX-License-Identifier: Apache-2.0 */
#include "config_region.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 4000 /* with the head and malloc()'s own within a page */

struct app_region_block {
    struct app_region_block *next;
    _Alignas(max_align_t) unsigned char bytes[];
};

static void *take_block(struct app_region *region, size_t size)
{
    size_t room = size > BLOCK ? size : BLOCK;
    if (room > SIZE_MAX - sizeof(struct app_region_block))
        return NULL;
    struct app_region_block *block = calloc(1, sizeof *block + room);
    if (block == NULL)
        return NULL;
    block->next = region->blocks;
    region->blocks = block;
    region->room = room;
    region->used = size;
    return block->bytes;
}

void *app_region_take(struct app_region *region, size_t size)
{
    const size_t unit = _Alignof(max_align_t);
    if (size > SIZE_MAX - unit)
        return NULL;
    size = size == 0 ? unit : (size + unit - 1) / unit * unit;
    if (region->blocks == NULL || size > region->room - region->used)
        return take_block(region, size);
    void *piece = region->blocks->bytes + region->used;
    region->used += size;
    return piece;
}

void *app_region_take_many(struct app_region *region, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return app_region_take(region, count * size);
}

char *app_region_text(struct app_region *region, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? app_region_take(region, length + 1) : NULL;
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

void app_region_fini(struct app_region *region)
{
    while (region->blocks != NULL) {
        struct app_region_block *next = region->blocks->next;
        free(region->blocks);
        region->blocks = next;
    }
    region->used = 0;
    region->room = 0;
}
