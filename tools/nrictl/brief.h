/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value of a document in few words, for a cell of a table: texts as they are, lists with commas,
 * objects as NAME=VALUE.
 */
#ifndef NRICTL_BRIEF_H
#define NRICTL_BRIEF_H

#include "json/json.h"

/* What the reader knows already, a key, is left out: the member of an object that is that text, and
 * "KEY=" in front of a text. At most `room` - 1 bytes of whole characters, with "..." where that is
 * not all. */
void brief_value(const struct nri_json *value, const char *key, char *text, size_t room);

#endif
