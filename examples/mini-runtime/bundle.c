/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE  4096
#define MAX_CONFIG ((size_t)16 << 20)

static bool config_path(const char *bundle, char path[PATH_SIZE])
{
    const int length = snprintf(path, PATH_SIZE, "%s/config.json", bundle);

    return length > 0 && length < PATH_SIZE;
}

/* The whole file; NULL with errno set. */
static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "re");
    char *text = file == NULL ? NULL : malloc(MAX_CONFIG);

    *length = 0;
    if (text != NULL)
        *length = fread(text, 1, MAX_CONFIG, file);
    if (file != NULL)
        (void)fclose(file);
    return text;
}

static int make_pod(const char *id, nri_pod **pod)
{
    int code = nri_pod_new(pod, NULL);

    if (code != 0)
        return code;
    /* The first failed call sticks. */
    (void)nri_pod_set_id(*pod, id);
    (void)nri_pod_set_name(*pod, id);
    (void)nri_pod_set_uid(*pod, id);
    (void)nri_pod_set_namespace(*pod, "default");
    return nri_pod_error(*pod);
}

static int name_container(nri_container *container, const char *id)
{
    (void)nri_container_set_id(container, id);
    (void)nri_container_set_pod_sandbox_id(container, id);
    (void)nri_container_set_name(container, id);
    (void)nri_container_set_state(container, NRI_CONTAINER_CREATED);
    return nri_container_error(container);
}

int bundle_read(const char *bundle, const char *id, nri_pod **pod, nri_container **container,
                nri_error **error)
{
    struct nri_json_options options = {.size = sizeof options};
    char path[PATH_SIZE];
    size_t length;

    char *text = config_path(bundle, path) ? read_file(path, &length) : NULL;
    if (text == NULL) {
        (void)fprintf(stderr, "mini-runtime: %s/config.json: %s\n", bundle, strerror(errno));
        return NRI_E_NOT_FOUND;
    }
    options.name = path;
    int code = nri_container_from_oci(text, length, &options, container, error);
    free(text);
    if (code == 0)
        code = name_container(*container, id);
    return code == 0 ? make_pod(id, pod) : code;
}

int bundle_apply(const char *bundle, const nri_adjustment *adjustment, nri_error **error)
{
    char path[PATH_SIZE];

    if (!config_path(bundle, path))
        return NRI_E_RANGE;
    return nri_oci_apply_adjustment_file(path, path, adjustment, NULL, error);
}
