/* SPDX-License-Identifier: Apache-2.0 */
#include "match.h"

#include <regex.h>
#include <string.h>

static bool equal_numbers(const struct nri_json *a, const struct nri_json *b)
{
    int64_t whole_a, whole_b;
    uint64_t large_a, large_b;
    double real_a, real_b;
    if (strcmp(nri_json_number_text(a), nri_json_number_text(b)) == 0)
        return true;
    if (nri_json_int64(a, &whole_a) == 0 && nri_json_int64(b, &whole_b) == 0)
        return whole_a == whole_b;
    if (nri_json_uint64(a, &large_a) == 0 && nri_json_uint64(b, &large_b) == 0)
        return large_a == large_b;
    return nri_json_double(a, &real_a) == 0 && nri_json_double(b, &real_b) == 0 &&
           !(real_a < real_b) && !(real_a > real_b);
}

static bool equal_texts(const struct nri_json *a, const struct nri_json *b)
{
    size_t length_a, length_b;
    const char *text_a = nri_json_string(a, &length_a), *text_b = nri_json_string(b, &length_b);
    return length_a == length_b && memcmp(text_a, text_b, length_a) == 0;
}

static bool equal_lists(const struct nri_json *a, const struct nri_json *b)
{
    for (size_t i = 0; i < nri_json_count(a); i++) {
        if (!match_equal(nri_json_at(a, i), nri_json_at(b, i)))
            return false;
    }
    return nri_json_count(a) == nri_json_count(b);
}

/* Whether b has all that a has. */
static bool has_members(const struct nri_json *a, const struct nri_json *b)
{
    for (size_t i = 0; i < nri_json_count(a); i++) {
        const char *key;
        const struct nri_json *value = nri_json_member_at(a, i, &key, NULL);
        const struct nri_json *other = nri_json_get(b, key);
        if (other == NULL || !match_equal(value, other))
            return false;
    }
    return true;
}

bool match_equal(const struct nri_json *a, const struct nri_json *b)
{
    if (nri_json_type(a) != nri_json_type(b))
        return false;
    switch (nri_json_type(a)) {
    case NRI_JSON_BOOL:
        return nri_json_bool(a) == nri_json_bool(b);
    case NRI_JSON_NUMBER:
        return equal_numbers(a, b);
    case NRI_JSON_STRING:
        return equal_texts(a, b);
    case NRI_JSON_ARRAY:
        return equal_lists(a, b);
    case NRI_JSON_OBJECT:
        return nri_json_count(a) == nri_json_count(b) && has_members(a, b);
    default:
        return true;
    }
}

static bool has_element(const struct nri_json *list, const struct nri_json *element)
{
    for (size_t i = 0; i < nri_json_count(list); i++) {
        const struct nri_json *one = nri_json_at(list, i);
        if (match_equal(one, element) ||
            (nri_json_type(one) == NRI_JSON_OBJECT && nri_json_type(element) == NRI_JSON_OBJECT &&
             has_members(element, one)))
            return true;
    }
    return false;
}

static bool contains(const struct nri_json *seen, const struct nri_json *part)
{
    switch (nri_json_type(seen)) {
    case NRI_JSON_STRING:
        return nri_json_type(part) == NRI_JSON_STRING &&
               strstr(nri_json_string(seen, NULL), nri_json_string(part, NULL)) != NULL;
    case NRI_JSON_ARRAY:
        if (nri_json_type(part) != NRI_JSON_ARRAY)
            return has_element(seen, part);
        for (size_t i = 0; i < nri_json_count(part); i++) {
            if (!has_element(seen, nri_json_at(part, i)))
                return false;
        }
        return true;
    case NRI_JSON_OBJECT:
        return nri_json_type(part) == NRI_JSON_OBJECT && has_members(part, seen);
    default:
        return false;
    }
}

static bool matches(const struct nri_json *seen, const char *pattern)
{
    regex_t compiled;
    const char *text = nri_json_type(seen) == NRI_JSON_NUMBER ? nri_json_number_text(seen)
                                                              : nri_json_string(seen, NULL);
    if (nri_json_type(seen) != NRI_JSON_NUMBER && nri_json_type(seen) != NRI_JSON_STRING)
        return false;
    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    const bool found = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return found;
}

bool match_value(const struct nri_json *expected, const struct nri_json *seen)
{
    const struct nri_json *member;
    uint64_t count;
    if (nri_json_type(expected) == NRI_JSON_NULL)
        return nri_json_type(seen) == NRI_JSON_NULL;
    if (nri_json_type(expected) != NRI_JSON_OBJECT)
        return seen != NULL && match_equal(expected, seen);
    if ((member = nri_json_get(expected, "absent")) != NULL &&
        nri_json_bool(member) != (seen == NULL))
        return false;
    if ((member = nri_json_get(expected, "equal")) != NULL &&
        (seen == NULL || !match_equal(member, seen)))
        return false;
    if ((member = nri_json_get(expected, "contains")) != NULL &&
        (seen == NULL || !contains(seen, member)))
        return false;
    if ((member = nri_json_get(expected, "matches")) != NULL &&
        (seen == NULL || !matches(seen, nri_json_string(member, NULL))))
        return false;
    return (member = nri_json_get(expected, "count")) == NULL ||
           (nri_json_uint64(member, &count) == 0 && nri_json_count(seen) == count);
}
