/* SPDX-License-Identifier: Apache-2.0 */
#include <nri/field.h>

#include "proto/nri.pb-c.h"

const char *nri_field_name(int field)
{
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&nri__pkg__api__v1alpha1__field__descriptor, field);
    return value != NULL ? value->name : "?";
}
