/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl diff: a container step by step, or two documents.
 */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "difference.h"
#include "document.h"
#include "file.h"
#include "memory.h"
#include "source.h"

#define MOST_BYTES ((size_t)16 << 20)

static const struct nrictl_option options[] = {
    SOURCE_OPTIONS,
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl diff --plugin 10-template=nri-template --plugin '20-logger=nri-logger --add-env A=b'",
     "What two plugins make of the first container of the default scenario."},
    {"nrictl diff --container server scenario.yaml; test $? = 1",
     "A container of a scenario, in which a plugin refuses an update."},
    {"nrictl diff config.json container.json; test $? = 1",
     "A configuration against what NRI tells of a container."},
    {"nrictl apply config.json adjustment.json | nrictl diff config.json - --output json; "
     "test $? = 1",
     "What an adjustment changes, as JSON."},
    {NULL, NULL},
};

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    return source_take(ctl, user, value, argument);
}

/* ---- two files ---- */

enum form { FORM_CONFIG, FORM_CONTAINER };

struct side {
    const char *name;
    char *text;
    size_t length;
    enum form form;
    struct view_document document;
};

/* An OCI configuration has one of these, a container of NRI's none. */
static bool is_config(const struct nri_json *document)
{
    return nri_json_get(document, "ociVersion") != NULL ||
           nri_json_get(document, "process") != NULL || nri_json_get(document, "root") != NULL;
}

static int read_side(struct nrictl *ctl, const struct view *view, struct side *side,
                     const char *path)
{
    const struct nri_json_limits limits = {.seed = {view->seed[0], view->seed[1]}};
    struct nri_error error;
    side->name = strcmp(path, "-") == 0 ? "standard input" : path;
    const int code = file_read(ctl, path, MOST_BYTES, &side->text, &side->length);
    if (code != NRICTL_OK)
        return code;
    if (nri_json_parse(view->arena, side->text, side->length, &limits, side->name,
                       &side->document.root, &error) != 0)
        return nrictl_fail(ctl, NRICTL_USAGE, "%s", error.text);
    if (nri_json_type(side->document.root) != NRI_JSON_OBJECT)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "%s: it is a config.json or a container of NRI's that is wanted, an "
                           "object, not %s",
                           side->name, nri_json_type_name(nri_json_type(side->document.root)));
    side->form = is_config(side->document.root) ? FORM_CONFIG : FORM_CONTAINER;
    return NRICTL_OK;
}

/* The view of what NRI has of it. */
static int view_side(struct nrictl *ctl, const struct view *view, struct side *side, bool whole)
{
    const struct nri_json_options json = {.size = sizeof json, .name = side->name};
    nri_container *container = NULL;
    nri_error *error = NULL;
    struct nri_error failure;
    int code = side->form == FORM_CONFIG
                   ? nri_container_from_oci(side->text, side->length, &json, &container, &error)
                   : nri_container_from_json(side->text, side->length, &json, &container, &error);
    if (code != 0)
        code = nrictl_fail(ctl, code == NRI_E_NOMEM ? NRICTL_ENVIRONMENT : NRICTL_USAGE, "%s",
                           error != NULL ? nri_error_get_text(error) : nri_strerror(code));
    else if (view_container(view, container, whole, &side->document, &failure) != 0)
        code = nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s: %s", side->name, failure.text);
    nri_error_free(error);
    nri_container_free(container);
    return code;
}

static int print_difference(struct nrictl *ctl, const struct view *view, const struct side *sides)
{
    struct difference_list list;
    int code;
    if (difference_make(view->arena, view->seed, sides[0].document.root, sides[1].document.root,
                        &list) != 0)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory for differences");
    code = ctl->json ? document_print(ctl, difference_document(view->arena, &list, NULL))
                     : difference_print(ctl, &list, sides[0].name, sides[1].name);
    return code == NRICTL_OK && list.count > 0 ? NRICTL_FINDING : code;
}

/* Two configurations are compared whole. Where one is a container of NRI's, only what NRI has can
 * be compared. */
static int compare_files(struct nrictl *ctl, const struct source *source, char **paths)
{
    struct history history;
    struct side sides[2] = {{.text = NULL}, {.text = NULL}};
    if (source->plugin_count > 0 || source->runtime != NULL || source->container != NULL)
        return nrictl_fail(ctl, NRICTL_USAGE, "two files are compared without other options");
    if (strcmp(paths[0], "-") == 0 && strcmp(paths[1], "-") == 0)
        return nrictl_fail(ctl, NRICTL_USAGE, "standard input cannot be both files");
    int code = history_open(&history, false, NULL) == 0
                   ? NRICTL_OK
                   : nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s", history.error.text);
    for (size_t i = 0; code == NRICTL_OK && i < 2; i++)
        code = read_side(ctl, &history.view, &sides[i], paths[i]);
    const bool configs = sides[0].form == FORM_CONFIG && sides[1].form == FORM_CONFIG;
    const bool whole = sides[0].form == sides[1].form;
    for (size_t i = 0; code == NRICTL_OK && !configs && i < 2; i++)
        code = view_side(ctl, &history.view, &sides[i], whole);
    if (code == NRICTL_OK)
        code = print_difference(ctl, &history.view, sides);
    free(sides[0].text);
    free(sides[1].text);
    history_fini(&history);
    return code;
}

/* ---- a history ---- */

static int tell(struct nrictl *ctl, struct source *source, const char *path)
{
    const int code = source_read(ctl, source, path);
    if (code != NRICTL_OK)
        return code;
    return ctl->json ? account_json(ctl, &source->history, true)
                     : account_steps(ctl, &source->history);
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    int first;
    struct source *source = source_new();
    if (source == NULL)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    int code = nrictl_parse(ctl, self, argc, argv, false, take, source, &first);
    if (code < 0) {
        const int count = argc - first;
        if (count > 2)
            code = nrictl_fail(ctl, NRICTL_USAGE,
                               "a scenario, a recording or two JSON files are wanted, not %d "
                               "files; see nrictl diff --help",
                               count);
        else if (count == 2)
            code = compare_files(ctl, source, argv + first);
        else
            code = tell(ctl, source, count == 1 ? argv[first] : NULL);
    }
    source_free(source);
    return code;
}

const struct nrictl_command nrictl_diff = {
    .name = "diff",
    .summary = "show what plugins make of a container, step by step",
    .arguments = "[SCENARIO | RECORDING | A.json B.json]",
    .description =
        "Shows a container as an OCI configuration: as the runtime made it, after each plugin, and "
        "at the end, as lines that are gone (-) and new (+). It comes from a scenario, which is "
        "run "
        "on a simulated node (the default one when none is given), or from a recording of nrictl "
        "record. What OCI has no form for (CDI devices, classes of block I/O and RDT) stands below "
        "nri.\n\n"
        "Of two JSON files, each a config.json or a container as NRI tells it, the difference. "
        "Variables are compared by their names, mounts by destination, devices by path, limits and "
        "namespaces by type, hooks by their order; the order of members does not count.\n\n"
        "It ends with 1 when two files differ, and when an event was refused.",
    .options = options,
    .examples = examples,
    .run = run,
};
