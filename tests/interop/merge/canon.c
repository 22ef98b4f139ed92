/* SPDX-License-Identifier: Apache-2.0 */
#include "canon.h"

#include <stdlib.h>
#include <string.h>

#include <nri/json.h>

#include "proto/nri.pb-c.h"
#include "wire/field.h"
#include "wire/message.h"

static const uint64_t seed[2] = {3, 4};

static int32_t number_key(const void *entry)
{
    int32_t key;
    memcpy(&key, (const char *)entry + sizeof(ProtobufCMessage), sizeof key);
    return key;
}

static const char *text_key(const void *entry)
{
    const char *key;
    memcpy(&key, (const char *)entry + sizeof(ProtobufCMessage), sizeof key);
    return key;
}

static int by_key(const void *a, const void *b)
{
    ProtobufCMessage *one, *other;
    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    if (one->descriptor->fields[0].type == PROTOBUF_C_TYPE_STRING)
        return strcmp(text_key(one), text_key(other));
    return (number_key(one) > number_key(other)) - (number_key(one) < number_key(other));
}

static void sort_removals(void **items, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && text_key(items[end])[0] == '-')
            end++;
        qsort(items + i, end - i, sizeof *items, by_key);
        i = end + 1;
    }
}

static void sort(ProtobufCMessage *message);

static void sort_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    void *member = nri_field_member(message, field);
    void **items;
    memcpy(&items, member, sizeof items);
    if (!nri_field_repeated(field)) {
        if (items != NULL)
            sort((ProtobufCMessage *)(void *)items);
        return;
    }
    size_t count = *nri_field_count(message, field);
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        sort(items[i]);
    if (nri_message_field_is_map(field) ||
        (message->descriptor == &nri__pkg__api__v1alpha1__linux_container__descriptor &&
         strcmp(field->name, "namespaces") == 0))
        qsort(items, count, sizeof *items, by_key);
    if (message->descriptor == &nri__pkg__api__v1alpha1__container_adjustment__descriptor &&
        strcmp(field->name, "mounts") == 0)
        sort_removals(items, count);
}

static void sort(ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (field->type == PROTOBUF_C_TYPE_MESSAGE)
            sort_field(message, field);
    }
}

const char *canon(struct nri_arena *arena, const ProtobufCMessageDescriptor *type,
                  const uint8_t *bytes, size_t size)
{
    ProtobufCMessage *message = NULL;
    size_t length = 0;
    char *json = NULL;
    if (size == 0)
        return "";
    if (nri_message_decode(type, bytes, size, arena, seed, &message, NULL) != 0)
        return "?";
    sort(message);
    if (nri_message_size(message, &length, NULL) != 0)
        return "?";
    uint8_t *sorted = nri_arena_alloc(arena, length + 1);
    if (sorted == NULL)
        return "?";
    nri_message_encode(message, sorted);
    if (nri_json_from_protobuf(type->short_name, sorted, length, NULL, &json, &length, NULL) != 0)
        return "?";
    const char *text = nri_arena_text(arena, json, length);
    nri_json_free(json);
    return text != NULL ? text : "?";
}
