/* SPDX-License-Identifier: Apache-2.0 */
/* Files, drop-ins and Configure over one another; what a reload may not change. */
#include "config_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include "app/config_source.h"

struct fixture {
    struct config_directory directory;
    struct app_config *config;
    char path[256], text[APP_CONFIG_TEXT];
};

static void start(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    config_directory_start(&fixture->directory);
}

static void end(struct fixture *fixture)
{
    app_config_free(fixture->config);
    config_directory_end(&fixture->directory);
}

static void write_file(struct fixture *fixture, const char *name, const char *text)
{
    config_directory_write(&fixture->directory, name, text);
}

static int read_file(struct fixture *fixture, const char *name, const char *configure)
{
    struct app_config_sources sources = {
        .path = config_directory_file(&fixture->directory, name, fixture->path),
        .configure = configure,
        .configure_name = "the runtime's",
    };
    app_config_free(fixture->config);
    return app_config_read(&fixture->config, settings_fields, settings_count,
                           sizeof(struct settings), &sources, fixture->text);
}

static const struct settings *good(struct fixture *fixture, const char *name, const char *configure)
{
    if (read_file(fixture, name, configure) != 0)
        fail_msg("%s", fixture->text);
    return app_config_values(fixture->config);
}

/* `error` is what stands behind the path of the directory and "/". */
static void bad(struct fixture *fixture, const char *name, const char *error)
{
    size_t length = strlen(fixture->directory.path);
    assert_int_equal(read_file(fixture, name, NULL), -1);
    assert_null(fixture->config);
    assert_memory_equal(fixture->text, fixture->directory.path, length);
    assert_string_equal(fixture->text + length + 1, error);
}

static void test_order(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    write_file(&f, "a.yaml", "workers: 1\ngreeting: file\ntimeouts: {request: 1s}\nmode: refuse\n");
    const struct settings *settings = good(&f, "a.yaml", NULL);
    assert_int_equal(settings->workers, 1);
    assert_string_equal(settings->greeting, "file");
    /* By byte: "10" < "9" < "B" < "a". */
    write_file(&f, "a.yaml.d/9.json", "{\"workers\": 9, \"greeting\": \"nine\"}");
    write_file(&f, "a.yaml.d/10.yml", "workers: 10\ngreeting: ten\ntimeouts:\n  connect: 3s\n");
    settings = good(&f, "a.yaml", NULL);
    assert_int_equal(settings->workers, 9);
    assert_string_equal(settings->greeting, "nine");
    write_file(&f, "a.yaml.d/a.yaml", "greeting: small a\n");
    write_file(&f, "a.yaml.d/B.yaml", "greeting: large b\nworkers: 12\n");
    settings = good(&f, "a.yaml", NULL);
    assert_int_equal(settings->workers, 12);
    assert_string_equal(settings->greeting, "small a");
    assert_int_equal(settings->request, 1000000000);
    assert_int_equal(settings->connect, 3000000000);
    assert_int_equal(settings->mode, 2);
    settings = good(&f, "a.yaml", "{\"workers\": 13, \"mode\": null}");
    assert_int_equal(settings->workers, 13);
    assert_string_equal(settings->greeting, "small a");
    assert_int_equal(settings->mode, 2); /* a null gives nothing */
    end(&f);
}

static void test_paths(void **state)
{
    (void)state;
    struct fixture f;
    static const char *const names[] = {"a.json", "a.json.d/1.yaml", "a.json.d/2.json", "a.json.d"};
    start(&f);
    write_file(&f, "a.json", "{}");
    good(&f, "a.json", NULL);
    const char *const *paths = app_config_paths(f.config);
    char path[256];
    assert_string_equal(paths[0], config_directory_file(&f.directory, "a.json", path));
    assert_string_equal(paths[1], config_directory_file(&f.directory, "a.json.d", path));
    assert_null(paths[2]);
    write_file(&f, "a.json.d/2.json", "{}");
    write_file(&f, "a.json.d/1.yaml", "# nothing\n");
    write_file(&f, "a.json.d/README", "not read");
    write_file(&f, "a.json.d/.hidden.yaml", "not read");
    write_file(&f, "a.json.d/1.yaml~", "not read");
    write_file(&f, "a.json.d/.yaml", "not read");
    good(&f, "a.json", NULL);
    paths = app_config_paths(f.config);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(paths[i], config_directory_file(&f.directory, names[i], path));
    assert_null(paths[4]);
    end(&f);
}

static void test_U06_errors_name_their_file(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    bad(&f, "a.yaml", "a.yaml: cannot be read: No such file or directory");
    write_file(&f, "a.yaml", "workers: 1\n");
    write_file(&f, "a.yaml.d/b.yaml", "\ntimeouts:\n  request: 25x\n");
    bad(&f, "a.yaml",
        "a.yaml.d/b.yaml:3: timeouts.request: \"25x\" has a unit that there is not: "
        "there are ns, us, ms, s, m and h");
    write_file(&f, "a.yaml.d/b.yaml", "timeouts:\n  request: 0\n");
    bad(&f, "a.yaml",
        "a.yaml.d/b.yaml:2: timeouts.request: must be a duration such as \"1.5s\", not "
        "the number 0: write ns, us, ms, s, m or h behind it, and quotes");
    write_file(&f, "a.yaml.d/b.yaml", "");
    /* A bad value is one although a later source gives another. */
    write_file(&f, "a.yaml", "workers: 0\n");
    write_file(&f, "a.yaml.d/b.yaml", "workers: 2\n");
    bad(&f, "a.yaml", "a.yaml:1: workers: 0 is out of range: 1 to 64");
    write_file(&f, "a.yaml", "workers: 1\n");
    assert_int_equal(read_file(&f, "a.yaml", "flag: 5"), -1);
    assert_string_equal(f.text, "the runtime's:1: flag: must be true or false, not the number 5");
    end(&f);
}

static void test_files_that_are_none(void **state)
{
    (void)state;
    struct fixture f;
    char path[256];
    start(&f);
    write_file(&f, "a.yaml/x", "");
    bad(&f, "a.yaml", "a.yaml: is a directory, not a file");
    assert_int_equal(mkfifo(config_directory_file(&f.directory, "pipe", path), 0600), 0);
    bad(&f, "pipe", "pipe: is not a regular file");
    write_file(&f, "b.json", "");
    bad(&f, "b.json", "b.json:1:1: expected a value, found the end of the text");
    write_file(&f, "b.yaml", "");
    good(&f, "b.yaml", NULL);
    write_file(&f, "b.yaml.d", "a file");
    bad(&f, "b.yaml", "b.yaml.d: cannot be read: Not a directory");
    assert_int_equal(symlink("b.yaml", config_directory_file(&f.directory, "link.yaml", path)), 0);
    good(&f, "link.yaml", NULL);
    end(&f);
}

static void test_limits(void **state)
{
    (void)state;
    struct fixture f;
    char *text = malloc(APP_TREE_MAX_BYTES + 2);
    assert_non_null(text);
    start(&f);
    memset(text, '#', APP_TREE_MAX_BYTES + 1);
    text[APP_TREE_MAX_BYTES] = '\0';
    write_file(&f, "a.yaml", text);
    good(&f, "a.yaml", NULL);
    text[APP_TREE_MAX_BYTES] = '#';
    text[APP_TREE_MAX_BYTES + 1] = '\0';
    write_file(&f, "a.yaml", text);
    bad(&f, "a.yaml", "a.yaml: more than 1048576 bytes");
    write_file(&f, "b.yaml", "");
    for (size_t i = 0; i < APP_SOURCE_MAX_DROP_INS; i++) {
        char name[64];
        snprintf(name, sizeof name, "b.yaml.d/%zu.yaml", i);
        write_file(&f, name, "");
    }
    good(&f, "b.yaml", NULL);
    write_file(&f, "b.yaml.d/x.yaml", "");
    bad(&f, "b.yaml", "b.yaml.d: more than 256 drop-ins");
    free(text);
    end(&f);
}

static void test_required(void **state)
{
    (void)state;
    const struct nri_app_field fields[] = {
        {.name = "a.b", .type = NRI_APP_INTEGER, .required = 1},
    };
    struct fixture f;
    struct app_config_sources sources = {.configure = "", .configure_name = "conf"};
    start(&f);
    assert_int_equal(app_config_read(&f.config, fields, 1, 8, &sources, f.text), -1);
    assert_string_equal(f.text, "configuration: a.b: is required, but not given");
    sources.configure = "a: {b: null}";
    assert_int_equal(app_config_read(&f.config, fields, 1, 8, &sources, f.text), -1);
    assert_string_equal(f.text, "conf: a.b: is required, but not given");
    write_file(&f, "a.yaml", "a:\n");
    sources.path = config_directory_file(&f.directory, "a.yaml", f.path);
    assert_int_equal(app_config_read(&f.config, fields, 1, 8, &sources, f.text), -1);
    assert_string_equal(f.text + strlen(f.directory.path),
                        "/a.yaml: a.b: is required, but not given");
    sources.configure = "a: {b: 0}";
    assert_int_equal(app_config_read(&f.config, fields, 1, 8, &sources, f.text), 0);
    end(&f);
}

static void test_configure_forms(void **state)
{
    (void)state;
    struct app_config *config;
    static const char *const forms[] = {"{\"workers\": 7}", " \n\t{\n\"workers\"\t: 7}",
                                        "workers: 7", "{workers: 7}", "---\nworkers: 7\n...\n"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        assert_int_equal(settings_good(&config, forms[i])->workers, 7);
        app_config_free(config);
    }
    static const char *const nothing[] = {"", " ", "{}", "{ }", "# nothing", "---", "null", "~"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        assert_int_equal(settings_good(&config, nothing[i])->workers, 4);
        app_config_free(config);
    }
    settings_bad("{\"workers\": 7,}", "conf:1:15: expected a key in quotation marks, found '}'");
}

/* ---- reload ---- */

static const char *change(const char *before, const char *after)
{
    struct app_config *old, *new;
    settings_good(&old, before);
    settings_good(&new, after);
    const char *name = app_config_fixed_change(old, new);
    app_config_free(old);
    app_config_free(new);
    return name;
}

static void test_fixed_change(void **state)
{
    (void)state;
    assert_null(change(NULL, NULL));
    assert_null(change("workers: 1", "workers: 2")); /* may change */
    assert_string_equal(change("greeting: a", "greeting: b"), "greeting");
    assert_string_equal(change("greeting: a", NULL), "greeting");
    assert_null(change("greeting: hello", NULL)); /* the standard value */
    assert_string_equal(change("pool: {cpus: '0,1'}", "pool: {cpus: 0-2}"), "pool.cpus");
    assert_null(change("pool: {cpus: '1,0,2'}", "pool: {cpus: 0-2}")); /* the same CPUs */
}

static void test_fixed_of_each_type(void **state)
{
    (void)state;
    static const char *const names[] = {"x", "y", NULL};
    static const struct {
        int32_t type;
        const char *value, *same, *other;
    } cases[] = {
        {NRI_APP_BOOL, "true", "True", "false"},
        {NRI_APP_INTEGER, "10", "0xA", "11"},
        {NRI_APP_NUMBER, "10", "1e1", "10.1"},
        {NRI_APP_TEXT, "a", "'a'", "b"},
        {NRI_APP_DURATION, "1m", "60s", "61s"},
        {NRI_APP_BYTES, "1Ki", "1024", "1025"},
        {NRI_APP_CPUS, "0-1", "'1,0'", "1"},
        {NRI_APP_CHOICE, "x", "'x'", "y"},
        {NRI_APP_TEXTS, "[a, b]", "['a', b]", "[b, a]"},
        {NRI_APP_TEXTS, "[a, b]", "[a, \"b\"]", "[a]"},
        {NRI_APP_DOCUMENT, "{a: 1, b: 2}", "{b: 2, a: 1}", "{b: 1, a: 2}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct nri_app_field field = {
            .name = "v",
            .type = cases[i].type,
            .fixed = 1,
            .choices = cases[i].type == NRI_APP_CHOICE ? names : NULL,
        };
        const char *const values[] = {cases[i].value, cases[i].same, cases[i].other};
        struct app_config *configs[3];
        for (size_t k = 0; k < 3; k++) {
            char text[64], error[APP_CONFIG_TEXT] = "";
            snprintf(text, sizeof text, "v: %s", values[k]);
            configs[k] = one_read(&field, text, error);
            assert_string_equal(error, "");
        }
        assert_null(app_config_fixed_change(configs[0], configs[1]));
        assert_string_equal(app_config_fixed_change(configs[0], configs[2]), "v");
        for (size_t k = 0; k < 3; k++)
            app_config_free(configs[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_U06_errors_name_their_file),
        cmocka_unit_test(test_files_that_are_none),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_required),
        cmocka_unit_test(test_configure_forms),
        cmocka_unit_test(test_fixed_change),
        cmocka_unit_test(test_fixed_of_each_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
