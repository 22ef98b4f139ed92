/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any message of nri.proto as JSON, and back: what the functions of nri/json.h are made of. The
 * form is that of nri/json.h.
 */
#ifndef NRI_MODEL_JSON_MESSAGE_H
#define NRI_MODEL_JSON_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "model/json_options.h"
#include "json/json.h"

/* ---- json_write.c ---- */

/* Writes a message, whose strings are texts of base/text.h; time and memory go with its size. The
 * writer keeps the first failure. */
void nri_json_write_message(struct nri_json_writer *writer, const ProtobufCMessage *message);

/* A public function whole: options, writing, result, error. `message` NULL is an empty one. */
int nri_json_message_text(const ProtobufCMessage *message, const struct nri_json_options *options,
                          char **text, size_t *length, nri_error **error);
/* The same behind the options. */
int nri_json_message_make(const ProtobufCMessage *message, const struct nri_json_settings *settings,
                          char **text, size_t *length, struct nri_error *error);

/* ---- json_read.c ---- */

/* What is read, and where to. */
struct nri_json_source {
    struct nri_arena *arena; /* of the document and the message */
    const char *name;        /* in errors */
    struct nri_error *error; /* may be NULL */
};

/* A place in a message, for the path in an error; on the stack. One of the three says what. */
struct nri_json_place {
    const struct nri_json_place *parent; /* NULL for the outermost, whose name is its message's */
    const char *name;                    /* a member */
    const char *key;                     /* a key of a map */
    size_t index;                        /* an element, when both are NULL */
    bool of_key;                         /* the member's key is what is wrong, not its value */
};

/*
 * Makes a message of a parsed document. The message shares texts with the document, in whose arena
 * it is made. 0, NRI_E_SYNTAX, NRI_E_RANGE, NRI_E_NOMEM, NRI_E_LIMIT.
 */
int nri_json_read_message(const struct nri_json_source *source,
                          const ProtobufCMessageDescriptor *type, const struct nri_json *value,
                          ProtobufCMessage **message);
/* Parses and reads a text. *document may be NULL. */
int nri_json_read_text(const struct nri_json_source *source,
                       const struct nri_json_settings *settings,
                       const ProtobufCMessageDescriptor *type, const char *json, size_t length,
                       struct nri_json **document, ProtobufCMessage **message);

/* ---- json_place.c ---- */

/* Sets the error "NAME:LINE:COLUMN: PATH: ..." for a value or its key, and returns the code. */
int nri_json_refuse(const struct nri_json_source *source, const struct nri_json_place *place,
                    const struct nri_json *value, int code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same for the source's arena, which has just failed. */
int nri_json_refuse_memory(const struct nri_json_source *source, const struct nri_json_place *place,
                           const struct nri_json *value);

/* What of a message something is about: a field, and the element of a repeated one. */
struct nri_json_subject {
    const ProtobufCMessage *message;
    const char *field; /* NULL: the whole message */
    size_t index;      /* NRI_JSON_WHOLE: the whole field */
};
#define NRI_JSON_WHOLE SIZE_MAX

/* Puts "NAME:LINE:COLUMN: PATH: " in front of an error about something in `root`, which was read
 * from `document`, and returns the code. */
int nri_json_blame(const struct nri_json_source *source, const ProtobufCMessage *root,
                   const struct nri_json *document, const struct nri_json_subject *subject,
                   int code, const char *text);

#endif
