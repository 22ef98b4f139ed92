/* SPDX-License-Identifier: Apache-2.0 */
#include "imitate.h"

#include <ctype.h>
#include <string.h>

#include "print.h"

#define REGISTRATION_MS 5000 /* what NRI's own runtime has, which all of these are made of */
#define REQUEST_MS      2000

/* The newest release of each series, which stands for it; the last of a runtime for all of it. */
static const struct release {
    const char *name, *version;
} releases[] = {
    {"containerd", "1.7.34"}, {"containerd", "2.0.11"}, {"containerd", "2.1.9"},
    {"containerd", "2.2.7"},  {"containerd", "2.3.4"},  {"cri-o", "1.26.4"},
    {"cri-o", "1.27.8"},      {"cri-o", "1.28.11"},     {"cri-o", "1.29.13"},
    {"cri-o", "1.30.14"},     {"cri-o", "1.31.13"},     {"cri-o", "1.32.13"},
    {"cri-o", "1.33.13"},     {"cri-o", "1.34.11"},     {"cri-o", "1.35.6"},
    {"cri-o", "1.36.3"},      {"docker", "29.2.0"},     {"docker", "29.4.3"},
    {"docker", "29.6.2"},     {"docker", "29.7.2"},
};
#define RELEASES (sizeof releases / sizeof *releases)

/* ---- what follows from a name and a version ---- */

static bool has(const struct imitate *imitate, enum nri_feature feature)
{
    return nri_feature_supported(imitate->name, imitate->version, imitate->nri, feature);
}

/* Docker alone refuses what it does not act on; the others ignore it. */
static void fill_refused(struct imitate *imitate)
{
    for (int field = 1; field <= NRI_FIELD_MEMORY_POLICY; field++) {
        if (!nri_field_supported(imitate->name, imitate->version, imitate->nri, field))
            imitate->merge_policy[field] = NRI_MERGE_UNSUPPORTED;
    }
}

/* False: no NRI is known to be in that release. */
static bool fill(struct imitate *imitate, const char *name, const char *version)
{
    const char *nri = nri_version_infer(name, version);
    const bool is_docker = strcmp(name, "docker") == 0;
    if (nri == NULL || strlen(version) >= sizeof imitate->version)
        return false;
    memset(imitate, 0, sizeof *imitate);
    imitate->name = name;
    (void)snprintf(imitate->version, sizeof imitate->version, "%s", version);
    (void)snprintf(imitate->nri, sizeof imitate->nri, "%s", nri);
    imitate->events = nri_version_events(nri);
    for (int event = NRI_EVENT_RUN_POD_SANDBOX; event <= NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT;
         event++) {
        if (nri_event_supported(name, version, nri, event))
            imitate->sends |= NRI_EVENT_BIT(event);
    }
    imitate->tells_nri = has(imitate, NRI_FEATURE_NRI_VERSION);
    imitate->tells_times = has(imitate, NRI_FEATURE_TIMEOUTS);
    imitate->go_compatible = true;
    imitate->no_evictions = true;
    imitate->no_updates = !has(imitate, NRI_FEATURE_UNSOLICITED_UPDATES);
    imitate->strict_updates = strcmp(name, "cri-o") == 0;
    imitate->no_container_pid = !has(imitate, NRI_FEATURE_CONTAINER_PID);
    imitate->no_status = !has(imitate, NRI_FEATURE_EXIT_STATUS);
    imitate->registration_timeout_ms = REGISTRATION_MS;
    imitate->request_timeout_ms = REQUEST_MS;
    if (is_docker)
        fill_refused(imitate);
    return true;
}

/* ---- finding ---- */

/* Whether "2.1.9" is of the series "2.1", or "2". */
static bool is_of(const char *version, const char *series)
{
    const size_t length = strlen(series);
    return strncmp(version, series, length) == 0 &&
           (version[length] == '\0' || version[length] == '.');
}

/* The newest of a series; NULL: none of this table. */
static const char *newest(const char *name, const char *series)
{
    const char *found = NULL;
    for (size_t i = 0; i < RELEASES; i++) {
        if (strcmp(releases[i].name, name) == 0 &&
            (series == NULL || is_of(releases[i].version, series)))
            found = releases[i].version;
    }
    return found;
}

static bool is_whole(const char *version)
{
    unsigned dots = 0;
    for (const char *at = version; isdigit((unsigned char)*at) || *at == '.'; at++)
        dots += *at == '.';
    return dots >= 2;
}

/* The table's own name, which lives for ever. */
static const char *known_name(const char *text, size_t length)
{
    static const char *const others[] = {"v2"}; /* what some containerd called itself */
    for (size_t i = 0; i < RELEASES; i++) {
        if (strlen(releases[i].name) == length && strncmp(releases[i].name, text, length) == 0)
            return releases[i].name;
    }
    return length == strlen(others[0]) && strncmp(text, others[0], length) == 0 ? others[0] : NULL;
}

int imitate_find(struct nrictl *ctl, const char *text, struct imitate *imitate)
{
    const char *at = strchr(text, '@');
    const char *name = known_name(text, at == NULL ? strlen(text) : (size_t)(at - text));
    const char *version = at == NULL ? NULL : at + 1;
    if (name == NULL)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--runtime %s: there are containerd, cri-o and docker, such as "
                           "containerd@2.1; --runtime help lists them",
                           text);
    if (version == NULL || !is_whole(version))
        version = newest(strcmp(name, "v2") == 0 ? "containerd" : name, version);
    if (version == NULL || !fill(imitate, name, version))
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--runtime %s: no NRI is known to be in that release; --runtime help "
                           "lists those that are known",
                           text);
    return NRICTL_OK;
}

/* ---- listing ---- */

/* What is unlike others, in words; a list of constants. */
static size_t list_quirks(const struct imitate *imitate, const char *quirks[8])
{
    size_t count = 0;
    if (!imitate->tells_nri)
        quirks[count++] = "does not tell its NRI version, notifies by StateChange";
    if (!imitate->tells_times)
        quirks[count++] = "tells no time-outs";
    if (imitate->no_status)
        quirks[count++] = "no exit codes and times";
    if (imitate->no_container_pid)
        quirks[count++] = "no container pids";
    if (imitate->strict_updates)
        quirks[count++] = "an update that is not possible fails the request";
    if (imitate->no_updates)
        quirks[count++] = "refuses updates, and all adjustments but variables and mounts";
    if ((imitate->sends & NRI_EVENT_BIT(NRI_EVENT_RUN_POD_SANDBOX)) == 0)
        quirks[count++] = "only creations";
    else if (imitate->events != imitate->sends)
        quirks[count++] = "no PostUpdatePodSandbox";
    return count;
}

static void print_one(struct print_json *json, const struct imitate *imitate)
{
    const char *quirks[8];
    char events[512];
    const size_t count = list_quirks(imitate, quirks);
    nri_json_begin_object(&json->writer);
    print_json_text(json, "runtime", imitate->name);
    print_json_text(json, "version", imitate->version);
    print_json_text(json, "nri", imitate->nri);
    print_json_bool(json, "tells_nri_version", imitate->tells_nri);
    print_json_bool(json, "tells_timeouts", imitate->tells_times);
    print_json_number(json, "registration_timeout_ms", imitate->registration_timeout_ms);
    print_json_number(json, "request_timeout_ms", imitate->request_timeout_ms);
    (void)nri_event_mask_format(imitate->sends, events, sizeof events);
    print_json_text(json, "events", events);
    print_json_key(json, "quirks");
    nri_json_begin_array(&json->writer);
    for (size_t i = 0; i < count; i++)
        nri_json_write_string(&json->writer, quirks[i], strlen(quirks[i]));
    nri_json_end_array(&json->writer);
    nri_json_end_object(&json->writer);
}

static int list_json(struct nrictl *ctl)
{
    struct print_json json;
    struct imitate imitate;
    print_json_begin(&json, 2);
    nri_json_begin_array(&json.writer);
    for (size_t i = 0; i < RELEASES; i++) {
        if (fill(&imitate, releases[i].name, releases[i].version))
            print_one(&json, &imitate);
    }
    nri_json_end_array(&json.writer);
    return print_json_end(ctl, &json);
}

int imitate_list(struct nrictl *ctl)
{
    static const char *const titles[] = {"RUNTIME", "NRI", "EVENTS", "DIFFERS IN"};
    struct print_table table;
    struct imitate imitate;
    if (ctl->json)
        return list_json(ctl);
    print_table_begin(&table, 4, titles);
    table.right[2] = true;
    for (size_t i = 0; i < RELEASES; i++) {
        const char *quirks[8];
        char text[512] = "";
        if (!fill(&imitate, releases[i].name, releases[i].version))
            continue;
        const size_t count = list_quirks(&imitate, quirks);
        for (size_t k = 0, used = 0; k < count && used < sizeof text; used = strlen(text), k++)
            (void)snprintf(text + used, sizeof text - used, "%s%s", k == 0 ? "" : "; ", quirks[k]);
        print_table_row(&table);
        print_table_cell(&table, 0, PRINT_BOLD, "%s@%s", imitate.name, imitate.version);
        print_table_cell(&table, 1, PRINT_PLAIN, "%.12s", imitate.nri);
        print_table_cell(&table, 2, PRINT_PLAIN, "%d", __builtin_popcount(imitate.sends));
        print_table_cell(&table, 3, PRINT_PLAIN, "%s", text);
    }
    return print_table_end(ctl, &table);
}
