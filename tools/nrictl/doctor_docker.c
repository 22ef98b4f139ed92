/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker's configuration: "nri-opts" of /etc/docker/daemon.json. NRI is off by default, and has no
 * socket unless a path is given. A rootless Docker has directories of its own, which are not
 * looked at.
 */
#include <errno.h>
#include <string.h>

#include "doctor.h"

#define CONFIG "/etc/docker/daemon.json"

static struct nri_json *read_json(struct doctor *doctor, const char *path)
{
    struct nri_json *document = NULL;
    struct nri_error error;
    char *text;
    size_t length;
    const int number = doctor_root_read(&doctor->root, path, DOCTOR_MOST_BYTES, &text, &length);
    if (number == ENOENT || number == ENOTDIR || (number == 0 && length == 0))
        return NULL;
    if (number != 0) {
        DOCTOR_FIND(doctor, CONFIG_UNREADABLE, path,
                    number == EACCES ? "sudo nrictl doctor"
                                     : "put a regular file below 1 MiB there",
                    "%s: %s", path, strerror(number));
        return NULL;
    }
    nri_error_clear(&error);
    if (nri_json_parse(&doctor->arena, text, length, NULL, path, &document, &error) == 0)
        return document;
    DOCTOR_FIND(doctor, CONFIG_SYNTAX, path, "dockerd --validate   # after a correction", "%s",
                error.text);
    return NULL;
}

bool doctor_docker_find(struct doctor *doctor, struct doctor_runtime *runtime)
{
    static const char *const programs[] = {"/usr/local/bin/dockerd", "/usr/bin/dockerd"};
    runtime->name = "docker";
    runtime->title = "Docker";
    runtime->unit = "docker";
    runtime->config = CONFIG;
    runtime->enable_key = "enable";
    runtime->socket_key = "socket-path";
    runtime->plugins_key = "plugin-path";
    runtime->dropins_key = "plugin-config-path";
    for (size_t i = 0; i < sizeof programs / sizeof *programs && runtime->program == NULL; i++) {
        if (doctor_root_has(&doctor->root, programs[i]))
            runtime->program = programs[i];
    }
    if (runtime->program == NULL && !doctor_root_has(&doctor->root, CONFIG) &&
        (doctor->runtime_name == NULL || doctor->runtime_version == NULL))
        return false;
    doctor_version_find(doctor, runtime);
    runtime->socket = "";
    runtime->plugins = "/usr/libexec/docker/nri-plugins";
    runtime->dropins = "/etc/docker/nri/conf.d";
    const struct nri_json *options = nri_json_get(read_json(doctor, CONFIG), "nri-opts");
    if (nri_json_type(options) == NRI_JSON_OBJECT)
        doctor_settings(doctor, runtime, options, CONFIG);
    runtime->connections = runtime->socket[0] != '\0';
    if (doctor_version_before(runtime->version, 29, 2)) {
        runtime->enabled = false;
    } else if (!runtime->enabled) {
        runtime->off = nri_json_get(options, "enable") != NULL
                           ? "Docker has NRI switched off"
                           : "Docker has NRI switched off by default";
        runtime->off_at = CONFIG;
        runtime->off_fix = doctor_setting(doctor, runtime, "enable", "true");
    }
    return true;
}
