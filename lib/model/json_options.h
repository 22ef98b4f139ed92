/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the functions of nri/json.h and nri/document.h share: their options, checked, and results
 * that carry their allocator, so that nri_json_free() needs nothing but the result.
 */
#ifndef NRI_MODEL_JSON_OPTIONS_H
#define NRI_MODEL_JSON_OPTIONS_H

#include <nri/json.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "json/json.h"

/* struct nri_json_options with no default left open. */
struct nri_json_settings {
    struct nri_alloc alloc;
    const char *name;
    size_t max_bytes, max_depth, max_values;
    unsigned indent;
};

/*
 * Checks options; NULL gives the defaults. 0; NRI_E_ABI: a larger structure with something in the
 * tail that this library does not know, a smaller one, reserved members that are not zero, or an
 * allocator of which that holds; NRI_E_INVALID: depth or indent too large, an allocator with some
 * functions only, a name that is not UTF-8. Also on a failure to->alloc can be used.
 */
int nri_json_options_resolve(const struct nri_json_options *from, struct nri_json_settings *to);
/* The same with a text. */
int nri_json_options_take(const struct nri_json_options *from, struct nri_json_settings *to,
                          struct nri_error *error);

/* For nri_json_parse(). `seed` keeps whoever writes a text from choosing keys that collide. */
struct nri_json_limits nri_json_settings_limits(const struct nri_json_settings *settings);
/* The limit of an arena for what is read from a text: a text of max_bytes and max_values is sure to
 * fit. */
size_t nri_json_settings_memory(const struct nri_json_settings *settings);

/* ---- results ---- */

/* A buffer for a result of at most settings->max_bytes bytes. 0 or NRI_E_NOMEM. */
int nri_json_result_begin(const struct nri_json_settings *settings, struct nri_buf *out);
/* Ends the result and takes it out of the buffer, which is empty then; it has a NUL behind it, and
 * nri_json_free() frees it. NULL on no memory. */
char *nri_json_result_end(struct nri_buf *out, size_t *length);

#endif
