/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations: the input is read as YAML and as JSON. What was taken reads as the same after
 * being written, in both; what was refused has a text of one line that names the source. Then the
 * same for a whole configuration and what --print-config shows of it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/config_values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

typedef int read_function(struct app_reader *reader, const char *bytes, size_t length,
                          struct app_node **root);

static void check_error(const char *text, const char *source)
{
    CHECK(strncmp(text, source, strlen(source)) == 0);
    CHECK(strlen(text) < APP_CONFIG_TEXT);
    for (; *text != '\0'; text++)
        CHECK((unsigned char)*text >= 0x20 && *text != 0x7F);
}

/* ---- trees ---- */

static char *written(const struct app_node *root)
{
    size_t length = app_node_write(root, NULL, 0);
    char *text = malloc(length + 1);
    CHECK(text != NULL && app_node_write(root, text, length + 1) == length);
    CHECK(strlen(text) == length);
    return text;
}

/* libyaml has no key longer than 1024 bytes within one line. */
static bool has_long_keys(const struct app_node *node)
{
    if (node->key != NULL && app_text_write(node->key, NULL, 0) > 1000)
        return true;
    for (const struct app_node *member = node->first; member != NULL; member = member->next) {
        if (has_long_keys(member))
            return true;
    }
    return false;
}

static void check_again(read_function *read, const char *text)
{
    struct app_region region = {0};
    char error[APP_CONFIG_TEXT] = "";
    struct app_reader reader = {&region, "again", error, 0};
    struct app_node *root = NULL;
    if (read(&reader, text, strlen(text), &root) != 0)
        check(false, error);
    char *again = written(root);
    CHECK(strcmp(text, again) == 0);
    free(again);
    app_region_fini(&region);
}

static void check_tree(read_function *read, const char *bytes, size_t size)
{
    struct app_region region = {0};
    char error[APP_CONFIG_TEXT] = "";
    struct app_reader reader = {&region, "input", error, 0};
    struct app_node *root = NULL;
    int result = read(&reader, bytes, size, &root);
    CHECK(reader.values <= APP_TREE_MAX_VALUES);
    if (result != 0) {
        CHECK(result == -1);
        check_error(error, "input:");
    } else if (root != NULL) {
        char *text = written(root);
        check_again(app_tree_read_json, text);
        if (!has_long_keys(root))
            check_again(app_tree_read_yaml, text);
        free(text);
    }
    app_region_fini(&region);
}

/* ---- whole configurations ---- */

struct values {
    struct nri_app_texts texts;
    int64_t integer, duration, bytes;
    double number;
    const char *text, *cpus, *document;
    int32_t choice;
    bool boolean;
};

#define AT(member) .offset = offsetof(struct values, member)
static const char *const choices[] = {"x", "y", NULL};
static const struct nri_app_field fields[] = {
    {.name = "b", .type = NRI_APP_BOOL, AT(boolean)},
    {.name = "i", .type = NRI_APP_INTEGER, AT(integer), .minimum = "-1000"},
    {.name = "n", .type = NRI_APP_NUMBER, AT(number), .maximum = "1e300"},
    {.name = "o.t", .type = NRI_APP_TEXT, AT(text), .help = "a text"},
    {.name = "o.d", .type = NRI_APP_DURATION, AT(duration), .standard = "1s"},
    {.name = "o.p.q", .type = NRI_APP_BYTES, AT(bytes)},
    {.name = "c", .type = NRI_APP_CPUS, AT(cpus)},
    {.name = "h", .type = NRI_APP_CHOICE, AT(choice), .choices = choices},
    {.name = "l", .type = NRI_APP_TEXTS, AT(texts)},
    {.name = "a", .type = NRI_APP_DOCUMENT, AT(document)},
};
#define FIELDS (sizeof fields / sizeof *fields)

static struct app_config *read_text(const char *text)
{
    struct app_config_sources sources = {.configure = text, .configure_name = "input"};
    struct app_config *config;
    char error[APP_CONFIG_TEXT] = "";
    int result = app_config_read(&config, fields, FIELDS, sizeof(struct values), &sources, error);
    CHECK((result == 0) == (config != NULL));
    if (result != 0)
        check_error(error, "input:");
    return config;
}

static void check_config(const char *text)
{
    char *shown = NULL;
    size_t size;
    struct app_config *config = read_text(text);
    if (config == NULL)
        return;
    FILE *out = open_memstream(&shown, &size);
    CHECK(out != NULL);
    app_config_print(config, out);
    CHECK(fclose(out) == 0);
    struct app_config *again = read_text(shown);
    CHECK(again != NULL);
    for (size_t i = 0; i < FIELDS; i++) {
        union app_value one, other;
        app_config_get(config, i, &one);
        app_config_get(again, i, &other);
        CHECK(app_field_equal(&fields[i], &one, &other));
    }
    free(shown);
    app_config_free(again);
    app_config_free(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 65536) /* what is written of it must not be over the limit of a source */
        return 0;
    char *text = malloc(size + 1);
    CHECK(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    check_tree(app_tree_read_yaml, text, size);
    check_tree(app_tree_read_json, text, size);
    check_config(text);
    free(text);
    return 0;
}
