/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of the parser. yajl finds the tokens and knows the grammar (parse.c), a document is built
 * of what it reports (build.c), and when it stops, the place and the reason are found out
 * (fault.c).
 */
#ifndef NRI_JSON_PARSER_H
#define NRI_JSON_PARSER_H

#include "json/document.h"

/* A value whose container is not closed yet. */
struct nri_json_pending {
    struct nri_json *value;
    char *key;         /* NULL in an array */
    size_t key_offset; /* in the text */
};

struct nri_json_open {
    struct nri_json *container;
    size_t first; /* its first value among the pending ones */
};

struct nri_json_parser {
    struct nri_arena *arena;
    struct nri_json_limits limits; /* none of them 0 */
    const char *name;
    struct nri_error *error;
    int failure;

    const char *text;
    size_t length;
    size_t token_end; /* of the token that is being reported */

    /* How far the text is done: behind the last token, or in front of the one being reported. */
    size_t offset, line, line_start;

    struct nri_json_open *open; /* outermost first */
    size_t depth, open_capacity;
    struct nri_json_pending *pending;
    size_t pending_count, pending_capacity;
    size_t values;
    char *key; /* the key whose value is due, or NULL */
    size_t key_offset, key_line, key_column;
    struct nri_json *document;
};

/* ---- fault.c ---- */

/* Fails the parser with the text "name:line:column: ..." for a place in the text; returns `code`.
 */
int nri_json_fail(struct nri_json_parser *parser, size_t offset, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Moves parser->offset over blanks and, if `separators`, commas and colons. False: failed at a
 * character that yajl takes for a blank and JSON does not. */
bool nri_json_skip(struct nri_json_parser *parser, bool separators);
/* Fails the parser for what stands behind the last token; `reason` is yajl's own, for what is not
 * found out here. */
int nri_json_explain(struct nri_json_parser *parser, const char *reason);

/* ---- build.c: the events. False: the parser has failed ---- */

bool nri_json_on_null(struct nri_json_parser *parser);
bool nri_json_on_bool(struct nri_json_parser *parser, bool value);
bool nri_json_on_number(struct nri_json_parser *parser, const char *text, size_t length);
bool nri_json_on_string(struct nri_json_parser *parser, const char *text, size_t length);
bool nri_json_on_key(struct nri_json_parser *parser, const char *text, size_t length);
bool nri_json_on_begin(struct nri_json_parser *parser, enum nri_json_type type);
bool nri_json_on_end(struct nri_json_parser *parser);

#endif
