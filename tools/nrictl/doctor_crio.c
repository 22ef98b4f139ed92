/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRI-O's configuration: /etc/crio/crio.conf, then the files of /etc/crio/crio.conf.d by the
 * alphabet, whatever they are called; each sets what it has. NRI is on by default since 1.30.
 */
#include <errno.h>
#include <string.h>

#include "doctor.h"

#define CONFIG "/etc/crio/crio.conf"

static void look_at(struct doctor *doctor, struct doctor_runtime *runtime, const char *file,
                    bool *given)
{
    const struct nri_json *document = doctor_read_toml(doctor, file);
    const struct nri_json *section = nri_json_get(nri_json_get(document, "crio"), "nri");
    if (nri_json_type(section) != NRI_JSON_OBJECT)
        return;
    runtime->config = file;
    *given = *given || nri_json_get(section, "enable_nri") != NULL;
    doctor_settings(doctor, runtime, section, file);
}

static bool is_there(struct doctor *doctor, struct doctor_runtime *runtime)
{
    static const char *const programs[] = {"/usr/local/bin/crio", "/usr/bin/crio",
                                           "/usr/libexec/crio/crio"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs && runtime->program == NULL; i++) {
        if (doctor_root_has(&doctor->root, programs[i]))
            runtime->program = programs[i];
    }
    return runtime->program != NULL || doctor_root_has(&doctor->root, "/etc/crio") ||
           (doctor->runtime_name != NULL && doctor->runtime_version != NULL);
}

bool doctor_crio_find(struct doctor *doctor, struct doctor_runtime *runtime)
{
    static const char *const directories[] = {"/etc/crio/crio.conf.d"};
    struct doctor_names names;
    bool given = false;
    runtime->name = "cri-o";
    runtime->title = "CRI-O";
    runtime->unit = "crio";
    runtime->section = "[crio.nri]";
    runtime->config = "/etc/crio/crio.conf.d/10-nri.conf";
    runtime->enable_key = "enable_nri";
    runtime->connections_key = "nri_disable_connections";
    runtime->socket_key = "nri_listen";
    runtime->plugins_key = "nri_plugin_dir";
    runtime->dropins_key = "nri_plugin_config_dir";
    runtime->registration_key = "nri_plugin_registration_timeout";
    runtime->request_key = "nri_plugin_request_timeout";
    if (!is_there(doctor, runtime))
        return false;
    doctor_version_find(doctor, runtime);
    runtime->enabled = !doctor_version_before(runtime->version, 1, 30);
    look_at(doctor, runtime, CONFIG, &given);
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        (void)doctor_root_list(&doctor->root, directories[i], &names);
        for (size_t j = 0; j < names.count; j++)
            look_at(doctor, runtime, DOCTOR_TEXT(doctor, "%s/%s", directories[i], names.names[j]),
                    &given);
    }
    if (doctor_version_before(runtime->version, 1, 26)) {
        runtime->enabled = false;
    } else if (!runtime->enabled) {
        runtime->off = given ? "CRI-O has NRI switched off"
                             : "CRI-O has NRI switched off by default, before 1.30";
        runtime->off_at = runtime->config;
        runtime->off_fix = doctor_setting(doctor, runtime, "enable_nri", "true");
    }
    return true;
}
