/* SPDX-License-Identifier: Apache-2.0 */
/* What app_config_read() makes. */
#ifndef NRI_APP_CONFIG_VALUES_H
#define NRI_APP_CONFIG_VALUES_H

#include "config.h"
#include "config_field.h"
#include "config_key.h"

struct app_config {
    struct app_region region;
    struct app_table table;
    size_t size;
    unsigned char *values;         /* `size` bytes, as the table lays them out */
    const struct app_node **nodes; /* of each field: what gave its value; NULL: nothing */
    const char **paths;            /* ends with NULL */
};

/* A field's value out of the structure. */
void app_config_get(const struct app_config *config, size_t field, union app_value *value);

#endif
