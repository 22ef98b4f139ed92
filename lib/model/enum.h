/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of NRI's enums, which the generated descriptors know. A peer may send numbers without a
 * name, and callers may give any.
 */
#ifndef NRI_MODEL_ENUM_H
#define NRI_MODEL_ENUM_H

#include <protobuf-c/protobuf-c.h>

/* "?" for a number that has no name. */
static inline const char *nri_enum_name(const ProtobufCEnumDescriptor *type, int number)
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(type, number);
    return value != NULL ? value->name : "?";
}

/* -1 for a name that there is not, and for NULL. */
static inline int nri_enum_number(const ProtobufCEnumDescriptor *type, const char *name)
{
    const ProtobufCEnumValue *value =
        name != NULL ? protobuf_c_enum_descriptor_get_value_by_name(type, name) : NULL;
    return value != NULL ? value->value : -1;
}

#endif
