/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a callback answers with: a JSON object, or why it failed.
 */
#ifndef NRI_OCI_ANSWER_H
#define NRI_OCI_ANSWER_H

#include "oci/edit.h"

struct nri_oci_answer {
    struct nri_arena *arena; /* the document's */
    size_t most;             /* bytes of a text */
    char *json;              /* NULL: none was given */
    size_t length;
    int failure; /* of the answer's own */
    char text[NRI_ERROR_TEXT_SIZE];
};

void nri_oci_answer_begin(struct nri_oci_answer *answer, struct nri_oci_edit *edit);
/* Fails the edit when the callback returned a code, or could not answer. */
void nri_oci_answer_end(const struct nri_oci_answer *answer, struct nri_oci_edit *edit,
                        const struct nri_oci_where *where, int code);
/* The JSON of an answer, an object; `name` is its name in errors. NULL: failed. */
struct nri_json *nri_oci_answer_parse(const struct nri_oci_answer *answer,
                                      struct nri_oci_edit *edit, const char *name);

#endif
