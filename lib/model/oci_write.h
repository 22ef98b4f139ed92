/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message of NRI's as an object of the OCI runtime spec: the tables of oci_read.h the other way
 * round, so that what is read can be written, and nothing else.
 *
 * What is absent in the message is left out, and so is what has no form in OCI. Reading the result
 * gives the message back, as far as it has a form there, but for messages in which nothing is set.
 */
#ifndef NRI_MODEL_OCI_WRITE_H
#define NRI_MODEL_OCI_WRITE_H

#include "model/oci_read.h"

/* Sets members of `value`, an object in the arena. The strings of the message are texts of
 * base/text.h. NRI_E_UTF8, NRI_E_NOMEM, NRI_E_LIMIT (the arena's), NRI_E_INTERNAL (a table names a
 * field that there is not). */
int nri_oci_write(struct nri_arena *arena, const struct nri_oci_object *object,
                  const ProtobufCMessage *message, struct nri_json *value);

#endif
