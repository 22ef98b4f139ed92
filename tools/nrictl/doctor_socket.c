/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket of each runtime that has one, or the one that was asked for: there, a socket, listened
 * on, and to be connected to by who asks and by nobody else.
 *
 * Nothing connects to it but --probe. Of a root that is not of a system that runs, only the path is
 * looked at.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <nri/plugin.h>

#include "doctor.h"
#include "io/socket.h"

/* What a fix calls the runtime's unit, when there is one. */
static const struct doctor_runtime *owner_of(const struct doctor *doctor, const char *path)
{
    for (size_t i = 0; i < doctor->runtime_count; i++) {
        const struct doctor_runtime *at = &doctor->runtimes[i];
        const char *own = at->socket;
        if (!at->enabled || !at->connections)
            continue;
        /* /var/run is a link to /run. */
        own += strncmp(own, "/var/run/", 9) == 0 ? 4 : 0;
        if (strcmp(own, path + (strncmp(path, "/var/run/", 9) == 0 ? 4 : 0)) == 0)
            return at;
    }
    return NULL;
}

static const char *restart(struct doctor *doctor, const struct doctor_runtime *runtime)
{
    const char *unit = runtime == NULL ? "containerd" : runtime->unit;
    return DOCTOR_TEXT(doctor, "sudo systemctl restart %s\njournalctl -u %s | grep -i nri", unit,
                       unit);
}

/* ---- who may connect ---- */

static bool is_private(struct doctor *doctor, const char *path)
{
    static const struct doctor_user nobody = {.uid = (uid_t)-2, .gid = (gid_t)-2};
    return doctor_user_stopped(doctor, &nobody, path, W_OK) != NULL;
}

static void check_permissions(struct doctor *doctor, const char *path)
{
    const char *stopped = doctor_user_stopped(doctor, &doctor->user, path, W_OK);
    if (stopped != NULL)
        DOCTOR_FIND(doctor, SOCKET_PERMISSION, stopped,
                    "run the plugin as root\n"
                    "# a group of its own is lost when the runtime starts again",
                    "%s may not connect to %s: %s stops them", doctor->user.name, path, stopped);
    if (!is_private(doctor, path))
        DOCTOR_FIND(
            doctor, SOCKET_OPEN, path,
            DOCTOR_TEXT(doctor, "sudo chmod 0700 %.*s", (int)(strrchr(path, '/') - path), path),
            "everybody may connect to %s", path);
}

/* ---- who listens ---- */

static bool is_runtime(const char *program)
{
    static const char *const known[] = {"containerd", "crio",   "dockerd", "k3s-server",
                                        "k3s-agent",  "k3s",    "rke2",    "k0s",
                                        "systemd",    "isulad", "crius"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(program, known[i]) == 0)
            return true;
    }
    return false;
}

static void check_listener(struct doctor *doctor, const char *path, const struct stat *status,
                           const struct doctor_runtime *runtime)
{
    struct doctor_listener listener;
    doctor_listener_find(doctor, status, path, &listener);
    if (!listener.known)
        return;
    if (!listener.listening) {
        DOCTOR_FIND(doctor, SOCKET_STALE, path, restart(doctor, runtime), "nobody listens on %s",
                    path);
        return;
    }
    if (listener.pid == 0)
        DOCTOR_FIND(doctor, SOCKET_LISTENER, path, NULL,
                    "somebody listens on %s; as root, nrictl tells who", path);
    else if (is_runtime(listener.program))
        DOCTOR_FIND(doctor, SOCKET_LISTENER, path, NULL, "%s (pid %ld) listens on %s",
                    listener.program, listener.pid, path);
    else
        DOCTOR_FIND(doctor, SOCKET_OTHER_LISTENER, path,
                    DOCTOR_TEXT(doctor, "ps -fp %ld   # end it if it should not\n%s", listener.pid,
                                restart(doctor, runtime)),
                    "%s (pid %ld) listens on %s", listener.program, listener.pid, path);
    check_permissions(doctor, path);
    doctor_security_check(doctor, path, &listener);
    if (doctor->probe)
        doctor_probe(doctor, path);
}

/* ---- one socket ---- */

static bool check_path(struct doctor *doctor, const char *path)
{
    struct nri_error error;
    nri_error_clear(&error);
    if (nri_socket_check_path(path, &error) == 0)
        return true;
    DOCTOR_FIND(doctor, SOCKET_PATH_TOO_LONG, path, "socket_path = \"/var/run/nri/nri.sock\"", "%s",
                error.text);
    return false;
}

static void check_socket(struct doctor *doctor, const char *path,
                         const struct doctor_runtime *runtime)
{
    struct stat status;
    if (!check_path(doctor, path) || !doctor->running)
        return;
    const int number = doctor_root_stat(&doctor->root, path, &status);
    if (number == EACCES) {
        check_permissions(doctor, path);
        return;
    }
    if (number != 0) {
        DOCTOR_FIND(doctor, SOCKET_MISSING, path, restart(doctor, runtime), "%s: %s", path,
                    number == ENOENT ? "it is not there" : strerror(number));
        return;
    }
    if (!S_ISSOCK(status.st_mode)) {
        DOCTOR_FIND(doctor, SOCKET_NOT_SOCKET, path,
                    DOCTOR_TEXT(doctor, "sudo rm -r %s\n%s", path, restart(doctor, runtime)),
                    "%s is %s, not a socket", path,
                    S_ISDIR(status.st_mode)   ? "a directory"
                    : S_ISREG(status.st_mode) ? "a file"
                                              : "something else");
        return;
    }
    check_listener(doctor, path, &status, runtime);
}

/* ---- all of them ---- */

/* Whether what is asked about needs a socket. */
static bool needs_socket(const struct doctor *doctor, const struct doctor_runtime *runtime)
{
    return runtime->plugin_count == 0 || doctor->external;
}

void doctor_sockets_check(struct doctor *doctor)
{
    if (doctor->socket != NULL) {
        const struct doctor_runtime *runtime = owner_of(doctor, doctor->socket);
        if (runtime == NULL && doctor->runtime_count > 0 &&
            !doctor_found(&doctor->findings, DOCTOR_CONFIG_NRI_DISABLED)) {
            DOCTOR_FIND(doctor, SOCKET_NOT_CONFIGURED, doctor->socket,
                        DOCTOR_TEXT(doctor, "nrictl doctor --socket %s   # and tell the plugin so",
                                    doctor->runtimes[0].socket),
                        "no runtime has the socket %s", doctor->socket);
            if (!doctor_root_has(&doctor->root, doctor->socket))
                return; /* that says all */
        }
        check_socket(doctor, doctor->socket, runtime);
        return;
    }
    /* A runtime whose files are elsewhere, as k3s has them. */
    if (doctor->runtime_count == 0 && doctor_root_has(&doctor->root, NRI_DEFAULT_SOCKET_PATH))
        check_socket(doctor, NRI_DEFAULT_SOCKET_PATH, NULL);
    for (size_t i = 0; i < doctor->runtime_count; i++) {
        const struct doctor_runtime *runtime = &doctor->runtimes[i];
        if (!runtime->enabled)
            continue;
        if (runtime->connections)
            check_socket(doctor, runtime->socket, runtime);
        else if (needs_socket(doctor, runtime))
            DOCTOR_FIND(doctor, CONFIG_CONNECTIONS, runtime->config,
                        runtime->connections_key != NULL
                            ? doctor_setting(doctor, runtime, runtime->connections_key, "false")
                            : doctor_setting(doctor, runtime, runtime->socket_key,
                                             "\"/var/run/docker/nri.sock\""),
                        "%s takes no connections of plugins", runtime->title);
    }
}
