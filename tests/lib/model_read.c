/* SPDX-License-Identifier: Apache-2.0 */
/* What all files of model_read.h share, and what it says that has no reader. */
#include "model_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/message.h"

static void *need(void *piece)
{
    if (piece == NULL) {
        (void)fprintf(stderr, "model_read: no memory\n");
        abort();
    }
    return piece;
}

void *model_read_new(struct model_reading *reading, const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *message = need(nri_arena_alloc(reading->arena, type->sizeof_message));
    protobuf_c_message_init(type, message);
    return message;
}

void *model_read_array(struct model_reading *reading, size_t count, size_t size)
{
    return count == 0 ? NULL : need(nri_arena_array(reading->arena, count, size));
}

static char *copy(struct model_reading *reading, const char *text, size_t length)
{
    return length == 0 ? (char *)(uintptr_t)protobuf_c_empty_string
                       : need(nri_arena_text(reading->arena, text, length));
}

char *model_read_text(struct model_reading *reading, const char *text)
{
    MODEL_PROMISE(reading, text != NULL);
    if (text == NULL)
        return copy(reading, "", 0);
    MODEL_PROMISE(reading, strlen(text) <= nri_text_length(text));
    return copy(reading, text, nri_text_length(text));
}

char *model_read_tail(struct model_reading *reading, const char *text)
{
    MODEL_PROMISE(reading, text != NULL);
    return text == NULL ? copy(reading, "", 0) : copy(reading, text, strlen(text));
}

char *model_read_marker(struct model_reading *reading, const char *key)
{
    MODEL_PROMISE(reading, key != NULL);
    return need(
        nri_arena_text2(reading->arena, "-", 1, key == NULL ? "" : key, strlen(key ? key : "")));
}

bool model_read_is_plain(const char *text)
{
    return strlen(text) == nri_text_length(text);
}

void *model_read_pair(struct model_reading *reading, const ProtobufCMessageDescriptor *entry,
                      const char *key, const char *value)
{
    char *message = model_read_new(reading, entry);
    char *const copies[] = {model_read_text(reading, key), model_read_text(reading, value)};
    memcpy(message + entry->fields[0].offset, &copies[0], sizeof copies[0]);
    memcpy(message + entry->fields[1].offset, &copies[1], sizeof copies[1]);
    return message;
}

/* ---- what has no reader ---- */

/* Messages that only hold others: whether an empty one was sent cannot be told. */
static bool is_carrier(const ProtobufCFieldDescriptor *field)
{
    static const ProtobufCMessageDescriptor *const carriers[] = {
        &nri__pkg__api__v1alpha1__linux_pod_sandbox__descriptor,
        &nri__pkg__api__v1alpha1__linux_container__descriptor,
        &nri__pkg__api__v1alpha1__linux_container_adjustment__descriptor,
        &nri__pkg__api__v1alpha1__linux_container_update__descriptor,
        &nri__pkg__api__v1alpha1__linux_memory__descriptor,
        &nri__pkg__api__v1alpha1__linux_cpu__descriptor,
        &nri__pkg__api__v1alpha1__hooks__descriptor,
    };
    for (size_t i = 0; i < sizeof carriers / sizeof carriers[0]; i++) {
        if (field->descriptor == carriers[i])
            return true;
    }
    return false;
}

static void clear_text(char **text)
{
    *text = (char *)(uintptr_t)protobuf_c_empty_string;
}

/* A removal is its key alone. */
static void clear_removals(ProtobufCMessage *message)
{
    if (message->descriptor == &nri__pkg__api__v1alpha1__container_adjustment__descriptor) {
        MODEL(ContainerAdjustment) *adjustment = (MODEL(ContainerAdjustment) *)message;
        for (size_t i = 0; i < adjustment->n_annotations; i++) {
            if (adjustment->annotations[i]->key[0] == '-')
                clear_text(&adjustment->annotations[i]->value);
        }
        for (size_t i = 0; i < adjustment->n_env; i++) {
            if (adjustment->env[i]->key[0] == '-')
                clear_text(&adjustment->env[i]->value);
        }
    }
    if (message->descriptor == &nri__pkg__api__v1alpha1__linux_container_adjustment__descriptor) {
        MODEL(LinuxContainerAdjustment) *part = (MODEL(LinuxContainerAdjustment) *)message;
        for (size_t i = 0; i < part->n_sysctl; i++) {
            if (part->sysctl[i]->key[0] == '-')
                clear_text(&part->sysctl[i]->value);
        }
        for (size_t i = 0; i < part->n_namespaces; i++) {
            if (part->namespaces[i]->type[0] == '-')
                clear_text(&part->namespaces[i]->path);
        }
        for (size_t i = 0; i < part->n_net_devices; i++) {
            if (part->net_devices[i]->key[0] == '-')
                clear_text(&part->net_devices[i]->value->name);
        }
    }
}

static void normalise_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    char *member = (char *)message + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count;
        ProtobufCMessage **list;
        memcpy(&count, (char *)message + field->quantifier_offset, sizeof count);
        memcpy(&list, member, sizeof list);
        for (size_t i = 0; i < count; i++)
            model_read_normalise(list[i]);
        return;
    }
    ProtobufCMessage *one;
    memcpy(&one, member, sizeof one);
    if (one == NULL)
        return;
    model_read_normalise(one);
    size_t size;
    if (is_carrier(field) && nri_message_size(one, &size, NULL) == 0 && size == 0) {
        one = NULL;
        memcpy(member, &one, sizeof one);
    }
}

void model_read_normalise(ProtobufCMessage *message)
{
    message->n_unknown_fields = 0;
    clear_removals(message);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        if (message->descriptor->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
            normalise_field(message, &message->descriptor->fields[i]);
    }
}

static bool text_has_nul(const char *text)
{
    return text != NULL && strlen(text) != nri_message_text_length(text);
}

static bool element_has_nul(const ProtobufCFieldDescriptor *field, const void *element)
{
    return field->type == PROTOBUF_C_TYPE_STRING
               ? text_has_nul(element)
               : element != NULL && model_read_has_nul((const ProtobufCMessage *)element);
}

bool model_read_has_nul(const ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        const char *member = (const char *)message + field->offset;
        const void *element, *const *list = &element;
        size_t count = 1;
        if (field->type != PROTOBUF_C_TYPE_MESSAGE && field->type != PROTOBUF_C_TYPE_STRING)
            continue;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            memcpy(&count, (const char *)message + field->quantifier_offset, sizeof count);
            memcpy(&list, member, sizeof list);
        } else {
            memcpy(&element, member, sizeof element);
        }
        for (size_t k = 0; k < count; k++) {
            if (element_has_nul(field, list[k]))
                return true;
        }
    }
    return false;
}
