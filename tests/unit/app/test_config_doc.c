/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc/configuration.md: its table is the one below, as it stands; each block of YAML or JSON is
 * read with it, and refused with the text of the block behind it, if that is one.
 */
#include "config_fixture.h"

/* clang-format off */
/* settings of the document */
#define settings document_settings
#include <nri/app.h>

struct settings {
    bool audit;
    int64_t workers;
    const char *log_prefix;
    const char *token;
    int64_t request_timeout; /* nanoseconds */
    const char *cpus;
    int64_t memory; /* bytes */
    int32_t mode;
    struct nri_app_texts namespaces;
    const char *rules; /* JSON */
};

static const char *const modes[] = {"off", "warn", "refuse", NULL};

static const struct nri_app_field fields[] = {
    {.name = "audit", .type = NRI_APP_BOOL, .offset = offsetof(struct settings, audit)},
    {.name = "workers",
     .type = NRI_APP_INTEGER,
     .offset = offsetof(struct settings, workers),
     .standard = "4",
     .minimum = "1",
     .maximum = "64",
     .help = "threads that look at containers"},
    {.name = "log_prefix", .type = NRI_APP_TEXT, .offset = offsetof(struct settings, log_prefix)},
    {.name = "token",
     .type = NRI_APP_TEXT,
     .offset = offsetof(struct settings, token),
     .secret = 1},
    {.name = "timeouts.request",
     .type = NRI_APP_DURATION,
     .offset = offsetof(struct settings, request_timeout),
     .standard = "2s",
     .minimum = "1ms"},
    {.name = "pool.cpus",
     .type = NRI_APP_CPUS,
     .offset = offsetof(struct settings, cpus),
     .fixed = 1},
    {.name = "pool.memory",
     .type = NRI_APP_BYTES,
     .offset = offsetof(struct settings, memory),
     .standard = "1Gi"},
    {.name = "mode",
     .type = NRI_APP_CHOICE,
     .offset = offsetof(struct settings, mode),
     .choices = modes},
    {.name = "namespaces",
     .type = NRI_APP_TEXTS,
     .offset = offsetof(struct settings, namespaces)},
    {.name = "rules", .type = NRI_APP_DOCUMENT, .offset = offsetof(struct settings, rules)},
};
#undef settings
/* clang-format on */

/* A block of the document: what stands between two lines that begin with three backquotes. */
struct block {
    char kind[8];
    char *text;
};

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be read", path);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, file) < 65535);
    fclose(file);
    return text;
}

/* Cuts the next block out of the text; false: there is none. */
static bool next_block(char **text, struct block *block)
{
    char *start = strstr(*text, "```");
    if (start == NULL)
        return false;
    size_t length = strcspn(start + 3, "\n");
    assert_true(length > 0 && length < sizeof block->kind);
    snprintf(block->kind, sizeof block->kind, "%.*s", (int)length, start + 3);
    block->text = start + 3 + length + 1;
    char *end = strstr(block->text, "```");
    assert_non_null(end);
    *end = '\0';
    *text = end + 3;
    return true;
}

static struct app_config *read_block(const struct block *block, char *error)
{
    struct app_config_sources sources = {.configure = block->text, .configure_name = "plugin.yaml"};
    struct app_config *config;
    app_config_read(&config, fields, sizeof fields / sizeof *fields,
                    sizeof(struct document_settings), &sources, error);
    return config;
}

/* The two that are right say the same. */
static void check_good(struct app_config *config)
{
    const struct document_settings *values = app_config_values(config);
    assert_true(values->audit);
    assert_int_equal(values->workers, 8);
    assert_int_equal(values->request_timeout, 1500000000);
    assert_string_equal(values->cpus, "0-3,8");
    assert_int_equal(values->memory, 512 << 20);
    assert_int_equal(values->mode, 2);
    assert_int_equal(values->namespaces.count, 2);
    assert_string_equal(values->namespaces.texts[1], "kube-system");
    assert_string_equal(values->rules, "[{\"match\":{\"app\":\"web\"},\"weight\":10}]");
    app_config_free(config);
}

static void test_U06_blocks(void **state)
{
    (void)state;
    char *document = read_whole(CONFIG_DOCUMENT), *at = document;
    char error[APP_CONFIG_TEXT] = "";
    size_t good = 0, bad = 0, tables = 0;
    struct block block;
    while (next_block(&at, &block)) {
        if (strcmp(block.kind, "c") == 0) {
            char *source = read_whole(CONFIG_SOURCE);
            assert_non_null(strstr(source, block.text));
            free(source);
            tables++;
        } else if (strcmp(block.kind, "text") == 0) {
            /* Of the block before it. */
            size_t length = strlen(error);
            error[length] = '\n';
            error[length + 1] = '\0';
            assert_string_equal(error, block.text);
            error[0] = '\0';
            bad++;
        } else {
            assert_string_equal(error, ""); /* an error was not shown */
            struct app_config *config = read_block(&block, error);
            if (config == NULL)
                continue;
            check_good(config);
            good++;
        }
    }
    assert_string_equal(error, "");
    assert_int_equal(tables, 1);
    assert_int_equal(good, 2);
    assert_int_equal(bad, 9);
    free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_U06_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
