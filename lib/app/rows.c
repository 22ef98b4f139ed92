/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <nri/error.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct table {
    const void *given;
    uint64_t count, size;    /* of the program's rows */
    size_t known_size;       /* of a row here */
    size_t first, alignment; /* the size of a row in 0.1.0; what its members need */
};

static bool is_tail_zero(const unsigned char *row, size_t from, size_t to)
{
    while (from < to && row[from] == 0)
        from++;
    return from >= to;
}

static int copy_table(const struct table *table, const void **copy)
{
    *copy = NULL;
    if (table->count == 0)
        return 0;
    if (table->given == NULL || table->count > APP_ROWS_MOST || table->size < table->first ||
        table->size > UINT16_MAX || table->size % table->alignment != 0)
        return NRI_E_ABI;
    const size_t given_size = (size_t)table->size;
    const size_t taken = given_size < table->known_size ? given_size : table->known_size;
    unsigned char *rows = calloc((size_t)table->count, table->known_size);
    if (rows == NULL)
        return NRI_E_NOMEM;
    *copy = rows;
    for (size_t i = 0; i < table->count; i++) {
        const unsigned char *row = (const unsigned char *)table->given + i * given_size;
        if (!is_tail_zero(row, taken, given_size))
            return NRI_E_ABI;
        memcpy(rows + i * table->known_size, row, taken);
    }
    return 0;
}

int app_rows_copy(struct nri_app_options *options)
{
    const struct table fields = {
        options->fields,
        options->field_count,
        options->field_size,
        sizeof(struct nri_app_field),
        offsetof(struct nri_app_field, secret) + sizeof(uint32_t),
        _Alignof(struct nri_app_field),
    };
    const struct table flags = {
        options->flags,
        options->flag_count,
        options->flag_size,
        sizeof(struct nri_app_flag),
        offsetof(struct nri_app_flag, letter) + sizeof(int64_t),
        _Alignof(struct nri_app_flag),
    };
    const void *copy;
    options->fields = NULL;
    options->flags = NULL;
    int code = copy_table(&fields, &copy);
    options->fields = copy;
    if (code == 0) {
        code = copy_table(&flags, &copy);
        options->flags = copy;
    }
    return code;
}

void app_rows_free(struct nri_app_options *options)
{
    free((void *)(uintptr_t)options->fields);
    free((void *)(uintptr_t)options->flags);
    options->fields = NULL;
    options->flags = NULL;
}
