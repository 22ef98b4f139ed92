/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the readers share: texts that are never NULL, lists of texts, and maps of texts.
 *
 * protobuf-c makes a structure type of its own for each map, all of them laid out like KeyValue.
 * Readers go by offset, so that one function serves them all and no structure is read through
 * another's type.
 */
#ifndef NRI_MODEL_READER_H
#define NRI_MODEL_READER_H

#include <protobuf-c/protobuf-c.h>

#include <stdbool.h>
#include <stddef.h>

/* The one text that has no length in front; nri_text_length() knows it. */
static inline const char *nri_reader_text(const char *text)
{
    return text != NULL ? text : protobuf_c_empty_string;
}

static inline void nri_reader_give(const char *text, const char **out)
{
    if (out != NULL)
        *out = nri_reader_text(text);
}

/* Whether a text of a message is exactly the caller's C string. */
bool nri_reader_text_is(const char *text, const char *wanted, size_t wanted_length);

/* An element of a repeated string field; "" past the end. */
const char *nri_reader_text_at(char *const *texts, size_t count, size_t index);

/* A map field from text to text: its array of entries, and how many. */
struct nri_reader_map {
    const void *entries;
    size_t count;
};

/* As nri_pod_label_at() and nri_pod_label(). Where a key stands more than once, which a list of
 * KeyValue allows, the last one counts. */
bool nri_reader_map_at(struct nri_reader_map map, size_t index, const char **key,
                       const char **value);
bool nri_reader_map_get(struct nri_reader_map map, const char *key, const char **value);

/*
 * The keys that an adjustment carries: one "-" in front says that the key is removed.
 */

/* The key without that marker; `removed` may be NULL. */
const char *nri_reader_key(const char *text, bool *removed);
/* Gives the key without the marker, and takes back the value that came with one. */
void nri_reader_give_change(const char *text, const char **key, const char **value, bool *removed);
/* As nri_adjustment_annotation_at() and nri_adjustment_annotation(). */
bool nri_reader_change_at(struct nri_reader_map map, size_t index, const char **key,
                          const char **value, bool *removed);
bool nri_reader_change_get(struct nri_reader_map map, const char *key, const char **value);

#endif
