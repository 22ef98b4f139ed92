/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key of an entry of a list or map, and the mark by which NRI says "remove this": one leading
 * "-". A key is part of a message's text, so it is not always NUL-terminated where it ends, and has
 * its length with it.
 */
#ifndef NRI_RUNTIME_KEY_H
#define NRI_RUNTIME_KEY_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <string.h>

#include "wire/message.h"

struct nri_key {
    const char *text;
    size_t length;
};

static inline struct nri_key nri_key_from(const char *text)
{
    return (struct nri_key){text, nri_message_text_length(text)};
}

/* The string directly behind an entry's base: in KeyValue, Mount, HugepageLimit, POSIXRlimit,
 * LinuxNamespace, LinuxDevice, CDIDevice, ContainerEviction and in the entries of maps. */
static inline struct nri_key nri_key_of(const void *entry)
{
    const char *text;
    memcpy(&text, (const char *)entry + sizeof(ProtobufCMessage), sizeof text);
    return nri_key_from(text);
}

/* Whether it is marked for removal; the mark goes. */
static inline bool nri_key_unmark(struct nri_key *key)
{
    if (key->length == 0 || key->text[0] != '-')
        return false;
    key->text++;
    key->length--;
    return true;
}

static inline bool nri_key_same(struct nri_key a, struct nri_key b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

#endif
