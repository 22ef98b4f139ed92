/* SPDX-License-Identifier: Apache-2.0 */
#include "model/json_options.h"

#include <stdalign.h>
#include <string.h>

#include "base/abi.h"
#include "base/text.h"

#define DEFAULT_BYTES  ((size_t)16 * 1024 * 1024)
#define DEFAULT_VALUES ((size_t)1000000)
#define LARGEST_DEPTH  ((size_t)64)
#define LARGEST_INDENT 16u

NRI_ABI_ASSERT(struct nri_json_options);

void nri_json_options_init(struct nri_json_options *options, size_t size)
{
    nri_abi_init(options, size);
}

/* ---- checking ---- */

static int check(const struct nri_json_options *options, struct nri_error *error)
{
    if (options->reserved != 0)
        return nri_error_set(error, NRI_E_ABI,
                             "struct nri_json_options: its member reserved is %lu and must be 0",
                             (unsigned long)options->reserved);
    if (options->max_depth > LARGEST_DEPTH)
        return nri_error_set(error, NRI_E_INVALID,
                             "nri_json_options.max_depth %zu: must be at most %zu",
                             options->max_depth, LARGEST_DEPTH);
    if (options->indent > LARGEST_INDENT)
        return nri_error_set(error, NRI_E_INVALID,
                             "nri_json_options.indent %lu: must be at most %u",
                             (unsigned long)options->indent, LARGEST_INDENT);
    /* It goes into every error, and an error's text is UTF-8. */
    if (options->name != NULL && !nri_utf8_valid(options->name, strlen(options->name), NULL))
        return nri_error_set(error, NRI_E_INVALID, "nri_json_options.name: must be UTF-8");
    return 0;
}

int nri_json_options_take(const struct nri_json_options *from, struct nri_json_settings *to,
                          struct nri_error *error)
{
    struct nri_json_options known;
    (void)nri_alloc_resolve(&to->alloc, NULL);
    int rc = nri_abi_take(&known, sizeof known, sizeof known, from, "nri_json_options", error);
    if (rc == 0)
        rc = check(&known, error);
    if (rc != 0)
        return rc;
    rc = nri_alloc_resolve(&to->alloc, known.allocator);
    if (rc != 0) {
        (void)nri_alloc_resolve(&to->alloc, NULL);
        return nri_error_set(error, rc, "nri_json_options.allocator: %s",
                             rc == NRI_E_ABI ? nri_strerror(rc)
                                             : "must have all three functions, or none of them");
    }
    to->name = known.name != NULL ? known.name : "JSON";
    to->max_bytes = known.max_bytes != 0 ? known.max_bytes : DEFAULT_BYTES;
    to->max_depth = known.max_depth != 0 ? known.max_depth : LARGEST_DEPTH;
    to->max_values = known.max_values != 0 ? known.max_values : DEFAULT_VALUES;
    to->indent = known.indent;
    return 0;
}

int nri_json_options_resolve(const struct nri_json_options *from, struct nri_json_settings *to)
{
    return nri_json_options_take(from, to, NULL);
}

/* ---- limits ---- */

struct nri_json_limits nri_json_settings_limits(const struct nri_json_settings *settings)
{
    /* This room has no source of random numbers. Where the program and its stack are loaded differs
     * from process to process, and the author of a text does not see it. */
    return (struct nri_json_limits){
        .max_depth = settings->max_depth,
        .max_bytes = settings->max_bytes,
        .max_values = settings->max_values,
        .seed = {(uintptr_t)settings, (uintptr_t)&nri_json_options_take},
    };
}

/* Of a document a value takes 64 bytes, its places in the lists of values and of keys 16, its slots
 * in the hash at most 32, its key and text 24 more than their bytes. Of a message it takes its
 * place in an array and, when it is an object, the structure, of which the largest (Container) has
 * less than 350 bytes. Chunks of an arena are at most twice as large as what is in them while they
 * are small. */
#define MEMORY_PER_VALUE ((size_t)512)
#define MEMORY_PER_BYTE  ((size_t)8)

static size_t times(size_t count, size_t each)
{
    return count > SIZE_MAX / 4 / each ? SIZE_MAX / 4 : count * each;
}

size_t nri_json_settings_memory(const struct nri_json_settings *settings)
{
    /* A value takes a byte of the text at least. */
    size_t values =
        settings->max_values < settings->max_bytes ? settings->max_values : settings->max_bytes;
    return 65536 + times(values, MEMORY_PER_VALUE) + times(settings->max_bytes, MEMORY_PER_BYTE);
}

/* ---- results ---- */

struct result {
    alignas(max_align_t) struct nri_alloc alloc;
};

int nri_json_result_begin(const struct nri_json_settings *settings, struct nri_buf *out)
{
    const struct result result = {settings->alloc};
    size_t room = SIZE_MAX - sizeof result - 1;
    size_t limit = settings->max_bytes < room ? settings->max_bytes : room;
    nri_buf_init(out, &settings->alloc, sizeof result + limit);
    return nri_buf_append(out, &result, sizeof result);
}

char *nri_json_result_end(struct nri_buf *out, size_t *length)
{
    out->limit++; /* the NUL is not counted */
    if (nri_buf_append(out, "", 1) != 0)
        return NULL;
    if (length != NULL)
        *length = nri_buf_size(out) - sizeof(struct result) - 1;
    uint8_t *data = out->data;
    nri_buf_init(out, &out->alloc, 0);
    return (char *)data + sizeof(struct result);
}

char *nri_json_free(char *text)
{
    if (text != NULL) {
        struct result *result = (struct result *)(void *)text - 1;
        struct nri_alloc alloc = result->alloc;
        nri_alloc_release(&alloc, result);
    }
    return NULL;
}
