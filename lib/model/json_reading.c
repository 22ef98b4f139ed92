/* SPDX-License-Identifier: Apache-2.0 */
#include "model/json_reading.h"

int nri_json_reading_begin(struct nri_json_reading *reading, const struct nri_json_options *options)
{
    reading->error = (struct nri_error){0};
    int code = nri_json_options_take(options, &reading->settings, &reading->error);
    size_t limit = code == 0 ? nri_json_settings_memory(&reading->settings) : 0;
    nri_arena_init(&reading->arena, &reading->settings.alloc, 0, limit);
    reading->source = (struct nri_json_source){
        .arena = &reading->arena,
        .name = code == 0 ? reading->settings.name : "JSON",
        .error = &reading->error,
    };
    return code;
}

int nri_json_reading_fail(struct nri_json_reading *reading, int code)
{
    if (code != 0 && reading->error.code == 0)
        nri_error_set(&reading->error, code, "%s: %s", reading->source.name, nri_strerror(code));
    return code;
}

int nri_json_reading_end(struct nri_json_reading *reading, int code, nri_error **error)
{
    code = nri_json_reading_fail(reading, code);
    nri_error_export(&reading->error, &reading->settings.alloc, error);
    nri_arena_fini(&reading->arena);
    return code;
}
