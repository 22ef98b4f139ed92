/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/slots.h"

#include <string.h>

#include "runtime/key.h"

#define FIRST_ROOM 8

bool nri_slots_add(struct nri_slots *slots, struct nri_arena *arena, void *item, size_t *slot)
{
    if (slots->count == slots->room) {
        size_t room = slots->room == 0 ? FIRST_ROOM : slots->room * 2;
        void **items = nri_arena_array(arena, room, sizeof *items);
        if (items == NULL)
            return false;
        if (slots->count > 0)
            memcpy(items, slots->items, slots->count * sizeof *items);
        slots->items = items;
        slots->room = room;
    }
    if (slot != NULL)
        *slot = slots->count;
    slots->items[slots->count++] = item;
    return true;
}

void nri_slots_drop(struct nri_slots *slots, size_t slot)
{
    slots->items[slot] = NULL;
    slots->holes++;
}

static bool marked(const void *item)
{
    struct nri_key key = nri_key_of(item);
    return nri_key_unmark(&key);
}

void **nri_slots_list(const struct nri_slots *slots, struct nri_arena *arena, bool removals_first)
{
    bool split = removals_first && slots->marks > 0;
    size_t count = 0;
    if (slots->holes == 0 && !split)
        return slots->items;
    void **list = nri_arena_array(arena, nri_slots_count(slots), sizeof *list);
    for (size_t i = 0; list != NULL && split && i < slots->count; i++) {
        if (slots->items[i] != NULL && marked(slots->items[i]))
            list[count++] = slots->items[i];
    }
    for (size_t i = 0; list != NULL && i < slots->count; i++) {
        if (slots->items[i] != NULL && !(split && marked(slots->items[i])))
            list[count++] = slots->items[i];
    }
    return list;
}
