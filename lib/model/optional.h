/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the messages by which NRI tells an absent value from zero or "": each function returns
 * whether the value was sent, and gives 0 or "" when it was not. `out` may be NULL.
 */
#ifndef NRI_MODEL_OPTIONAL_H
#define NRI_MODEL_OPTIONAL_H

#include "model/reader.h"
#include "proto/nri.pb-c.h"

#define NRI_OPTIONAL(name, message, type)                                                          \
    static inline bool nri_optional_##name(const Nri__Pkg__Api__V1alpha1__##message *value,        \
                                           type *out)                                              \
    {                                                                                              \
        if (out != NULL)                                                                           \
            *out = value != NULL ? (type)value->value : (type)0;                                   \
        return value != NULL;                                                                      \
    }

NRI_OPTIONAL(int, OptionalInt, int64_t)
NRI_OPTIONAL(int64, OptionalInt64, int64_t)
NRI_OPTIONAL(uint64, OptionalUInt64, uint64_t)
NRI_OPTIONAL(uint32, OptionalUInt32, uint32_t)
NRI_OPTIONAL(file_mode, OptionalFileMode, uint32_t)
NRI_OPTIONAL(bool, OptionalBool, bool)

#undef NRI_OPTIONAL

static inline bool nri_optional_text(const Nri__Pkg__Api__V1alpha1__OptionalString *value,
                                     const char **out)
{
    nri_reader_give(value != NULL ? value->value : NULL, out);
    return value != NULL;
}

static inline bool nri_optional_io_priority(const Nri__Pkg__Api__V1alpha1__LinuxIOPriority *value,
                                            int *ioprio_class, int32_t *priority)
{
    if (ioprio_class != NULL)
        *ioprio_class = value != NULL ? (int)value->class_ : 0;
    if (priority != NULL)
        *priority = value != NULL ? value->priority : 0;
    return value != NULL;
}

#endif
