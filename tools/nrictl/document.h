/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that are put together as a document of lib/json, because they hold values of other
 * documents, whose numbers are to stay as they are.
 */
#ifndef NRICTL_DOCUMENT_H
#define NRICTL_DOCUMENT_H

#include "base/arena.h"
#include "nrictl.h"
#include "json/json.h"

/* A text of another party: bytes that are no UTF-8, and NULs, become "?". NULL: no memory. */
struct nri_json *document_bytes(struct nri_arena *arena, const char *text, size_t length);
/* Sets a member. False: no memory, also when one of both is NULL for that reason. */
bool document_set(struct nri_arena *arena, struct nri_json *object, const char *key,
                  const struct nri_json *value);
bool document_set_text(struct nri_arena *arena, struct nri_json *object, const char *key,
                       const char *text);
bool document_set_number(struct nri_arena *arena, struct nri_json *object, const char *key,
                         uint64_t number);
/* Appends to a list; as document_set(). */
bool document_append(struct nri_arena *arena, struct nri_json *array, struct nri_json *value);
/* Writes a result to ctl->out; NULL: there was no memory for it. NRICTL_OK, or NRICTL_ENVIRONMENT
 * after a message. */
int document_print(struct nrictl *ctl, const struct nri_json *document);

#endif
