/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an adjustment changes anything, by the descriptors, so that no field can be forgotten. */
#include <string.h>

#include "model/model.h"
#include "wire/field.h"

#define TYPE(name) (&nri__pkg__api__v1alpha1__##name##__descriptor)

/* A message that only holds others together changes nothing when it is empty; any other changes
 * something by being there. */
static bool only_holds(const ProtobufCMessageDescriptor *type)
{
    return type == TYPE(hooks) || type == TYPE(linux_container_adjustment) ||
           type == TYPE(linux_resources) || type == TYPE(linux_memory) || type == TYPE(linux_cpu) ||
           type == TYPE(linux_rdt);
}

static bool is_empty(const ProtobufCMessage *message);

static bool field_is_empty(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    static const uint8_t zero[sizeof(uint64_t)];
    const void *member = nri_field_member(message, field), *value;
    if (nri_field_repeated(field))
        return *nri_field_count(message, field) == 0;
    if (field->type != PROTOBUF_C_TYPE_MESSAGE && field->type != PROTOBUF_C_TYPE_STRING)
        return memcmp(member, zero, nri_field_size(field)) == 0;
    memcpy(&value, member, sizeof value);
    if (field->type == PROTOBUF_C_TYPE_STRING)
        return nri_text_length(value) == 0;
    return value == NULL || (only_holds(field->descriptor) && is_empty(value));
}

/* Goes down through messages that only hold others: three steps. */
static bool is_empty(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    unsigned i = 0;
    while (i < type->n_fields && field_is_empty(message, &type->fields[i]))
        i++;
    return i == type->n_fields && message->n_unknown_fields == 0;
}

bool nri_adjustment_is_empty(const nri_adjustment *adjustment)
{
    const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *message =
        nri_adjustment_message(adjustment);
    return message == NULL || is_empty(&message->base);
}
