/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations: the first line of the input is the end of an annotation's key, the rest is its value
 * (without a line break the input is the value, and the key is bare). Each reader takes the value
 * or refuses it with a text that names the annotation; what it took is the same after being written
 * and read again; and the readers agree with each other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nri/annotation.h>
#include <nri/quantity.h>

#include "base/text.h"
#include "model/model.h"

#define KEY "k"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

/* The key and the value of the pod's only annotation. */
struct input {
    const nri_pod *pod;
    const char *key, *value;
    size_t key_length, value_length;
};

/* ---- the look-up ---- */

static bool key_is(const struct input *input, const char *key)
{
    return input->key_length == strlen(key) && memcmp(input->key, key, input->key_length) == 0;
}

static bool found_by(const struct input *input, const char *name, enum nri_annotation_syntax syntax)
{
    const char *value, *found;
    bool is_there = nri_annotation_find(input->pod, name, KEY, syntax, &value, &found);
    CHECK(is_there ? value == input->value && found == input->key
                   : value[0] == '\0' && found[0] == '\0');
    return is_there;
}

static void check_find(const struct input *input)
{
    bool bare = key_is(input, KEY), pod = key_is(input, KEY "/pod");
    bool container = key_is(input, KEY "/container.c"), name = key_is(input, KEY "/c");
    CHECK(found_by(input, "c", NRI_ANNOTATION_SCOPED) == (bare || pod || container));
    CHECK(found_by(input, NULL, NRI_ANNOTATION_SCOPED) == (bare || pod));
    CHECK(found_by(input, "c", NRI_ANNOTATION_NAME) == (bare || name));
    CHECK(found_by(input, "", NRI_ANNOTATION_NAME) == bare);
    CHECK(found_by(input, "c", NRI_ANNOTATION_CONTAINER) == container);
}

/* ---- the values ---- */

/* Whether a value was taken; else the error is as it should be. */
static bool taken(int code, nri_error *const *made)
{
    static const char start[] = "annotation \"" KEY;
    nri_error *error = *made;
    if (code == 0) {
        CHECK(error == NULL);
        return true;
    }
    const char *text = nri_error_get_text(error);
    CHECK(nri_error_get_code(error) == code);
    CHECK(code == NRI_E_SYNTAX || code == NRI_E_RANGE || code == NRI_E_UTF8 || code == NRI_E_LIMIT);
    CHECK(strncmp(text, start, strlen(start)) == 0);
    CHECK(nri_utf8_valid(text, strlen(text), NULL));
    nri_error_free(error);
    return false;
}

#define TAKE(type, value_)                                                                         \
    taken(nri_annotation_##type(input->pod, "c", KEY, NRI_ANNOTATION_SCOPED, (value_), &error),    \
          &error)

static void check_quantity(const struct input *input, int64_t *whole, int64_t *milli,
                           bool *has_whole, bool *has_milli)
{
    char text[32];
    int64_t again;
    nri_error *error = NULL;
    *has_whole = TAKE(quantity, whole);
    *has_milli = TAKE(milli_quantity, milli);
    if (*has_whole) {
        CHECK(nri_quantity_format(*whole, text, sizeof text) < sizeof text);
        CHECK(nri_quantity_parse(text, &again, NULL) == 0 && again == *whole);
    }
    if (*has_milli) {
        CHECK(nri_quantity_format_milli(*milli, text, sizeof text) < sizeof text);
        CHECK(nri_quantity_parse_milli(text, &again, NULL) == 0 && again == *milli);
        /* Rounding twice is rounding once. */
        CHECK(*has_whole);
        CHECK(*whole == *milli / 1000 + (*milli % 1000 > 0) - (*milli % 1000 < 0));
    }
}

static void check_numbers(const struct input *input)
{
    bool flag = false, has_whole, has_milli;
    int64_t number = 0, whole = 0, milli = 0;
    nri_error *error = NULL;
    check_quantity(input, &whole, &milli, &has_whole, &has_milli);
    if (TAKE(int64, &number)) {
        char text[32];
        int64_t again;
        CHECK(has_whole && number == whole);
        snprintf(text, sizeof text, "%" PRId64, number);
        CHECK(nri_quantity_parse(text, &again, NULL) == 0 && again == number);
        CHECK(has_milli == (number <= INT64_MAX / 1000 && number >= INT64_MIN / 1000));
    }
    if (TAKE(bool, &flag))
        CHECK(input->value_length <= 5);
}

static void check_cpuset(const struct input *input)
{
    nri_cpuset *set = NULL, *again = NULL;
    nri_error *error = NULL;
    CHECK(nri_cpuset_new(&set, NULL) == 0 && nri_cpuset_new(&again, NULL) == 0);
    if (TAKE(cpuset, set)) {
        size_t length = nri_cpuset_format(set, NULL, 0);
        char *text = malloc(length + 1);
        CHECK(text != NULL && nri_cpuset_format(set, text, length + 1) == length);
        CHECK(nri_cpuset_parse(again, text, NULL) == 0 && nri_cpuset_equal(set, again));
        CHECK((nri_cpuset_count(set) == 0) == (length == 0));
        free(text);
    }
    nri_cpuset_free(set);
    nri_cpuset_free(again);
}

static void check_json(const struct input *input)
{
    nri_document *document;
    nri_error *error = NULL;
    if (taken(nri_annotation_json(input->pod, "c", KEY, NRI_ANNOTATION_SCOPED, NULL, &document,
                                  &error),
              &error)) {
        const nri_value *root = nri_document_root(document);
        CHECK(root != NULL && nri_value_line(root) >= 1);
        CHECK(nri_value_at(root, nri_value_count(root)) == NULL);
    } else {
        CHECK(document == NULL);
    }
    nri_document_free(document);
}

static void check_input(const struct input *input)
{
    bool flag;
    check_find(input);
    if (!found_by(input, "c", NRI_ANNOTATION_SCOPED)) {
        CHECK(nri_annotation_bool(input->pod, "c", KEY, NRI_ANNOTATION_SCOPED, &flag, NULL) ==
              NRI_E_NOT_FOUND);
        return;
    }
    check_numbers(input);
    check_cpuset(input);
    check_json(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size > 0 ? (const char *)data : ""; /* there may be no data at all */
    const char *line = memchr(text, '\n', size);
    size_t tail = line != NULL ? (size_t)(line - text) : 0, skip = line != NULL ? tail + 1 : 0;
    Nri__Pkg__Api__V1alpha1__PodSandbox__AnnotationsEntry entry, *entries[] = {&entry};
    Nri__Pkg__Api__V1alpha1__PodSandbox message;
    struct nri_alloc alloc;
    struct nri_arena arena;
    CHECK(nri_alloc_resolve(&alloc, NULL) == 0);
    nri_arena_init(&arena, &alloc, 0, SIZE_MAX);
    nri__pkg__api__v1alpha1__pod_sandbox__init(&message);
    nri__pkg__api__v1alpha1__pod_sandbox__annotations_entry__init(&entry);
    entry.key = nri_arena_text2(&arena, KEY, strlen(KEY), text, tail);
    entry.value = nri_arena_text(&arena, text + skip, size - skip);
    CHECK(entry.key != NULL && entry.value != NULL);
    message.annotations = entries;
    message.n_annotations = 1;
    check_input(&(struct input){
        .pod = nri_pod_view(&message),
        .key = entry.key,
        .value = entry.value,
        .key_length = strlen(KEY) + tail,
        .value_length = size - skip,
    });
    nri_arena_fini(&arena);
    return 0;
}
