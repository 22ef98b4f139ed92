/* SPDX-License-Identifier: Apache-2.0 */
/* The values of annotations as what they mean. */
#include <stdio.h>
#include <string.h>

#include <nri/annotation.h>

#include "base/abi.h"
#include "model/model.h"
#include "model/quote.h"
#include "model/value_fault.h"

/* "annotation ", a quoted key and a colon. */
#define LABEL_SIZE (sizeof "annotation :" + sizeof(struct nri_quote))

/* Which annotation is asked for. */
struct question {
    const nri_pod *pod;
    const char *container_name, *key;
    enum nri_annotation_syntax syntax;
};

/* Reads a text that holds no NUL into a value; returns 0 or the fault's code. */
typedef int value_reader(const char *text, void *value, struct nri_value_fault *fault);

static int refuse_argument(const struct question *question, const void *value,
                           struct nri_error *why)
{
    if (value == NULL)
        return nri_error_set(why, NRI_E_INVALID, "annotation: value is NULL");
    if (question->key == NULL || question->key[0] == '\0')
        return nri_error_set(why, NRI_E_INVALID, "annotation: key must be a text");
    if ((unsigned)question->syntax > NRI_ANNOTATION_CONTAINER)
        return nri_error_set(why, NRI_E_INVALID, "annotation: syntax %u: there is no such one",
                             (unsigned)question->syntax);
    return 0;
}

static void write_label(char label[LABEL_SIZE], const char *found, const char *tail)
{
    struct nri_quote quote;
    snprintf(label, LABEL_SIZE, "annotation %s%s", nri_quote(&quote, found), tail);
}

/* Returns 0 with the annotation's text and whole key, NRI_E_NOT_FOUND without an error, or another
 * code with one. */
static int look_up(const struct question *question, const void *value, const char **text,
                   const char **found, struct nri_error *why)
{
    int code = refuse_argument(question, value, why);
    if (code != 0)
        return code;
    return nri_annotation_find(question->pod, question->container_name, question->key,
                               question->syntax, text, found)
               ? 0
               : NRI_E_NOT_FOUND;
}

static int read_value(const char *found, const char *text, value_reader *take, void *value,
                      struct nri_error *why)
{
    struct nri_value_fault fault;
    char label[LABEL_SIZE];
    size_t length = strlen(text);
    int code = length == nri_text_length(text)
                   ? take(text, value, &fault)
                   : nri_value_fault_set(&fault, NRI_E_SYNTAX, "must not hold a NUL", length);
    if (code == 0)
        return 0;
    write_label(label, found, ":");
    return nri_value_fault_describe(&fault, label, text, why);
}

/* Hands out what went wrong; that there is no annotation is not. */
static int give(int code, const struct nri_error *why, nri_error **error)
{
    struct nri_alloc alloc;
    if (code == 0 || code == NRI_E_NOT_FOUND)
        return code;
    int failure = nri_alloc_resolve(&alloc, NULL);
    return failure != 0 ? failure : nri_value_fault_return(why, &alloc, error);
}

/* All but JSON. */
static int answer(const struct question *question, value_reader *take, void *value,
                  nri_error **error)
{
    const char *text, *found;
    struct nri_error why;
    if (error != NULL)
        *error = NULL;
    nri_error_clear(&why);
    int code = look_up(question, value, &text, &found, &why);
    if (code == 0)
        code = read_value(found, text, take, value, &why);
    return give(code, &why, error);
}

/* ---- readers ---- */

static int read_bool(const char *text, void *value, struct nri_value_fault *fault)
{
    static const char *const words[] = {"0", "f", "F", "FALSE", "false", "False",
                                        "1", "t", "T", "TRUE",  "true",  "True"};
    const size_t count = sizeof words / sizeof words[0];
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0) {
            *(bool *)value = i >= count / 2;
            return 0;
        }
    }
    return nri_value_fault_set(fault, NRI_E_SYNTAX,
                               "must be 1, t, T, TRUE, true, True, 0, f, F, FALSE, false or False",
                               SIZE_MAX);
}

static int read_int64(const char *text, void *value, struct nri_value_fault *fault)
{
    bool negative = text[0] == '-';
    const char *at = text + (text[0] == '-' || text[0] == '+');
    const uint64_t largest = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t number = 0;
    bool fits = true;
    size_t digits = 0;
    for (; at[digits] >= '0' && at[digits] <= '9'; digits++) {
        uint64_t digit = (uint64_t)(at[digits] - '0');
        fits = fits && number <= (largest - digit) / 10;
        number = fits ? number * 10 + digit : number;
    }
    if (digits == 0 || at[digits] != '\0')
        return nri_value_fault_set(fault, NRI_E_SYNTAX, "must be an integer in decimal",
                                   (size_t)(at + digits - text));
    if (!fits)
        return nri_value_fault_set(fault, NRI_E_RANGE,
                                   "must be from -9223372036854775808 to 9223372036854775807",
                                   SIZE_MAX);
    *(int64_t *)value = negative && number > 0 ? -(int64_t)(number - 1) - 1 : (int64_t)number;
    return 0;
}

static int read_quantity(const char *text, void *value, struct nri_value_fault *fault)
{
    return nri_quantity_read(text, false, value, fault);
}

static int read_milli_quantity(const char *text, void *value, struct nri_value_fault *fault)
{
    return nri_quantity_read(text, true, value, fault);
}

static int read_cpuset(const char *text, void *value, struct nri_value_fault *fault)
{
    return nri_cpuset_read(value, text, fault);
}

/* ---- the public functions ---- */

int nri_annotation_bool(const nri_pod *pod, const char *container_name, const char *key,
                        enum nri_annotation_syntax syntax, bool *value, nri_error **error)
{
    const struct question question = {pod, container_name, key, syntax};
    return answer(&question, read_bool, value, error);
}

int nri_annotation_int64(const nri_pod *pod, const char *container_name, const char *key,
                         enum nri_annotation_syntax syntax, int64_t *value, nri_error **error)
{
    const struct question question = {pod, container_name, key, syntax};
    return answer(&question, read_int64, value, error);
}

int nri_annotation_quantity(const nri_pod *pod, const char *container_name, const char *key,
                            enum nri_annotation_syntax syntax, int64_t *value, nri_error **error)
{
    const struct question question = {pod, container_name, key, syntax};
    return answer(&question, read_quantity, value, error);
}

int nri_annotation_milli_quantity(const nri_pod *pod, const char *container_name, const char *key,
                                  enum nri_annotation_syntax syntax, int64_t *value,
                                  nri_error **error)
{
    const struct question question = {pod, container_name, key, syntax};
    return answer(&question, read_milli_quantity, value, error);
}

int nri_annotation_cpuset(const nri_pod *pod, const char *container_name, const char *key,
                          enum nri_annotation_syntax syntax, nri_cpuset *value, nri_error **error)
{
    const struct question question = {pod, container_name, key, syntax};
    return answer(&question, read_cpuset, value, error);
}

int nri_annotation_json(const nri_pod *pod, const char *container_name, const char *key,
                        enum nri_annotation_syntax syntax, const struct nri_json_options *options,
                        nri_document **value, nri_error **error)
{
    const struct question question = {pod, container_name, key, syntax};
    struct nri_json_options known;
    const char *text, *found;
    char label[LABEL_SIZE];
    struct nri_error why;
    if (value != NULL)
        *value = NULL;
    if (error != NULL)
        *error = NULL;
    nri_error_clear(&why);
    int code = nri_abi_take(&known, sizeof known, sizeof known, options, "nri_json_options", &why);
    if (code == 0)
        code = look_up(&question, value, &text, &found, &why);
    if (code != 0)
        return give(code, &why, error);
    write_label(label, found, "");
    known.name = label;
    return nri_document_parse(text, nri_text_length(text), &known, value, error);
}
