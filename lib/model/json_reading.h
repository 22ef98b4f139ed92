/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a public function that reads JSON or protobuf: its options, the arena of all that is
 * read, and the error that goes to the caller.
 */
#ifndef NRI_MODEL_JSON_READING_H
#define NRI_MODEL_JSON_READING_H

#include "model/json_message.h"

struct nri_json_reading {
    struct nri_json_settings settings;
    struct nri_arena arena; /* of the document and the message */
    struct nri_error error;
    struct nri_json_source source;
};

/* Also after a failure nri_json_reading_end() must be called. */
int nri_json_reading_begin(struct nri_json_reading *reading,
                           const struct nri_json_options *options);
/* Makes sure that a failure has a text; returns the code. */
int nri_json_reading_fail(struct nri_json_reading *reading, int code);
/* Hands out the error, if there is one, frees everything, and returns the code. */
int nri_json_reading_end(struct nri_json_reading *reading, int code, nri_error **error);

#endif
