/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin of somebody else's, built against an installed nri-app by pkg-config alone, as C and as
 * C++. */
#include <nri/app.h>
#include <nri/nri.h>

#include <stdio.h>

struct config {
    const char *greeting;
};

static int create(nri_request *request, void *user)
{
    const struct config *config = (const struct config *)user;
    return nri_adjustment_add_env(nri_request_adjustment(request), "GREETING", config->greeting);
}

static int on_start(nri_plugin *plugin, void *user)
{
    const struct config *config = (const struct config *)user;
    printf("%s-%s: %s\n", nri_plugin_index(plugin), nri_plugin_name(plugin), config->greeting);
    return fflush(stdout) == 0 ? 0 : NRI_E_IO;
}

int main(int argc, char **argv)
{
    static struct config config;
    struct nri_app_field field = {};
    field.name = "greeting";
    field.type = NRI_APP_TEXT;
    field.offset = offsetof(struct config, greeting);
    field.standard = "hello";

    struct nri_plugin_ops ops;
    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_create_container = create;

    struct nri_app_options options;
    nri_app_options_init(&options, sizeof options);
    options.name = "consumer";
    options.index = "10";
    options.version = NRI_VERSION_STRING;
    options.ops = &ops;
    options.fields = &field;
    options.field_count = 1;
    options.field_size = sizeof field;
    options.config = &config;
    options.config_size = sizeof config;
    options.on_start = on_start;
    options.user = &config;
    return nri_app_main(argc, argv, &options);
}
