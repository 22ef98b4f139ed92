/* SPDX-License-Identifier: Apache-2.0 */
#include "model/device_set.h"

#include <stdlib.h>
#include <string.h>

#define LINEAR 16 /* up to so many devices nothing is sorted */

/* What a rule sees of a device. No padding, so that bytes are compared. */
struct nri_device_key {
    int64_t major, minor;
    int64_t type; /* 'c' or 'b'; 0: no rule allows such a one */
};

static int64_t type_of(const char *type)
{
    bool single = type[0] != '\0' && type[1] == '\0';
    if (single && type[0] == 'u') /* a character device too */
        return 'c';
    return single && (type[0] == 'c' || type[0] == 'b') ? type[0] : 0;
}

static struct nri_device_key key_of(const Nri__Pkg__Api__V1alpha1__LinuxDevice *device)
{
    return (struct nri_device_key){device->major, device->minor, type_of(device->type)};
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct nri_device_key));
}

static void swap(struct nri_device_key *a, struct nri_device_key *b)
{
    struct nri_device_key kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_down(struct nri_device_key *keys, size_t root, size_t count)
{
    for (size_t child = 2 * root + 1; child < count; root = child, child = 2 * root + 1) {
        if (child + 1 < count && compare(&keys[child], &keys[child + 1]) < 0)
            child++;
        if (compare(&keys[root], &keys[child]) >= 0)
            return;
        swap(&keys[root], &keys[child]);
    }
}

/* A heap sort: qsort() takes memory of its own behind the allocator's back, and a hash needs a seed
 * that a message which is only read has not. */
static void sort(struct nri_device_key *keys, size_t count)
{
    for (size_t root = count / 2; root-- > 0;)
        sift_down(keys, root, count);
    for (size_t last = count; last-- > 1;) {
        swap(&keys[0], &keys[last]);
        sift_down(keys, 0, last);
    }
}

void nri_device_set_open(struct nri_device_set *set,
                         Nri__Pkg__Api__V1alpha1__LinuxDevice *const *devices, size_t count,
                         const struct nri_alloc *alloc)
{
    *set = (struct nri_device_set){.devices = devices, .count = count, .alloc = *alloc};
    if (count <= LINEAR)
        return;
    /* Does not overflow: each device takes more memory than its key. */
    set->keys = nri_alloc_raw(alloc, count * sizeof set->keys[0]);
    if (set->keys == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        set->keys[i] = key_of(devices[i]);
    sort(set->keys, count);
}

void nri_device_set_close(struct nri_device_set *set)
{
    nri_alloc_release(&set->alloc, set->keys);
    set->keys = NULL;
}

bool nri_device_set_has(const struct nri_device_set *set,
                        const Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup *rule)
{
    if (!rule->allow || rule->major == NULL || rule->minor == NULL)
        return false;
    const struct nri_device_key wanted = {rule->major->value, rule->minor->value,
                                          strcmp(rule->type, "u") != 0 ? type_of(rule->type) : 0};
    if (wanted.type == 0)
        return false;
    if (set->keys != NULL)
        return bsearch(&wanted, set->keys, set->count, sizeof wanted, compare) != NULL;
    for (size_t i = 0; i < set->count; i++) {
        const struct nri_device_key key = key_of(set->devices[i]);
        if (compare(&key, &wanted) == 0)
            return true;
    }
    return false;
}
