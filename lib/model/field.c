/* SPDX-License-Identifier: Apache-2.0 */
#include <nri/field.h>

#include "model/enum.h"
#include "proto/nri.pb-c.h"

const char *nri_field_name(int field)
{
    return nri_enum_name(&nri__pkg__api__v1alpha1__field__descriptor, field);
}
