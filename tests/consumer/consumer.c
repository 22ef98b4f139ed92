/* SPDX-License-Identifier: Apache-2.0 */
/* A program of somebody else's, built against an installed libnri by pkg-config alone.
 * consumer MISSING_SOCKET: the path must not exist. */
#include <nri/nri.h>

#include <stdio.h>
#include <string.h>

static int create(nri_request *request, void *user)
{
    (void)user;
    return nri_adjustment_add_env(nri_request_adjustment(request), "HELLO", "nri");
}

static int fail(const char *what, int code, const char *text)
{
    fprintf(stderr, "consumer: %s: %s: %s\n", what, nri_error_name(code), text);
    return 1;
}

static int check_bad_index(const struct nri_plugin_ops *ops)
{
    struct nri_plugin_options options;
    nri_plugin_options_init(&options, sizeof options);
    options.name = "consumer";
    options.index = "5";

    nri_plugin *plugin = NULL;
    nri_error *error = NULL;
    int code = nri_plugin_new(&plugin, ops, &options, NULL, &error);
    int bad = code != NRI_E_INVALID || plugin != NULL || nri_error_get_code(error) != code ||
              strlen(nri_error_get_text(error)) == 0;
    if (bad)
        fail("index \"5\" accepted", code, nri_error_get_text(error));
    error = nri_error_free(error);
    return bad || error != NULL;
}

static int check_missing_socket(const struct nri_plugin_ops *ops, const char *path)
{
    struct nri_plugin_options options;
    nri_plugin_options_init(&options, sizeof options);
    options.name = "consumer";
    options.index = "10";
    options.socket_path = path;
    options.ignore_environment = 1;

    nri_plugin *plugin = NULL;
    nri_error *error = NULL;
    int code = nri_plugin_new(&plugin, ops, &options, NULL, &error);
    if (code != 0) {
        fail("nri_plugin_new", code, nri_error_get_text(error));
        nri_error_free(error);
        return 1;
    }
    int bad = nri_plugin_events(plugin) != nri_event_bit(NRI_EVENT_CREATE_CONTAINER);
    code = nri_plugin_run(plugin);
    const char *text = nri_error_get_text(nri_plugin_last_error(plugin));
    if (bad || code != NRI_E_NOT_FOUND || strstr(text, path) == NULL)
        bad = fail("a missing socket", code, text);
    nri_plugin_close(plugin, NULL, NULL);
    return bad;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fail("usage: consumer MISSING_SOCKET", NRI_E_INVALID, "");
    if (strcmp(nri_version(), NRI_VERSION_STRING) != 0)
        return fail("headers and library differ", NRI_E_ABI, nri_version());

    struct nri_plugin_ops ops;
    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_create_container = create;
    if (check_bad_index(&ops) || check_missing_socket(&ops, argv[1]))
        return 1;
    printf("consumer: libnri %s\n", nri_version());
    return 0;
}
