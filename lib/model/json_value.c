/* SPDX-License-Identifier: Apache-2.0 */
#include "model/json_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/quote.h"

/* A number is at most as long in an error. */
#define SHOWN 40

const char *nri_json_value_shown(const struct nri_json *value)
{
    switch (nri_json_type(value)) {
    case NRI_JSON_NULL:
        return "null";
    case NRI_JSON_BOOL:
        return nri_json_bool(value) ? "true" : "false";
    case NRI_JSON_NUMBER:
        return "a number";
    case NRI_JSON_STRING:
        return "a text";
    case NRI_JSON_ARRAY:
        return "a list";
    case NRI_JSON_OBJECT:
        break;
    }
    return "an object";
}

static int wrong_type(const struct nri_json_source *source, const struct nri_json_place *place,
                      const struct nri_json *value, const char *what)
{
    return nri_json_refuse(source, place, value, NRI_E_SYNTAX, "must be %s, found %s", what,
                           nri_json_value_shown(value));
}

/* ---- integers ---- */

/* What a type takes; a signed one from -most - 1. */
struct range {
    bool is_signed;
    bool text; /* also as a decimal text, as protobuf's JSON has 64-bit integers */
    uint64_t most;
};

static struct range range_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_INT64:
        return (struct range){true, true, INT64_MAX};
    case PROTOBUF_C_TYPE_UINT64:
        return (struct range){false, true, UINT64_MAX};
    case PROTOBUF_C_TYPE_UINT32:
        return (struct range){false, false, UINT32_MAX};
    default: /* also the numbers of enums */
        return (struct range){true, false, INT32_MAX};
    }
}

/* A decimal number and nothing else; no second spelling of the same one. */
static int parse_decimal(const char *text, bool *negative, uint64_t *magnitude)
{
    uint64_t sum = 0;
    bool overflow = false;
    *negative = *text == '-';
    text += *negative;
    if (*text == '\0' || (*text == '0' && (text[1] != '\0' || *negative)))
        return NRI_E_SYNTAX;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return NRI_E_SYNTAX;
        const unsigned digit = (unsigned)(*text - '0');
        overflow = overflow || sum > (UINT64_MAX - digit) / 10;
        sum = sum * 10 + digit;
    }
    *magnitude = sum;
    return overflow ? NRI_E_RANGE : 0;
}

/* A JSON number as sign and magnitude; 1.0 and 1e2 are integers. */
static int parse_number(const struct nri_json *value, bool *negative, uint64_t *magnitude)
{
    int64_t number;
    *negative = false;
    int code = nri_json_uint64(value, magnitude);
    if (code != NRI_E_RANGE)
        return code;
    code = nri_json_int64(value, &number);
    if (code != 0)
        return code;
    *negative = true; /* a number that fits only here is below 0 */
    *magnitude = UINT64_MAX - (uint64_t)number + 1;
    return 0;
}

static int refuse_integer(const struct nri_json_source *source, const struct nri_json_place *place,
                          const struct nri_json *value, const struct range *range, int code,
                          const char *shown)
{
    if (code != NRI_E_RANGE)
        return nri_json_refuse(source, place, value, NRI_E_SYNTAX, "must be an integer, found %s",
                               shown);
    if (range->is_signed)
        return nri_json_refuse(source, place, value, code,
                               "must be -%" PRIu64 " to %" PRIu64 ", found %s", range->most + 1,
                               range->most, shown);
    return nri_json_refuse(source, place, value, code, "must be 0 to %" PRIu64 ", found %s",
                           range->most, shown);
}

static bool fits(const struct range *range, bool negative, uint64_t magnitude)
{
    if (!negative)
        return magnitude <= range->most;
    return range->is_signed && magnitude <= range->most + 1;
}

static void store(ProtobufCType type, bool negative, uint64_t magnitude, void *member)
{
    /* Two's complement: also the least number has its bits right. */
    const uint64_t bits = negative ? UINT64_MAX - magnitude + 1 : magnitude;
    const uint32_t half = (uint32_t)bits;
    if (type == PROTOBUF_C_TYPE_INT64 || type == PROTOBUF_C_TYPE_UINT64)
        memcpy(member, &bits, sizeof bits);
    else
        memcpy(member, &half, sizeof half);
}

static int read_integer(const struct nri_json_source *source, const struct nri_json_place *place,
                        ProtobufCType type, const struct nri_json *value, void *member)
{
    const struct range range = range_of(type);
    struct nri_quote quote;
    char number[SHOWN + 4];
    const char *shown;
    bool negative = false;
    uint64_t magnitude = 0;
    int code;
    if (nri_json_type(value) == NRI_JSON_STRING && range.text) {
        const char *text = nri_json_string(value, NULL);
        shown = nri_quote(&quote, text);
        code = parse_decimal(text, &negative, &magnitude);
    } else if (nri_json_type(value) == NRI_JSON_NUMBER) {
        const char *text = nri_json_number_text(value);
        bool cut = strlen(text) > SHOWN;
        snprintf(number, sizeof number, "%.*s%s", SHOWN, text, cut ? "..." : "");
        shown = number;
        code = parse_number(value, &negative, &magnitude);
    } else {
        return wrong_type(source, place, value,
                          range.text ? "an integer or a decimal text" : "an integer");
    }
    if (code == 0 && !fits(&range, negative, magnitude))
        code = NRI_E_RANGE;
    if (code != 0)
        return refuse_integer(source, place, value, &range, code, shown);
    store(type, negative, magnitude, member);
    return 0;
}

/* ---- the other types ---- */

/* Names are listed as far as there is room. */
static int refuse_name(const struct nri_json_source *source, const struct nri_json_place *place,
                       const struct nri_json *value, const ProtobufCEnumDescriptor *type)
{
    struct nri_quote quote;
    char known[NRI_ERROR_TEXT_SIZE / 2];
    size_t length = 0;
    known[0] = '\0';
    for (unsigned i = 0; i < type->n_values; i++) {
        size_t name = strlen(type->values[i].name);
        if (name + 3 > sizeof known - length)
            break;
        memcpy(known + length, ", ", 2);
        memcpy(known + length + 2, type->values[i].name, name + 1);
        length += name + 2;
    }
    return nri_json_refuse(source, place, value, NRI_E_SYNTAX, "%s is no %s; these are: %s",
                           nri_quote(&quote, nri_json_string(value, NULL)), type->short_name,
                           known + (length == 0 ? 0 : 2));
}

static int read_enum(const struct nri_json_source *source, const struct nri_json_place *place,
                     const ProtobufCEnumDescriptor *type, const struct nri_json *value,
                     void *member)
{
    if (nri_json_type(value) == NRI_JSON_NUMBER)
        return read_integer(source, place, PROTOBUF_C_TYPE_ENUM, value, member);
    if (nri_json_type(value) != NRI_JSON_STRING)
        return wrong_type(source, place, value, "a name or a number");
    const ProtobufCEnumValue *found =
        protobuf_c_enum_descriptor_get_value_by_name(type, nri_json_string(value, NULL));
    if (found == NULL)
        return refuse_name(source, place, value, type);
    memcpy(member, &found->value, sizeof found->value);
    return 0;
}

/* The text is the document's own: both are in the same arena. */
static char *take_text(const char *text)
{
    const char *taken = nri_text_stored_length(text) == 0 ? protobuf_c_empty_string : text;
    return (char *)(uintptr_t)taken;
}

int nri_json_read_value(const struct nri_json_source *source, const struct nri_json_place *place,
                        const ProtobufCFieldDescriptor *field, const struct nri_json *value,
                        void *member)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        if (nri_json_type(value) != NRI_JSON_STRING)
            return wrong_type(source, place, value, "a text");
        *(char **)member = take_text(nri_json_string(value, NULL));
        return 0;
    case PROTOBUF_C_TYPE_BOOL:
        if (nri_json_type(value) != NRI_JSON_BOOL)
            return wrong_type(source, place, value, "true or false");
        *(protobuf_c_boolean *)member = nri_json_bool(value);
        return 0;
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(source, place, field->descriptor, value, member);
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_UINT64:
        return read_integer(source, place, field->type, value, member);
    default: /* the test test_json_schema checks that nri.proto has no other type */
        return nri_json_refuse(source, place, value, NRI_E_INTERNAL,
                               "libnri does not know the type of this member");
    }
}

/* ---- keys and variables ---- */

int nri_json_read_key(const struct nri_json_source *source, const struct nri_json_place *place,
                      const ProtobufCFieldDescriptor *field, const char *key,
                      const struct nri_json *value, void *member)
{
    const struct range range = range_of(field->type);
    struct nri_quote quote;
    bool negative = false;
    uint64_t magnitude = 0;
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        *(char **)member = take_text(key);
        return 0;
    }
    int code = parse_decimal(key, &negative, &magnitude);
    if (code == 0 && !fits(&range, negative, magnitude))
        code = NRI_E_RANGE;
    if (code != 0) {
        struct nri_json_place wrong = *place;
        wrong.of_key = true;
        return refuse_integer(source, &wrong, value, &range, code, nri_quote(&quote, key));
    }
    store(field->type, negative, magnitude, member);
    return 0;
}

char *nri_json_join(struct nri_arena *arena, const char *name, const char *value, size_t length)
{
    size_t name_length = nri_text_stored_length(name);
    char *text;
    if (length > NRI_TEXT_LARGEST || name_length > NRI_TEXT_LARGEST - 1 - length) {
        arena->failure = NRI_E_LIMIT;
        return NULL;
    }
    text = nri_arena_text2(arena, name, name_length + 1, value, length);
    if (text != NULL)
        text[name_length] = '='; /* instead of the NUL behind the name */
    return text;
}
