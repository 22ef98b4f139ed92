/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/state_set.h"

#include <string.h>

static void append(struct nri_state_list *list, struct nri_state_node *node)
{
    node->previous = list->last;
    node->next = NULL;
    if (list->last != NULL)
        list->last->next = node;
    else
        list->first = node;
    list->last = node;
    list->count++;
}

static void take_out(struct nri_state_list *list, struct nri_state_node *node)
{
    if (node->previous != NULL)
        node->previous->next = node->next;
    else
        list->first = node->next;
    if (node->next != NULL)
        node->next->previous = node->previous;
    else
        list->last = node->previous;
    node->previous = node->next = NULL;
    list->count--;
}

void nri_state_set_init(struct nri_state_set *set, const struct nri_alloc *alloc,
                        const uint64_t seed[2])
{
    *set = (struct nri_state_set){0};
    nri_map_init(&set->nodes, alloc, seed);
}

void nri_state_set_fini(struct nri_state_set *set)
{
    nri_map_fini(&set->nodes);
}

void *nri_state_set_find(const struct nri_state_set *set, const char *id, size_t length)
{
    return nri_map_get(&set->nodes, id, length);
}

void *nri_state_set_add(struct nri_state_set *set, size_t size, const char *id, size_t length)
{
    const struct nri_alloc *alloc = &set->nodes.alloc;
    struct nri_state_node *node = nri_alloc_zero(alloc, size + length + 1);
    if (node == NULL)
        return NULL;
    node->id = (char *)node + size;
    node->id_length = length;
    memcpy(node->id, id, length);
    if (nri_map_set(&set->nodes, node->id, length, node, NULL) != 0) {
        nri_alloc_release(alloc, node);
        return NULL;
    }
    return node;
}

void nri_state_set_drop(struct nri_state_set *set, struct nri_state_node *node)
{
    (void)nri_map_remove(&set->nodes, node->id, node->id_length);
    nri_alloc_release(&set->nodes.alloc, node);
}

void nri_state_set_enliven(struct nri_state_set *set, struct nri_state_node *node)
{
    if (node->presence == NRI_STATE_GONE)
        take_out(&set->gone, node);
    append(&set->live, node);
    node->presence = NRI_STATE_LIVE;
}

void nri_state_set_withdraw(struct nri_state_set *set, struct nri_state_node *node)
{
    take_out(&set->live, node);
    node->presence = NRI_STATE_REFERRED;
}

void nri_state_set_remember(struct nri_state_set *set, struct nri_state_node *node)
{
    append(&set->gone, node);
    node->presence = NRI_STATE_GONE;
}

void *nri_state_set_forget(struct nri_state_set *set, size_t most)
{
    struct nri_state_node *node = set->gone.first;
    if (set->gone.count <= most)
        return NULL;
    take_out(&set->gone, node);
    node->presence = NRI_STATE_REFERRED;
    return node;
}
