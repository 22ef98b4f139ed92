/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML, the form of containerd's and CRI-O's configurations, read into a document of lib/json: a
 * table is an object, whole numbers and floating point numbers are numbers, dates, times, inf and
 * nan are texts. Places in the document are those of keys and values in the file, by line.
 *
 * All of TOML 1.0 but \u0000 in strings. Debian 12 has no library for it in C.
 */
#ifndef NRICTL_DOCTOR_TOML_H
#define NRICTL_DOCTOR_TOML_H

#include "base/error.h"
#include "base/map.h"
#include "json/json.h"

/* *document lives in the arena. NRI_E_SYNTAX, NRI_E_UTF8, NRI_E_LIMIT, NRI_E_NOMEM; the text of
 * *error begins with "not understood at line N: ". */
int doctor_toml_parse(struct nri_arena *arena, const char *text, size_t length,
                      struct nri_json **document, struct nri_error *error);

/* ---- for doctor_toml_value.c and doctor_toml_string.c alone ---- */

struct toml {
    struct nri_arena *arena;
    const char *at, *end;
    size_t line;
    unsigned depth;
    struct nri_map marks; /* what is known of tables and arrays beyond their content */
    struct nri_error *error;
    int code; /* the first error */
};

/* Sets the first error and returns NULL. */
void *toml_fail(struct toml *toml, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *toml_no_memory(struct toml *toml);
bool toml_enter(struct toml *toml); /* a level deeper; false: too deep */
void toml_leave(struct toml *toml);
/* One table's key with its dots, "=" and value. */
bool toml_pair(struct toml *toml, struct nri_json *table);
struct nri_json *toml_table(struct toml *toml);             /* a new one */
bool toml_close(struct toml *toml, struct nri_json *table); /* nothing is added to it any more */
void toml_blanks(struct toml *toml);                        /* skips blanks */
void toml_lines(struct toml *toml);                         /* blanks, comments and line breaks */
static inline int toml_peek(const struct toml *toml)
{
    return toml->at < toml->end ? (unsigned char)*toml->at : -1;
}
bool toml_take(struct toml *toml, const char *text); /* skips `text` when it is next */

struct nri_json *toml_value(struct toml *toml);  /* doctor_toml_value.c */
struct nri_json *toml_string(struct toml *toml); /* doctor_toml_string.c: at a quote */

#endif
