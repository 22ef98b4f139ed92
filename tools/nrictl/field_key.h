/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plugins own, in words: "env PATH", "CPUShares", "cpu_shares": a field of enum nri_field by
 * its name, in any case and with _ or without, and its key behind a blank.
 */
#ifndef NRICTL_FIELD_KEY_H
#define NRICTL_FIELD_KEY_H

/* The field; 0: there is none of that name, and *meant is the one that may be meant, or NULL. *key
 * is a part of `text`, "" for none. */
int field_key_parse(const char *text, const char **key, const char **meant);

#endif
