/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --probe: a registration as a plugin's, that ends where a plugin would become one.
 *
 * Happy path: connect, RegisterPlugin as 99-nrictl-doctor -> the runtime sends Configure, with its
 * name, version and time-outs -> Configure is refused with a text that says what this was. The
 * runtime never synchronises such a plugin and never asks it about a container; what is left of it
 * is a line in the runtime's log. Failure modes: connecting fails; the runtime ends the connection
 * or answers nothing within the registration time-out: each is a finding with the library's own
 * error.
 */
#include <string.h>

#include <nri/nri.h>

#include "doctor.h"
#include "io/socket.h"

#define TIMEOUT_MS 10000

struct probe {
    struct doctor *doctor;
    const char *path;
    const nri_plugin *plugin;
    struct nri_socket_peer peer;
    bool answered;
};

static int configure(nri_request *request, void *user)
{
    struct probe *probe = user;
    const nri_plugin *plugin = probe->plugin;
    const char *nri = nri_plugin_runtime_nri_version(plugin);
    probe->answered = true;
    DOCTOR_FIND(probe->doctor, SOCKET_PROBE, probe->path, NULL,
                "pid %lld answered as %s %s with NRI %s: time-outs %llu ms for a registration, "
                "%llu ms for a request",
                (long long)probe->peer.pid, nri_plugin_runtime_name(plugin),
                nri_plugin_runtime_version(plugin), nri == NULL ? "of an unknown version" : nri,
                (unsigned long long)nri_plugin_registration_timeout_ms(plugin),
                (unsigned long long)nri_plugin_request_timeout_ms(plugin));
    return nri_request_fail(request, NRI_E_REJECTED,
                            "nrictl doctor only asks whether a plugin could register: nothing is "
                            "wrong, and it is no plugin");
}

/* Some event has to be subscribed to; it never gets one. */
static int no_event(nri_request *request, void *user)
{
    (void)request;
    (void)user;
    return 0;
}

static int connect_to(struct probe *probe, int *fd, struct nri_error *error)
{
    int code = nri_socket_connect(probe->path, fd, error);
    if (code == 0)
        (void)nri_socket_peer(*fd, &probe->peer, NULL);
    return code;
}

static void say_failed(struct probe *probe, const char *text)
{
    DOCTOR_FIND(probe->doctor, SOCKET_PROBE_FAILED, probe->path,
                "journalctl -u containerd -u crio -u docker --since -1min | grep -i nri", "%s: %s",
                probe->path, text);
}

static void run(struct probe *probe, int fd)
{
    struct nri_plugin_ops ops;
    struct nri_plugin_options options;
    nri_plugin *plugin = NULL;
    nri_error *error = NULL;
    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_configure = configure;
    ops.on_remove_pod_sandbox = no_event;
    nri_plugin_options_init(&options, sizeof options);
    options.name = "nrictl-doctor";
    options.index = "99";
    options.ignore_environment = 1;
    options.use_fd = 1;
    options.fd = fd;
    options.registration_timeout_ms = TIMEOUT_MS;
    if (nri_plugin_new(&plugin, &ops, &options, probe, &error) != 0) {
        say_failed(probe, nri_error_get_text(error));
        nri_error_free(error);
        nri_socket_close(fd);
        return;
    }
    probe->plugin = plugin;
    const int code = nri_plugin_run(plugin);
    if (!probe->answered) {
        const nri_error *last = nri_plugin_last_error(plugin);
        say_failed(probe, last != NULL ? nri_error_get_text(last) : nri_strerror(code));
    }
    nri_plugin_close(plugin, NULL, NULL);
}

void doctor_probe(struct doctor *doctor, const char *path)
{
    struct probe probe = {.doctor = doctor, .path = path};
    struct nri_error error;
    int fd = -1;
    nri_error_clear(&error);
    if (connect_to(&probe, &fd, &error) != 0)
        say_failed(&probe, error.text);
    else
        run(&probe, fd);
}
