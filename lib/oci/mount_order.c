/* SPDX-License-Identifier: Apache-2.0 */
/* A merge sort: it keeps what is equal in order, and takes its memory where it is told to. */
#include "oci/mount_order.h"

#include <string.h>

#include "oci/path.h"

struct row {
    struct nri_json *mount;
    const char *destination;
    size_t depth;
};

static bool in_order(const struct row *a, const struct row *b)
{
    if (a->depth != b->depth)
        return a->depth < b->depth;
    return strcmp(a->destination, b->destination) <= 0;
}

static void merge(const struct row *from, struct row *to, size_t start, size_t middle, size_t end)
{
    size_t left = start, right = middle;
    for (size_t i = start; i < end; i++) {
        if (right >= end || (left < middle && in_order(&from[left], &from[right])))
            to[i] = from[left++];
        else
            to[i] = from[right++];
    }
}

/* The sorted rows: in one of the two. */
static struct row *sort(struct row *rows, struct row *other, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            const size_t middle = start + width < count ? start + width : count;
            const size_t end = middle + width < count ? middle + width : count;
            merge(rows, other, start, middle, end);
        }
        struct row *sorted = other;
        other = rows;
        rows = sorted;
    }
    return rows;
}

void nri_oci_mounts_sort(struct nri_oci_edit *edit, struct nri_json *mounts)
{
    const size_t count = nri_json_count(mounts);
    struct row *rows = nri_oci_alloc(edit, count, 2 * sizeof *rows);
    for (size_t i = 0; i < count && edit->failure == 0; i++) {
        size_t length;
        rows[i].mount = nri_json_at(mounts, i);
        rows[i].destination = nri_json_string(nri_json_get(rows[i].mount, "destination"), &length);
        const char *clean = nri_oci_path_clean(edit->source.arena, rows[i].destination, length);
        if (clean == NULL)
            nri_oci_no_memory(edit);
        else
            rows[i].depth = nri_oci_path_depth(clean, strlen(clean));
    }
    if (edit->failure != 0)
        return;
    const struct row *sorted = sort(rows, rows + count, count);
    for (size_t i = 0; i < count; i++)
        (void)nri_json_put(mounts, i, sorted[i].mount);
}
