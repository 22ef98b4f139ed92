/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/path.h"

#include <string.h>

#include "wire/field.h"

void nri_path_init(struct nri_path *path)
{
    path->start = sizeof path->text - 1;
    path->text[path->start] = '\0';
}

static void put(struct nri_path *path, const char *text, size_t length)
{
    const size_t n = length < path->start ? length : path->start;
    path->start -= n;
    memcpy(path->text + path->start, text + (length - n), n);
}

void nri_path_field(struct nri_path *path, const ProtobufCFieldDescriptor *field, size_t index)
{
    if (nri_field_repeated(field)) {
        put(path, "]", 1);
        do {
            const char digit = (char)('0' + index % 10);
            put(path, &digit, 1);
            index /= 10;
        } while (index > 0);
        put(path, "[", 1);
    }
    put(path, field->name, strlen(field->name));
    put(path, ".", 1);
}

const char *nri_path_finish(struct nri_path *path, const ProtobufCMessageDescriptor *type)
{
    put(path, type->short_name, strlen(type->short_name));
    return path->text + path->start;
}
