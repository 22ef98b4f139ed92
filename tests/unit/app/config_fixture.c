/* SPDX-License-Identifier: Apache-2.0 */
#include "config_fixture.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const modes[] = {"off", "warn", "refuse", NULL};

#define AT(member) .offset = offsetof(struct settings, member)
const struct nri_app_field settings_fields[] = {
    {.name = "flag", .type = NRI_APP_BOOL, AT(flag), .help = "whether"},
    {.name = "workers",
     .type = NRI_APP_INTEGER,
     AT(workers),
     .standard = "4",
     .minimum = "1",
     .maximum = "64"},
    {.name = "ratio",
     .type = NRI_APP_NUMBER,
     AT(ratio),
     .standard = "0.5",
     .minimum = "0",
     .maximum = "1"},
    {.name = "greeting", .type = NRI_APP_TEXT, AT(greeting), .standard = "hello", .fixed = 1},
    {.name = "token", .type = NRI_APP_TEXT, AT(token), .secret = 1},
    {.name = "timeouts.request",
     .type = NRI_APP_DURATION,
     AT(request),
     .standard = "2s",
     .minimum = "1ms",
     .maximum = "1h",
     .help = "for one request"},
    {.name = "pool.cpus", .type = NRI_APP_CPUS, AT(cpus), .fixed = 1},
    {.name = "pool.limits.memory", .type = NRI_APP_BYTES, AT(memory), .standard = "1Gi"},
    {.name = "timeouts.connect", .type = NRI_APP_DURATION, AT(connect)},
    {.name = "mode", .type = NRI_APP_CHOICE, AT(mode), .choices = modes, .standard = "warn"},
    {.name = "names", .type = NRI_APP_TEXTS, AT(names), .standard = "[\"a\", \"b\"]"},
    {.name = "rules", .type = NRI_APP_DOCUMENT, AT(rules)},
};
const size_t settings_count = sizeof settings_fields / sizeof *settings_fields;

static int read_settings(struct app_config **config, const char *text, char *error)
{
    struct app_config_sources sources = {.configure = text, .configure_name = "conf"};
    return app_config_read(config, settings_fields, settings_count, sizeof(struct settings),
                           &sources, error);
}

const struct settings *settings_good(struct app_config **config, const char *text)
{
    char error[APP_CONFIG_TEXT] = "";
    if (read_settings(config, text, error) != 0)
        fail_msg("%s: %s", text, error);
    return app_config_values(*config);
}

void settings_bad(const char *text, const char *error)
{
    char found[APP_CONFIG_TEXT] = "";
    struct app_config *config = (struct app_config *)found; /* must be set to NULL */
    if (read_settings(&config, text, found) != -1)
        fail_msg("was taken: %s", text);
    assert_null(config);
    assert_string_equal(found, error);
}

struct app_config *one_read(const struct nri_app_field *field, const char *text, char *error)
{
    struct app_config_sources sources = {.configure = text, .configure_name = "conf"};
    struct app_config *config;
    int result = app_config_read(&config, field, 1, 16, &sources, error);
    assert_int_equal(result, config != NULL ? 0 : -1);
    return config;
}

/* ---- directories ---- */

void config_directory_start(struct config_directory *directory)
{
    const char *top = getenv("TMPDIR");
    snprintf(directory->path, sizeof directory->path, "%s/nri-config-XXXXXX",
             top != NULL && strlen(top) < 80 ? top : "/tmp");
    if (mkdtemp(directory->path) == NULL)
        fail_msg("no directory: %s", directory->path);
}

static void empty(const char *path)
{
    DIR *stream = opendir(path);
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        char name[512];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (unlink(name) != 0) {
            empty(name);
            rmdir(name);
        }
    }
    if (stream != NULL)
        closedir(stream);
}

void config_directory_end(struct config_directory *directory)
{
    empty(directory->path);
    assert_int_equal(rmdir(directory->path), 0);
}

const char *config_directory_file(const struct config_directory *directory, const char *name,
                                  char path[256])
{
    snprintf(path, 256, "%s/%s", directory->path, name);
    return path;
}

void config_directory_write(const struct config_directory *directory, const char *name,
                            const char *text)
{
    char path[256];
    config_directory_file(directory, name, path);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}
