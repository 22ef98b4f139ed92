/* SPDX-License-Identifier: Apache-2.0 */
/*
 * containerd's configuration: /etc/containerd/config.toml and what it imports.
 *
 * NRI's section is [plugins."io.containerd.nri.v1.nri"] in versions 2 and 3 of the configuration.
 * Version 1, which a file without a version has, names plugins by the last part: containerd 1.7
 * then ignores that section. Files are merged in the order of their imports; 1.7 replaces a
 * plugin's section as a whole, 2.x merges it by its keys. NRI is off by default before 2.0.
 */
#include <stdio.h>
#include <string.h>

#include "doctor.h"

#define SECTION    "io.containerd.nri.v1.nri"
#define CONFIG     "/etc/containerd/config.toml"
#define MOST_FILES 64

struct merge {
    struct doctor *doctor;
    struct doctor_runtime *runtime;
    const char *files[MOST_FILES]; /* to be read, and read */
    size_t count;
    int64_t version; /* of the first file */
    bool old;        /* containerd 1 */
    bool cri_off, nri_off;
    const char *cri_at, *nri_at;
    bool cut;      /* there were more files */
    bool given;    /* NRI's section is there */
    bool misnamed; /* it is, and would switch NRI on if the file had a version */
    struct doctor_runtime before;
};

static bool is_read(const struct merge *merge, const char *path)
{
    for (size_t i = 0; i < merge->count; i++) {
        if (strcmp(merge->files[i], path) == 0)
            return true;
    }
    return false;
}

static void add_file(struct merge *merge, const char *path)
{
    if (is_read(merge, path))
        return;
    if (merge->count < MOST_FILES)
        merge->files[merge->count++] = path;
    else if (!merge->cut) {
        merge->cut = true; /* said once */
        DOCTOR_FIND(merge->doctor, CONFIG_UNREADABLE, path, "import fewer files",
                    "%s and what else is imported was not looked at: %d files are the most", path,
                    MOST_FILES);
    }
}

static void add_import(struct merge *merge, const char *file, const struct nri_json *value)
{
    struct doctor *doctor = merge->doctor;
    struct doctor_names paths;
    const char *text = nri_json_string(value, NULL);
    if (text[0] != '/')
        text = DOCTOR_TEXT(doctor, "%.*s/%s", (int)(strrchr(file, '/') - file), file, text);
    if (strpbrk(text, "*?[") != NULL) {
        (void)doctor_root_glob(&doctor->root, text, &paths);
        for (size_t i = 0; i < paths.count; i++)
            add_file(merge, paths.names[i]);
        return;
    }
    if (doctor_root_has(&doctor->root, text)) {
        add_file(merge, text);
        return;
    }
    DOCTOR_FIND(doctor, CONFIG_IMPORT_MISSING, doctor_at(doctor, file, nri_json_line(value)),
                DOCTOR_TEXT(doctor, "sudo touch %s   # or take it out of imports", text),
                "%s imports %s, which is not there", file, text);
}

/* ---- plugins that are switched off as a whole ---- */

static bool is_cri(const char *name)
{
    static const char *const names[] = {"cri", "io.containerd.grpc.v1.cri",
                                        "io.containerd.cri.v1.runtime"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* Short names are of version 1. containerd 2 takes them over into later versions, but knows no
 * "nri" among them. */
static void look_at_disabled(struct merge *merge, const char *file, const struct nri_json *document,
                             int64_t version)
{
    struct doctor *doctor = merge->doctor;
    const struct nri_json *list = nri_json_get(document, "disabled_plugins");
    for (size_t i = 0; i < nri_json_count(list) && nri_json_type(list) == NRI_JSON_ARRAY; i++) {
        const struct nri_json *value = nri_json_at(list, i);
        const char *name = nri_json_string(value, NULL);
        const char *at = doctor_at(doctor, file, nri_json_line(value));
        if (version >= 2 && strchr(name, '.') == NULL) {
            DOCTOR_FIND(doctor, CONFIG_DISABLED_NAME, at,
                        DOCTOR_TEXT(doctor, "disabled_plugins = [\"%s\"]   # or without it",
                                    is_cri(name)               ? "io.containerd.grpc.v1.cri"
                                    : strcmp(name, "nri") == 0 ? SECTION
                                                               : "io.containerd.KIND.v1.NAME"),
                        "disabled_plugins has \"%s\" in a file of version %lld", name,
                        (long long)version);
        } else if (is_cri(name)) {
            merge->cri_off = true;
            merge->cri_at = at;
        } else if (strcmp(name, SECTION) == 0 || (merge->old && strcmp(name, "nri") == 0)) {
            merge->nri_off = true;
            merge->nri_at = at;
        }
    }
}

/* ---- one file ---- */

static int64_t version_of(const struct nri_json *document)
{
    int64_t version = 1;
    const struct nri_json *value = nri_json_get(document, "version");
    return nri_json_int64(value, &version) == 0 ? version : 1;
}

static void look_at_section(struct merge *merge, const char *file, const struct nri_json *document,
                            int64_t version)
{
    struct doctor *doctor = merge->doctor;
    const struct nri_json *section = nri_json_get(nri_json_get(document, "plugins"), SECTION);
    if (merge->old && version < 2) {
        if (section != NULL)
            DOCTOR_FIND(doctor, CONFIG_VERSION, doctor_at(doctor, file, nri_json_key_line(section)),
                        DOCTOR_TEXT(doctor, "version = 2   # the first line of %s", file),
                        "%s has no \"version = 2\", so that its section for NRI is not used", file);
        const struct nri_json *disable = nri_json_get(section, "disable");
        merge->misnamed = merge->misnamed || (disable != NULL && !nri_json_bool(disable));
        section = nri_json_get(nri_json_get(document, "plugins"), "nri");
    }
    if (nri_json_type(section) != NRI_JSON_OBJECT)
        return;
    if (merge->old)
        *merge->runtime = merge->before; /* the section replaces one of a file before it */
    merge->given = true;
    merge->runtime->config = file;
    doctor_settings(doctor, merge->runtime, section, file);
}

static void look_at(struct merge *merge, const char *file)
{
    struct doctor *doctor = merge->doctor;
    const struct nri_json *document = doctor_read_toml(doctor, file);
    if (document == NULL)
        return;
    const int64_t version = version_of(document);
    if (merge->version == 0)
        merge->version = version;
    else if (version > merge->version && !merge->old)
        DOCTOR_FIND(
            doctor, CONFIG_IMPORT_VERSION,
            doctor_at(doctor, file, nri_json_key_line(nri_json_get(document, "version"))),
            DOCTOR_TEXT(doctor, "version = %lld   # in %s", (long long)version, merge->files[0]),
            "%s has version %lld, and %s, which imports it, version %lld", file, (long long)version,
            merge->files[0], (long long)merge->version);
    look_at_disabled(merge, file, document, version);
    look_at_section(merge, file, document, version);
    const struct nri_json *imports = nri_json_get(document, "imports");
    for (size_t i = 0; i < nri_json_count(imports) && nri_json_type(imports) == NRI_JSON_ARRAY; i++)
        add_import(merge, file, nri_json_at(imports, i));
}

/* ---- files that nobody imports ---- */

/* "containerd config default" has had an import of conf.d since 2.2, and many take it for what
 * containerd does by itself. Only files with NRI's section matter here. */
static void look_for_forgotten(const struct merge *merge)
{
    struct doctor *doctor = merge->doctor;
    const char *config = merge->files[0];
    const char *pattern =
        DOCTOR_TEXT(doctor, "%.*s/conf.d/*.toml", (int)(strrchr(config, '/') - config), config);
    struct doctor_names paths = {.count = 0};
    if (!merge->cut) /* else a file that was not read may be imported */
        (void)doctor_root_glob(&doctor->root, pattern, &paths);
    for (size_t i = 0; i < paths.count; i++) {
        const char *path = paths.names[i];
        const struct nri_json *document =
            is_read(merge, path) ? NULL : doctor_read_toml(doctor, path);
        const struct nri_json *section = nri_json_get(nri_json_get(document, "plugins"), SECTION);
        if (section != NULL)
            DOCTOR_FIND(doctor, CONFIG_NOT_IMPORTED,
                        doctor_at(doctor, path, nri_json_key_line(section)),
                        DOCTOR_TEXT(doctor,
                                    "imports = [\"%s\"]   # in %s, above all tables\n"
                                    "sudo systemctl restart containerd",
                                    pattern, config),
                        "%s has settings of NRI, and %s does not import it", path, config);
    }
}

/* ---- all of them ---- */

static void note_off(const struct merge *merge, struct doctor_runtime *runtime)
{
    struct doctor *doctor = merge->doctor;
    if (merge->nri_off) {
        runtime->enabled = false;
        runtime->off = "disabled_plugins of containerd has NRI";
        runtime->off_at = merge->nri_at;
        runtime->off_fix = "take it out of disabled_plugins\nsudo systemctl restart containerd";
    } else if (!runtime->enabled && !merge->misnamed) {
        runtime->off = DOCTOR_TEXT(
            doctor, "containerd%s%s has NRI switched off%s", runtime->version == NULL ? "" : " ",
            runtime->version == NULL ? "" : runtime->version, merge->given ? "" : " by default");
        runtime->off_at = runtime->config;
        runtime->off_fix = DOCTOR_TEXT(
            doctor, "%s%s",
            merge->version < 2 && merge->old ? "version = 2   # the first line of the file\n" : "",
            doctor_setting(doctor, runtime, "disable", "false"));
    } else if (merge->cri_off && runtime->enabled) {
        /* Docker runs containerd without CRI, and has NRI of its own. */
        if (!doctor_root_has(&doctor->root, "/usr/bin/dockerd"))
            DOCTOR_FIND(doctor, CONFIG_CRI_DISABLED, merge->cri_at,
                        "take \"cri\" out of disabled_plugins\nsudo systemctl restart containerd",
                        "disabled_plugins of containerd has CRI");
        runtime->enabled = false;
    }
}

static const char *find_program(struct doctor *doctor)
{
    static const char *const paths[] = {"/usr/local/bin/containerd", "/usr/bin/containerd",
                                        "/opt/containerd/bin/containerd"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (doctor_root_has(&doctor->root, paths[i]))
            return paths[i];
    }
    return NULL;
}

bool doctor_containerd_find(struct doctor *doctor, struct doctor_runtime *runtime)
{
    struct merge merge = {.doctor = doctor, .runtime = runtime};
    const char *config = doctor->containerd_config != NULL ? doctor->containerd_config : CONFIG;
    runtime->name = "containerd";
    runtime->title = "containerd";
    runtime->unit = "containerd";
    runtime->section = "[plugins.\"" SECTION "\"]";
    runtime->config = config;
    runtime->enable_key = "disable";
    runtime->connections_key = "disable_connections";
    runtime->socket_key = "socket_path";
    runtime->plugins_key = "plugin_path";
    runtime->dropins_key = "plugin_config_path";
    runtime->registration_key = "plugin_registration_timeout";
    runtime->request_key = "plugin_request_timeout";
    runtime->program = find_program(doctor);
    if (runtime->program == NULL && !doctor_root_has(&doctor->root, config) &&
        doctor->runtime_version == NULL)
        return false;
    doctor_version_find(doctor, runtime);
    merge.old = doctor_version_before(runtime->version, 2, 0);
    runtime->enabled = !merge.old;
    merge.before = *runtime;
    add_file(&merge, config);
    for (size_t i = 0; i < merge.count; i++)
        look_at(&merge, merge.files[i]);
    look_for_forgotten(&merge);
    if (doctor_version_before(runtime->version, 1, 7)) {
        runtime->enabled = false; /* it has none: what the configuration says is of no use */
        return true;
    }
    note_off(&merge, runtime);
    return true;
}
