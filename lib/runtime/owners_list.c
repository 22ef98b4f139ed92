/* SPDX-License-Identifier: Apache-2.0 */
/* The owners as the message that validators get. It is made of copies: a key may be a part of a
 * text only, and a plugin's name is no text of base/text.h. */
#include "runtime/merging.h"

typedef Nri__Pkg__Api__V1alpha1__OwningPlugins owning_message;
typedef Nri__Pkg__Api__V1alpha1__OwningPlugins__OwnersEntry container_entry;
typedef Nri__Pkg__Api__V1alpha1__FieldOwners fields_message;
typedef Nri__Pkg__Api__V1alpha1__FieldOwners__SimpleEntry field_entry;
typedef Nri__Pkg__Api__V1alpha1__FieldOwners__CompoundEntry keyed_entry;
typedef Nri__Pkg__Api__V1alpha1__CompoundFieldOwners keys_message;
typedef Nri__Pkg__Api__V1alpha1__CompoundFieldOwners__OwnersEntry key_entry;

/* "10-foo", or "-10-foo" for a plugin that took away. */
static char *owner_text(struct nri_arena *arena, const char *plugin, bool cleared)
{
    return nri_arena_text2(arena, "-", cleared ? 1 : 0, plugin, strlen(plugin));
}

/* "10-foo,20-bar" */
static char *hook_owners(struct nri_arena *arena, const struct nri_owners *owners)
{
    size_t length = owners->hook_count - 1, at = 0;
    for (size_t i = 0; i < owners->hook_count; i++)
        length += strlen(owners->hooks[i]);
    char *joined = nri_arena_alloc(arena, length + 1);
    if (joined == NULL)
        return NULL;
    for (size_t i = 0; i < owners->hook_count; i++) {
        const size_t size = strlen(owners->hooks[i]);
        if (i > 0)
            joined[at++] = ',';
        memcpy(joined + at, owners->hooks[i], size);
        at += size;
    }
    return nri_arena_text(arena, joined, length);
}

static bool add_field(struct nri_arena *arena, fields_message *fields, int field, char *owner)
{
    field_entry *entry = nri_arena_alloc(arena, sizeof *entry);
    if (entry == NULL || owner == NULL)
        return false;
    *entry = NRI_MESSAGE_NEW(field_entry, FIELD_OWNERS__SIMPLE_ENTRY);
    entry->key = field;
    entry->value = owner;
    fields->simple[fields->n_simple++] = entry;
    return true;
}

static keys_message *keys_of(struct nri_arena *arena, const struct nri_keys *keys)
{
    keys_message *message = nri_arena_alloc(arena, sizeof *message);
    key_entry *entries = nri_arena_array(arena, keys->count, sizeof *entries);
    key_entry **list = nri_arena_array(arena, keys->count, sizeof *list);
    if (message == NULL || entries == NULL || list == NULL)
        return NULL;
    *message = NRI_MESSAGE_NEW(keys_message, COMPOUND_FIELD_OWNERS);
    message->owners = list;
    for (size_t i = 0; i < keys->count; i++) {
        const struct nri_keys_item *item = &keys->items[i];
        if (item->plugin == NULL)
            continue;
        entries[i] = NRI_MESSAGE_NEW(key_entry, COMPOUND_FIELD_OWNERS__OWNERS_ENTRY);
        entries[i].key = nri_arena_text(arena, item->key.text, item->key.length);
        entries[i].value = owner_text(arena, item->plugin, item->cleared);
        if (entries[i].key == NULL || entries[i].value == NULL)
            return NULL;
        list[message->n_owners++] = &entries[i];
    }
    return message;
}

static bool add_keys(struct nri_arena *arena, fields_message *fields, int field,
                     const struct nri_keys *keys)
{
    keyed_entry *entry = nri_arena_alloc(arena, sizeof *entry);
    if (entry == NULL)
        return false;
    *entry = NRI_MESSAGE_NEW(keyed_entry, FIELD_OWNERS__COMPOUND_ENTRY);
    entry->key = field;
    entry->value = keys_of(arena, keys);
    fields->compound[fields->n_compound++] = entry;
    return entry->value != NULL;
}

/* Fields in the order of their numbers. */
static bool fill_fields(struct nri_arena *arena, fields_message *fields,
                        const struct nri_owners *owners)
{
    for (int field = 1; field < NRI_FIELDS; field++) {
        const int index = nri_keyed_index((enum nri_field)field);
        bool done = true;
        if (index >= 0 && owners->keyed[index] != NULL)
            done = add_keys(arena, fields, field, owners->keyed[index]);
        if (field == NRI_FIELD_OCI_HOOKS && owners->hook_count > 0)
            done = add_field(arena, fields, field, hook_owners(arena, owners));
        for (size_t i = 0; done && i < owners->holder_count; i++) {
            const struct nri_holder *holder = &owners->holders[i];
            if (holder->field == field)
                done = add_field(arena, fields, field,
                                 owner_text(arena, holder->plugin, holder->cleared));
        }
        if (!done)
            return false;
    }
    return true;
}

static bool add_container(struct nri_arena *arena, owning_message *message,
                          const struct nri_owners *owners)
{
    struct {
        container_entry entry;
        fields_message fields;
    } * made;
    if (!nri_owners_any(owners))
        return true;
    made = nri_arena_alloc(arena, sizeof *made);
    if (made == NULL)
        return false;
    made->entry = NRI_MESSAGE_NEW(container_entry, OWNING_PLUGINS__OWNERS_ENTRY);
    made->fields = NRI_MESSAGE_NEW(fields_message, FIELD_OWNERS);
    made->fields.simple = nri_arena_array(arena, owners->holder_count + 1, sizeof(void *));
    made->fields.compound = nri_arena_array(arena, NRI_KEYED_FIELDS, sizeof(void *));
    if (made->fields.simple == NULL || made->fields.compound == NULL)
        return false;
    made->entry.key = nri_arena_text(arena, owners->id, nri_message_text_length(owners->id));
    if (made->entry.key == NULL)
        return false;
    made->entry.value = &made->fields;
    message->owners[message->n_owners++] = &made->entry;
    return fill_fields(arena, &made->fields, owners);
}

const owning_message *nri_merge_owners(struct nri_merge *merge)
{
    owning_message *message = nri_arena_alloc(merge->arena, sizeof *message);
    if (message == NULL)
        return NULL;
    *message = NRI_MESSAGE_NEW(owning_message, OWNING_PLUGINS);
    message->owners = nri_arena_array(merge->arena, merge->updates.count + 1, sizeof(void *));
    if (message->owners == NULL || !add_container(merge->arena, message, &merge->target.owners))
        return NULL;
    for (size_t i = 0; i < merge->updates.count; i++) {
        const struct nri_merge_update *update = merge->updates.items[i].value;
        if (!add_container(merge->arena, message, &update->target.owners))
            return NULL;
    }
    return message;
}
