/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: an ordered document with exact numbers, a parser with limits and positions, and a writer.
 * The only user of yajl.
 *
 * A document lives in an arena: freeing it is resetting the arena. Order of members is kept;
 * numbers are kept as their text, so that nothing is lost. Refused, with line and column: bad
 * syntax, duplicate keys, lone surrogates, \u0000, text that is not UTF-8, depth or size over the
 * limit, anything behind the document.
 */
#ifndef NRI_JSON_JSON_H
#define NRI_JSON_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

enum nri_json_type {
    NRI_JSON_NULL,
    NRI_JSON_BOOL,
    NRI_JSON_NUMBER,
    NRI_JSON_STRING,
    NRI_JSON_ARRAY,
    NRI_JSON_OBJECT
};

struct nri_json; /* a value */

struct nri_json_limits {
    size_t max_depth;  /* 0: 64 */
    size_t max_bytes;  /* of the text; 0: 16 MiB */
    size_t max_values; /* of the document; 0: 1 million */
    uint64_t seed[2];  /* of the hash that finds duplicate keys */
};

/* `name` names the source in errors ("adjustment", a file's name): "name:line:column: ...". NULL:
 * "JSON". */
int nri_json_parse(struct nri_arena *arena, const char *text, size_t length,
                   const struct nri_json_limits *limits, const char *name,
                   struct nri_json **document, struct nri_error *error);

enum nri_json_type nri_json_type(const struct nri_json *value); /* NULL is NRI_JSON_NULL */
const char *nri_json_type_name(enum nri_json_type type);
size_t nri_json_line(
    const struct nri_json *value); /* where the value starts, from 1; 0 for one made here */
size_t nri_json_column(const struct nri_json *value); /* in bytes, from 1 */
/* Where the key of a member starts; of what is no member, the value's own place. */
size_t nri_json_key_line(const struct nri_json *value);
size_t nri_json_key_column(const struct nri_json *value);
bool nri_json_bool(const struct nri_json *value);
const char *nri_json_string(const struct nri_json *value, size_t *length); /* "" for another type */
const char *nri_json_number_text(const struct nri_json *value);
/* Exact integers: 1, 1.0 and 1e2 are integers, 1.5 is not. NRI_E_SYNTAX (no integer), NRI_E_RANGE.
 */
int nri_json_int64(const struct nri_json *value, int64_t *number);
int nri_json_uint64(const struct nri_json *value, uint64_t *number);
int nri_json_double(const struct nri_json *value, double *number);

size_t nri_json_count(const struct nri_json *value); /* elements or members */
struct nri_json *nri_json_at(const struct nri_json *array,
                             size_t index); /* O(1); NULL past the end */
/* A member by position, in order. */
struct nri_json *nri_json_member_at(const struct nri_json *object, size_t index, const char **key,
                                    size_t *key_length);
struct nri_json *nri_json_get(const struct nri_json *object,
                              const char *key); /* NULL when there is none */

/* Making and changing. Values belong to the arena that they were made in; all of NULL on no memory.
 */
struct nri_json *nri_json_new(struct nri_arena *arena,
                              enum nri_json_type type); /* null, false, 0, "", [], {} */
struct nri_json *nri_json_new_bool(struct nri_arena *arena, bool boolean);
struct nri_json *nri_json_new_string(struct nri_arena *arena, const char *text,
                                     size_t length); /* UTF-8, no NUL, else NULL */
struct nri_json *nri_json_new_int64(struct nri_arena *arena, int64_t number);
struct nri_json *nri_json_new_uint64(struct nri_arena *arena, uint64_t number);
int nri_json_append(struct nri_arena *arena, struct nri_json *array, struct nri_json *value);
/* Replaces in place, or adds at the end. The key is copied. */
int nri_json_set(struct nri_arena *arena, struct nri_json *object, const char *key,
                 struct nri_json *value);
bool nri_json_remove(struct nri_json *object, const char *key);
/* Replaces an element that is there; false past the end. */
bool nri_json_put(struct nri_json *array, size_t index, struct nri_json *value);
/* Drops the elements behind the first `count`. */
void nri_json_truncate(struct nri_json *array, size_t count);
/* Drops the members that `keep` has no use for: a step a member, however many go. */
void nri_json_keep_members(struct nri_json *object,
                           bool (*keep)(const char *key, size_t length, void *user), void *user);

/* Writes the text of a value: compact (indent 0), or indented by so many blanks. Numbers as they
 * were. A failure (those of `out`) leaves `out` as it was. */
int nri_json_write(const struct nri_json *value, unsigned indent, struct nri_buf *out);

/*
 * A writer without a document, for long outputs: each call appends to `out`. The first failure
 * sticks and nri_json_writer_end() returns it: those of `out`, NRI_E_UTF8 for text that is not
 * UTF-8, NRI_E_LIMIT beyond 64 levels, NRI_E_STATE for calls in an order that makes no JSON and for
 * a document that is not complete. A NUL is written as \u0000, which is JSON; the parser refuses
 * it.
 */
struct nri_json_writer {
    struct nri_buf *out;
    unsigned indent;
    int failure;
    unsigned depth;
    uint64_t started, object; /* a bit a level: something was written there; it is an object */
    bool key;                 /* a key was written and its value is due */
    bool done;                /* the outermost value was begun: there is no second one */
};
void nri_json_writer_init(struct nri_json_writer *writer, struct nri_buf *out, unsigned indent);
void nri_json_begin_object(struct nri_json_writer *writer);
void nri_json_end_object(struct nri_json_writer *writer);
void nri_json_begin_array(struct nri_json_writer *writer);
void nri_json_end_array(struct nri_json_writer *writer);
void nri_json_write_key(struct nri_json_writer *writer, const char *key, size_t length);
void nri_json_write_string(struct nri_json_writer *writer, const char *text, size_t length);
void nri_json_write_int64(struct nri_json_writer *writer, int64_t number);
void nri_json_write_uint64(struct nri_json_writer *writer, uint64_t number);
void nri_json_write_bool(struct nri_json_writer *writer, bool value);
void nri_json_write_null(struct nri_json_writer *writer);
int nri_json_writer_end(struct nri_json_writer *writer);

#endif
