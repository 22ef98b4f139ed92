/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl apply CONFIG.json ADJUSTMENT.json: lib/oci from the shell.
 */
#include "apply.h"

#include <stdlib.h>
#include <string.h>

#include <nri/nri.h>

#include "classes.h"
#include "file.h"
#include "print.h"

/* A configuration that a runtime takes is some kilobytes long. */
#define MOST_BYTES ((size_t)16 << 20)

enum { UPDATE = NRICTL_LONG, BLOCKIO, RDT, GO_COMPATIBLE, NO_PROPAGATION_CHECK };

static const struct nrictl_option options[] = {
    {'w', "write", "FILE",
     "Write the new configuration there, whole or not at all, with the old one's "
     "permissions; CONFIG.json itself may be named (standard output)"},
    {UPDATE, "update", NULL, "The second file is a ContainerUpdate, or its LinuxResources"},
    {BLOCKIO, "blockio-classes", "FILE", "JSON object: block I/O class to linux.resources.blockIO"},
    {RDT, "rdt-classes", "FILE", "JSON object: RDT class to linux.intelRdt"},
    {GO_COMPATIBLE, "go-compatible", NULL,
     "The result that runtimes in Go have, with their defects"},
    {NO_PROPAGATION_CHECK, "no-propagation-check", NULL,
     "Take shared and slave mounts without looking at this machine's mounts"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl apply config.json adjustment.json",
     "The configuration with the adjustment, on standard output."},
    {"nrictl apply --write new.json config.json adjustment.json", "The same into a file."},
    {"nrictl apply --update config.json update.json", "An update of a container that runs."},
    {"echo '{\"env\": [{\"key\": \"DEBUG\", \"value\": \"1\"}]}' | nrictl apply config.json -",
     "An adjustment that is written by hand."},
    {NULL, NULL},
};

struct apply {
    const char *write, *config, *change;
    const char *blockio_path, *rdt_path;
    bool update;
    struct nri_oci_options oci;
    struct nri_json_options json; /* the configuration's name in errors */
    struct classes blockio, rdt;
    nri_adjustment *adjustment;
    nri_updates *updates; /* of one container, which has the resources */
    const nri_resources *resources;
};

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    struct apply *apply = user;
    (void)ctl;
    switch (value) {
    case 'w':
        apply->write = argument;
        break;
    case UPDATE:
        apply->update = true;
        break;
    case BLOCKIO:
        apply->blockio_path = argument;
        break;
    case RDT:
        apply->rdt_path = argument;
        break;
    case GO_COMPATIBLE:
        apply->oci.go_compatible = 1;
        break;
    default:
        apply->oci.no_propagation_check = 1;
        break;
    }
    return 0;
}

/* An error of the library: a document that is wrong is the user's, all else this machine's. */
static int fail_with(struct nrictl *ctl, int rc, nri_error *error)
{
    const bool machine = rc == NRI_E_NOMEM || rc == NRI_E_IO || rc == NRI_E_PERMISSION;
    const char *text = error != NULL ? nri_error_get_text(error) : nri_strerror(rc);
    (void)nrictl_fail(ctl, 0, "%s", text);
    nri_error_free(error);
    return machine ? NRICTL_ENVIRONMENT : NRICTL_USAGE;
}

/* ---- classes ---- */

static int resolve_blockio(const char *name, nri_oci_answer *answer, void *user)
{
    return classes_answer(&((struct apply *)user)->blockio, name, answer);
}

static int resolve_rdt(const char *name, nri_oci_answer *answer, void *user)
{
    return classes_answer(&((struct apply *)user)->rdt, name, answer);
}

static int read_classes(struct nrictl *ctl, struct apply *apply)
{
    int code = NRICTL_OK;
    apply->blockio.option = "--blockio-classes";
    apply->rdt.option = "--rdt-classes";
    apply->oci.resolve_blockio = resolve_blockio;
    apply->oci.resolve_rdt = resolve_rdt;
    if (apply->blockio_path != NULL)
        code = classes_read(ctl, &apply->blockio, apply->blockio_path);
    if (code == NRICTL_OK && apply->rdt_path != NULL)
        code = classes_read(ctl, &apply->rdt, apply->rdt_path);
    return code;
}

/* ---- the change ---- */

static int read_update(const char *text, size_t length, const struct nri_json_options *json,
                       struct apply *apply, nri_error **error)
{
    int rc = nri_updates_new(&apply->updates, NULL);
    if (rc != 0)
        return rc;
    nri_resources *resources =
        nri_update_edit_resources(nri_updates_container(apply->updates, "container"));
    if (resources == NULL)
        return NRI_E_NOMEM;
    apply->resources = resources;
    return nri_resources_merge_json(resources, text, length, json, error);
}

static int read_change(struct nrictl *ctl, struct apply *apply)
{
    struct nri_json_options json;
    nri_error *error = NULL;
    char *text, *inner = NULL;
    size_t length, inner_length = 0;
    int rc = 0;
    int code = file_read(ctl, apply->change, MOST_BYTES, &text, &length);
    if (code != NRICTL_OK)
        return code;
    nri_json_options_init(&json, sizeof json);
    json.name = strcmp(apply->change, "-") == 0 ? "standard input" : apply->change;
    if (apply->update) {
        code = classes_update_resources(ctl, json.name, text, length, &inner, &inner_length);
        if (code == NRICTL_OK)
            rc = read_update(inner, inner_length, &json, apply, &error);
    } else if ((rc = nri_adjustment_new(&apply->adjustment, NULL)) == 0) {
        rc = nri_adjustment_merge_json(apply->adjustment, text, length, &json, &error);
    }
    free(inner);
    free(text);
    return rc != 0 ? fail_with(ctl, rc, error) : code;
}

/* ---- the configuration ---- */

static int to_file(struct nrictl *ctl, const struct apply *apply)
{
    nri_error *error = NULL;
    const int rc = apply->update
                       ? nri_oci_apply_update_file(apply->config, apply->write, apply->resources,
                                                   &apply->oci, &error)
                       : nri_oci_apply_adjustment_file(apply->config, apply->write,
                                                       apply->adjustment, &apply->oci, &error);
    return rc != 0 ? fail_with(ctl, rc, error) : NRICTL_OK;
}

static int to_output(struct nrictl *ctl, struct apply *apply)
{
    nri_error *error = NULL;
    char *text, *out = NULL;
    size_t length, out_length = 0;
    const int code = file_read(ctl, apply->config, MOST_BYTES, &text, &length);
    if (code != NRICTL_OK)
        return code;
    const int rc = apply->update ? nri_oci_apply_update(text, length, apply->resources, &apply->oci,
                                                        &out, &out_length, &error)
                                 : nri_oci_apply_adjustment(text, length, apply->adjustment,
                                                            &apply->oci, &out, &out_length, &error);
    free(text);
    if (rc != 0)
        return fail_with(ctl, rc, error);
    print_document(ctl->out, out, out_length);
    (void)fputc('\n', ctl->out);
    nri_json_free(out);
    return NRICTL_OK;
}

static int check_arguments(struct nrictl *ctl, struct apply *apply, int count, char **arguments)
{
    if (count != 2)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "two files are needed, a configuration and a change, not "
                           "%d; see nrictl apply --help",
                           count);
    apply->config = arguments[0];
    apply->change = arguments[1];
    if (strcmp(apply->config, "-") == 0 && strcmp(apply->change, "-") == 0)
        return nrictl_fail(ctl, NRICTL_USAGE, "standard input cannot be both files");
    if (strcmp(apply->config, "-") == 0 && apply->write != NULL)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--write needs a configuration that is a file, not "
                           "standard input");
    return NRICTL_OK;
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    struct apply apply = {.write = NULL};
    int first;
    nri_oci_options_init(&apply.oci, sizeof apply.oci);
    int code = nrictl_parse(ctl, self, argc, argv, false, take, &apply, &first);
    if (code >= 0)
        return code;
    if ((code = check_arguments(ctl, &apply, argc - first, argv + first)) != NRICTL_OK)
        return code;
    nri_json_options_init(&apply.json, sizeof apply.json);
    apply.json.name = strcmp(apply.config, "-") == 0 ? "standard input" : apply.config;
    apply.json.indent = 2;
    apply.oci.json = &apply.json;
    apply.oci.user = &apply;
    if ((code = read_classes(ctl, &apply)) == NRICTL_OK &&
        (code = read_change(ctl, &apply)) == NRICTL_OK)
        code = apply.write != NULL ? to_file(ctl, &apply) : to_output(ctl, &apply);
    classes_free(&apply.blockio);
    classes_free(&apply.rdt);
    nri_adjustment_free(apply.adjustment);
    nri_updates_free(apply.updates);
    return code;
}

const struct nrictl_command nrictl_apply = {
    .name = "apply",
    .summary = "apply an adjustment or an update to an OCI configuration",
    .arguments = "CONFIG.json ADJUSTMENT.json",
    .description =
        "Applies a ContainerAdjustment in JSON, as plugins answer with and nrictl prints, to an "
        "OCI "
        "config.json, as a runtime does before it runs the container. Members that nrictl does not "
        "know are kept, numbers are kept to the digit, and the order of members stays.\n\n"
        "One of the files may be -, standard input. A class of block I/O or RDT needs a file that "
        "says what it means here; CDI devices are refused, since injecting them is the runtime's.",
    .options = options,
    .examples = examples,
    .run = run,
};
