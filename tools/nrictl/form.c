/* SPDX-License-Identifier: Apache-2.0 */
#include "form.h"

#include <inttypes.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/quote.h"
#include "near.h"

/* ---- what is wrong ---- */

static int refuse_at(const struct form_check *check, const struct nri_json *value, bool of_key,
                     int code, const char *format, va_list arguments)
    __attribute__((format(printf, 5, 0)));

static int refuse_at(const struct form_check *check, const struct nri_json *value, bool of_key,
                     int code, const char *format, va_list arguments)
{
    char text[NRI_ERROR_TEXT_SIZE];
    (void)vsnprintf(text, sizeof text, format, arguments);
    return nri_error_set_at(
        check->error, code, check->name, of_key ? nri_json_key_line(value) : nri_json_line(value),
        of_key ? nri_json_key_column(value) : nri_json_column(value), "%s", text);
}

int form_refuse(const struct form_check *check, const struct nri_json *value, const char *format,
                ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int code = refuse_at(check, value, false, NRI_E_SYNTAX, format, arguments);
    va_end(arguments);
    return code;
}

static int refuse_key(const struct form_check *check, const struct nri_json *value,
                      const char *format, ...) __attribute__((format(printf, 3, 4)));

static int refuse_key(const struct form_check *check, const struct nri_json *value,
                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int code = refuse_at(check, value, true, NRI_E_SYNTAX, format, arguments);
    va_end(arguments);
    return code;
}

/* ---- what would be right, in words ---- */

struct words {
    char text[400];
    size_t length;
};

static void say(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int wanted = vsnprintf(words->text + words->length, sizeof words->text - words->length,
                                 format, arguments);
    va_end(arguments);
    if (wanted > 0)
        words->length += (size_t)wanted;
    if (words->length >= sizeof words->text)
        words->length = sizeof words->text - 1;
}

static void say_choices(struct words *words, const struct form_key *key)
{
    for (size_t i = 0; key->choices[i] != NULL; i++)
        say(words, "%s%s",
            i == 0                        ? ""
            : key->choices[i + 1] == NULL ? " or "
                                          : ", ",
            key->choices[i]);
}

static void say_type(struct words *words, const struct form_key *key, unsigned type)
{
    static const struct {
        unsigned type;
        const char *words;
    } names[] = {{FORM_TEXT, "a text that is not empty"},
                 {FORM_FLAG, "true or false"},
                 {FORM_LIST, "a list"},
                 {FORM_MAP, "an object"},
                 {FORM_JSON, "an object"},
                 {FORM_OBJECT, "an object"},
                 {FORM_NULL, "null"},
                 {FORM_PLAIN, "a value"},
                 {FORM_PATTERN, "a regular expression"}};
    if (type == FORM_NUMBER)
        say(words, "a whole number from %" PRId64 " to %" PRId64, key->least, key->most);
    else if (type == FORM_TIME)
        say(words, "a time such as 250ms, 2s or 1m30s, from %" PRId64 " to %" PRId64 " ms",
            key->least, key->most);
    else if (type == FORM_CHOICE)
        say_choices(words, key);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].type == type)
            say(words, "%s", names[i].words);
    }
}

static void say_types(struct words *words, const struct form_key *key)
{
    for (unsigned left = key->types; left != 0; left &= left - 1) {
        const size_t before = words->length;
        say_type(words, key, left & (~left + 1));
        if (words->length != before && (left & (left - 1)) != 0)
            say(words, ", or ");
    }
}

static const char *shown(const struct nri_json *value, struct nri_quote *quote)
{
    switch (nri_json_type(value)) {
    case NRI_JSON_STRING:
        return nri_quote(quote, nri_json_string(value, NULL));
    case NRI_JSON_NUMBER:
        return nri_json_number_text(value);
    case NRI_JSON_BOOL:
        return nri_json_bool(value) ? "true" : "false";
    case NRI_JSON_ARRAY:
        return "a list";
    case NRI_JSON_OBJECT:
        return "an object";
    default:
        return "nothing";
    }
}

static int refuse_type(const struct form_check *check, const struct form_key *key, const char *name,
                       const struct nri_json *value)
{
    struct words words = {.length = 0};
    struct nri_quote quote;
    struct near near;
    const char *meant = NULL;
    say_types(&words, key);
    if ((key->types & FORM_CHOICE) != 0 && nri_json_type(value) == NRI_JSON_STRING) {
        near_begin(&near, nri_json_string(value, NULL));
        for (size_t i = 0; key->choices[i] != NULL; i++)
            near_offer(&near, key->choices[i]);
        meant = near_end(&near);
    }
    return form_refuse(check, value, "%s must be %s, not %.120s%s%s%s", name, words.text,
                       shown(value, &quote), meant != NULL ? "; is \"" : "",
                       meant != NULL ? meant : "", meant != NULL ? "\" meant?" : "");
}

/* ---- keys that are not there ---- */

static const struct form_key *find_key(const struct form_key *keys, const char *name)
{
    for (; keys != NULL && keys->name != NULL; keys++) {
        if (strcmp(keys->name, name) == 0)
            return keys;
    }
    return NULL;
}

static void offer_keys(struct near *near, const struct form_key *keys)
{
    for (; keys != NULL && keys->name != NULL; keys++)
        near_offer(near, keys->name);
}

/* The form that has such a key, for one that stands where it means nothing. */
static const struct form *owner_of(const struct form_check *check, const char *name)
{
    for (size_t i = 0; check->all != NULL && check->all[i] != NULL; i++) {
        const struct form *form = check->all[i];
        if (find_key(form->keys, name) != NULL)
            return form;
        for (size_t j = 0; form->variants != NULL && form->variants[j] != NULL; j++) {
            if (find_key(form->variants[j]->keys, name) != NULL)
                return form->variants[j];
        }
    }
    return NULL;
}

static int refuse_unknown(const struct form_check *check, const struct form *form,
                          const struct form *variant, const char *name,
                          const struct nri_json *value)
{
    const char *what = variant != NULL ? variant->name : form->name;
    struct nri_quote quote;
    struct near near;
    const struct form *owner = owner_of(check, name);
    (void)nri_quote(&quote, name);
    near_begin(&near, name);
    offer_keys(&near, form->keys);
    offer_keys(&near, variant != NULL ? variant->keys : NULL);
    for (size_t i = 0; variant == NULL && form->variants != NULL && form->variants[i] != NULL; i++)
        near_offer(&near, form->variants[i]->keys->name);
    const char *meant = near_end(&near);
    /* A slip of one letter is likelier than a key at the wrong place. */
    if (owner != NULL && (meant == NULL || near.distance > 1))
        return refuse_key(check, value, "%s is not a key of %s: it belongs to %s", quote.text, what,
                          owner->name);
    if (meant != NULL)
        return refuse_key(check, value, "%s is not a key of %s; is \"%s\" meant?", quote.text, what,
                          meant);
    struct words words = {.length = 0};
    for (const struct form_key *key = form->keys; key != NULL && key->name != NULL; key++)
        say(&words, "%s%s", words.length > 0 ? ", " : "", key->name);
    for (const struct form_key *key = variant != NULL ? variant->keys : NULL;
         key != NULL && key->name != NULL; key++)
        say(&words, "%s%s", words.length > 0 ? ", " : "", key->name);
    return refuse_key(check, value, "%s is not a key of %s, which has %s", quote.text, what,
                      words.text);
}

/* ---- single values ---- */

static int check_value(const struct form_check *check, const struct form_key *key, const char *name,
                       const struct nri_json *value);

bool form_time(const char *text, uint64_t *milliseconds)
{
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    uint64_t sum = 0;
    if (*text == '\0')
        return false;
    while (*text != '\0') {
        const size_t digits = strspn(text, "0123456789");
        uint64_t number = 0, factor = 0;
        for (size_t i = 0; i < digits; i++)
            number = number * 10 + (uint64_t)(text[i] - '0');
        text += digits;
        const size_t letters = strspn(text, "hms");
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            if (strlen(units[i].unit) == letters && strncmp(units[i].unit, text, letters) == 0)
                factor = units[i].factor;
        }
        if (digits == 0 || digits > 12 || factor == 0)
            return false;
        sum += number * factor;
        text += letters;
    }
    *milliseconds = sum;
    return true;
}

static bool is_time(const struct form_key *key, const char *text)
{
    uint64_t milliseconds;
    return form_time(text, &milliseconds) && milliseconds >= (uint64_t)key->least &&
           milliseconds <= (uint64_t)key->most;
}

static bool is_choice(const struct form_key *key, const char *text)
{
    for (size_t i = 0; key->choices[i] != NULL; i++) {
        if (strcmp(key->choices[i], text) == 0)
            return true;
    }
    return false;
}

static int check_pattern(const struct form_check *check, const char *name,
                         const struct nri_json *value)
{
    regex_t pattern;
    char why[120];
    const int rc = regcomp(&pattern, nri_json_string(value, NULL), REG_EXTENDED | REG_NOSUB);
    if (rc == 0) {
        regfree(&pattern);
        return 0;
    }
    (void)regerror(rc, &pattern, why, sizeof why);
    return form_refuse(check, value, "%s is no regular expression: %s", name, why);
}

static bool is_plain(const struct form_key *key, const struct nri_json *value)
{
    const char *text = nri_json_string(value, NULL);
    int64_t number;
    switch (nri_json_type(value)) {
    case NRI_JSON_NULL:
        return (key->types & FORM_NULL) != 0;
    case NRI_JSON_BOOL:
        return (key->types & FORM_FLAG) != 0;
    case NRI_JSON_NUMBER:
        return (key->types & FORM_NUMBER) != 0 && nri_json_int64(value, &number) == 0 &&
               number >= key->least && number <= key->most;
    case NRI_JSON_STRING:
        return ((key->types & (FORM_TEXT | FORM_PATTERN)) != 0 && *text != '\0') ||
               ((key->types & FORM_TIME) != 0 && is_time(key, text)) ||
               ((key->types & FORM_CHOICE) != 0 && is_choice(key, text));
    default:
        return (key->types & FORM_JSON) != 0 && nri_json_type(value) == NRI_JSON_OBJECT;
    }
}

static int check_items(const struct form_check *check, const struct form_key *key, const char *name,
                       const struct nri_json *value)
{
    const size_t count = nri_json_count(value);
    const size_t most = key->most_items != 0 ? key->most_items : FORM_MOST_ITEMS;
    int rc = 0;
    if (count > most)
        return form_refuse(check, value, "%s has %zu elements, at most %zu are possible", name,
                           count, most);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (nri_json_type(value) == NRI_JSON_ARRAY) {
            rc = check_value(check, key->item, name, nri_json_at(value, i));
        } else {
            const char *member;
            const struct nri_json *inner = nri_json_member_at(value, i, &member, NULL);
            struct nri_quote quote;
            rc = check_value(check, key->item, nri_quote(&quote, member), inner);
        }
    }
    return rc;
}

static int check_value(const struct form_check *check, const struct form_key *key, const char *name,
                       const struct nri_json *value)
{
    const enum nri_json_type type = nri_json_type(value);
    if ((key->types & FORM_ANY) != 0 || ((key->types & FORM_PLAIN) != 0 && type != NRI_JSON_OBJECT))
        return 0;
    if (type == NRI_JSON_OBJECT && (key->types & FORM_OBJECT) != 0)
        return form_check(check, key->form, value);
    if ((type == NRI_JSON_OBJECT && (key->types & FORM_MAP) != 0) ||
        (type == NRI_JSON_ARRAY && (key->types & FORM_LIST) != 0))
        return check_items(check, key, name, value);
    if (!is_plain(key, value))
        return refuse_type(check, key, name, value);
    return (key->types & FORM_PATTERN) != 0 ? check_pattern(check, name, value) : 0;
}

/* ---- objects ---- */

const struct form *form_variant(const struct form *form, const struct nri_json *value)
{
    for (size_t i = 0; form->variants != NULL && form->variants[i] != NULL; i++) {
        if (nri_json_get(value, form->variants[i]->keys->name) != NULL)
            return form->variants[i];
    }
    return NULL;
}

static int check_variant(const struct form_check *check, const struct form *form,
                         const struct form **variant, const struct nri_json *value)
{
    struct words words = {.length = 0};
    struct near near;
    *variant = form_variant(form, value);
    for (size_t i = 0; *variant != NULL && form->variants[i] != NULL; i++) {
        const char *name = form->variants[i]->keys->name;
        const struct nri_json *second = nri_json_get(value, name);
        if (form->variants[i] != *variant && second != NULL && find_key(form->keys, name) == NULL)
            return refuse_key(check, second, "%s has both \"%s\" and \"%s\": it is one thing",
                              form->name, (*variant)->keys->name, name);
    }
    if (*variant != NULL)
        return 0;
    /* A misspelt key is more help than the list of all. */
    for (size_t i = 0; i < nri_json_count(value); i++) {
        const char *name;
        const struct nri_json *member = nri_json_member_at(value, i, &name, NULL);
        near_begin(&near, name);
        for (size_t j = 0; form->variants[j] != NULL; j++)
            near_offer(&near, form->variants[j]->keys->name);
        if (find_key(form->keys, name) == NULL && near_end(&near) != NULL)
            return refuse_unknown(check, form, NULL, name, member);
    }
    for (size_t i = 0; form->variants[i] != NULL; i++)
        say(&words, "%s%s", i == 0 ? "" : ", ", form->variants[i]->keys->name);
    return form_refuse(check, value, "%s needs one of %s", form->name, words.text);
}

static int check_required(const struct form_check *check, const struct form *form,
                          const struct form_key *keys, const struct nri_json *value)
{
    for (; keys != NULL && keys->name != NULL; keys++) {
        if (keys->required && nri_json_get(value, keys->name) == NULL)
            return form_refuse(check, value, "%s needs \"%s\": %s", form->name, keys->name,
                               keys->help);
    }
    return 0;
}

int form_check(const struct form_check *check, const struct form *form,
               const struct nri_json *value)
{
    const struct form *variant = NULL;
    int rc = 0;
    if (nri_json_type(value) != NRI_JSON_OBJECT) {
        struct nri_quote quote;
        return form_refuse(check, value, "%s must be an object, not %.120s", form->name,
                           shown(value, &quote));
    }
    if (form->variants != NULL)
        rc = check_variant(check, form, &variant, value);
    for (size_t i = 0; rc == 0 && i < nri_json_count(value); i++) {
        const char *name;
        const struct nri_json *member = nri_json_member_at(value, i, &name, NULL);
        const struct form_key *key = find_key(form->keys, name);
        if (key == NULL && variant != NULL)
            key = find_key(variant->keys, name);
        if (key != NULL)
            rc = check_value(check, key, name, member);
        else if (!form->open)
            rc = refuse_unknown(check, form, variant, name, member);
    }
    if (rc == 0 && form->some && nri_json_count(value) == 0)
        rc = form_refuse(check, value, "%s is empty", form->name);
    if (rc == 0)
        rc = check_required(check, form, form->keys, value);
    if (rc == 0 && variant != NULL)
        rc = check_required(check, variant, variant->keys, value);
    return rc;
}
