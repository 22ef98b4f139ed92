/* SPDX-License-Identifier: Apache-2.0 */
#include "brief.h"

#include <string.h>

#include "base/text.h"

/* What is being written, in a room that is never left. */
struct writing {
    char *text;
    size_t used, room;
    bool cut;
};

static void write_value(struct writing *writing, const struct nri_json *value, const char *key,
                        bool nested);

static void put(struct writing *writing, const char *text, size_t length)
{
    const size_t left = writing->room - writing->used;
    if (writing->cut)
        return;
    writing->cut = length > left;
    if (writing->cut)
        length = nri_utf8_cut(text, left);
    memcpy(writing->text + writing->used, text, length);
    writing->used += length;
}

static bool is_text(const struct nri_json *value, const char *text)
{
    size_t length;
    if (text[0] == '\0' || nri_json_type(value) != NRI_JSON_STRING)
        return false;
    const char *own = nri_json_string(value, &length);
    return strlen(text) == length && memcmp(own, text, length) == 0;
}

static void write_text(struct writing *writing, const struct nri_json *value, const char *key)
{
    size_t length;
    const char *text = nri_json_string(value, &length);
    const size_t name = strlen(key);
    if (name > 0 && length > name && text[name] == '=' && memcmp(text, key, name) == 0) {
        text += name + 1;
        length -= name + 1;
    }
    put(writing, text, length);
}

static void write_object(struct writing *writing, const struct nri_json *value, const char *key,
                         bool nested)
{
    bool first = true;
    if (nested)
        put(writing, "{", 1);
    for (size_t i = 0; !writing->cut && i < nri_json_count(value); i++) {
        const char *name;
        size_t length;
        const struct nri_json *member = nri_json_member_at(value, i, &name, &length);
        if (is_text(member, key))
            continue;
        put(writing, " ", first ? 0 : 1);
        put(writing, name, length);
        put(writing, "=", 1);
        write_value(writing, member, "", true);
        first = false;
    }
    if (nested)
        put(writing, "}", 1);
}

static void write_value(struct writing *writing, const struct nri_json *value, const char *key,
                        bool nested)
{
    switch (nri_json_type(value)) {
    case NRI_JSON_STRING:
        write_text(writing, value, key);
        break;
    case NRI_JSON_NUMBER:
        put(writing, nri_json_number_text(value), strlen(nri_json_number_text(value)));
        break;
    case NRI_JSON_BOOL:
        put(writing, nri_json_bool(value) ? "true" : "false", nri_json_bool(value) ? 4 : 5);
        break;
    case NRI_JSON_ARRAY:
        for (size_t i = 0; !writing->cut && i < nri_json_count(value); i++) {
            put(writing, ",", i == 0 ? 0 : 1);
            write_value(writing, nri_json_at(value, i), "", true);
        }
        break;
    case NRI_JSON_OBJECT:
        write_object(writing, value, key, nested);
        break;
    case NRI_JSON_NULL:
        put(writing, "null", 4);
        break;
    }
}

void brief_value(const struct nri_json *value, const char *key, char *text, size_t room)
{
    struct writing writing = {.text = text, .room = room - 1};
    write_value(&writing, value, key, false);
    if (writing.cut && writing.room >= 3) {
        writing.used =
            nri_utf8_cut(text, writing.used < writing.room - 3 ? writing.used : writing.room - 3);
        memcpy(text + writing.used, "...", 3);
        writing.used += 3;
    }
    text[writing.used] = '\0';
}
