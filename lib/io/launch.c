/* SPDX-License-Identifier: Apache-2.0 */
#include "io/launch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/host.h"
#include "io/runtime_handle.h"
#include "io/socket.h"
#include "io/spawn.h"

#define LOOK_TIME  (20 * NRI_MSEC) /* between looks at a process without a pidfd */
#define DEATH_TIME (5 * NRI_SEC)   /* from SIGKILL until it is given up */

/* <sys/wait.h> has it since glibc 2.36. */
#define WAIT_BY_PIDFD ((idtype_t)3)

/* ---- libuv ---- */

static void on_exit_of(uv_poll_t *handle, int status, int events)
{
    struct nri_child *child = handle->data;
    (void)status;
    (void)events;
    child->readable = true;
    nri_runtime_service(child->runtime);
}

static void handle_closed(uv_handle_t *handle)
{
    struct nri_child *child = handle->data;
    nri_runtime *runtime = child->runtime;
    nri_alloc_release(&runtime->settings.alloc, child);
    nri_runtime_handle_closed(runtime);
}

/* ---- its end ---- */

/* It is reaped, or given up. */
static void bury(struct nri_child *child)
{
    nri_runtime *runtime = child->runtime;
    if (child->previous != NULL)
        child->previous->next = child->next;
    else
        runtime->children.first = child->next;
    if (child->next != NULL)
        child->next->previous = child->previous;
    runtime->children.count--;
    child->stage = NRI_CHILD_GONE;
    if (child->connection != NULL)
        child->connection->child = NULL;
    if (child->polled) {
        uv_close((uv_handle_t *)&child->poll, handle_closed);
        runtime->changed = true;
    }
    if (child->pidfd >= 0)
        (void)close(child->pidfd);
    if (!child->polled)
        nri_alloc_release(&runtime->settings.alloc, child);
}

static void tell_end(const struct nri_child *child, const siginfo_t *info)
{
    nri_runtime *runtime = child->runtime;
    const bool exited = info->si_code == CLD_EXITED;
    const bool failed = !exited || info->si_status != 0;
    const struct nri_log_about about = {.plugin = child->id};
    nri_log_write(&runtime->log, nri_host_now(),
                  failed && !child->wanted ? NRI_LOG_WARN : NRI_LOG_INFO, &about,
                  "plugin %s: process %lld %s %d", child->id, (long long)child->pid,
                  exited ? "exited with status" : "was ended by signal", info->si_status);
}

/* True: it is gone. */
static bool reap(struct nri_child *child)
{
    siginfo_t info = {0};
    int rc = -1;
    if (child->pidfd >= 0)
        rc = waitid(WAIT_BY_PIDFD, (id_t)child->pidfd, &info, WEXITED | WNOHANG);
    if (child->pidfd < 0 || (rc != 0 && errno == EINVAL))
        rc = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG);
    if (rc == 0 && info.si_pid == 0)
        return false;
    if (rc != 0 && errno != ECHILD)
        return false; /* EINTR: again at the next turn */
    if (rc == 0)
        tell_end(child, &info);
    bury(child);
    return true;
}

/* ---- signals ---- */

/* While nobody has reaped it, no other process gets its number. */
static bool is_unreaped(const struct nri_child *child)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* By its pidfd, so that no other process that has got its number can be meant; a filter of system
 * calls may forbid that (EPERM, ENOSYS). */
static bool send_signal(struct nri_child *child, int number)
{
    child->wanted = true;
    if (child->pidfd >= 0 && syscall(SYS_pidfd_send_signal, child->pidfd, number, NULL, 0) == 0)
        return true;
    if (child->pidfd >= 0 && errno != ENOSYS && errno != EPERM)
        return false;
    return is_unreaped(child) && kill(child->pid, number) == 0;
}

/* What it has started goes with it: its process group is its own as long as it is not reaped. */
static void kill_group(struct nri_child *child, uint64_t now)
{
    if (send_signal(child, SIGKILL))
        (void)kill(-child->pid, SIGKILL);
    child->stage = NRI_CHILD_KILLED;
    child->until = now + DEATH_TIME;
    child->look_at = now;
}

static void go_on(struct nri_child *child, uint64_t now)
{
    nri_runtime *runtime = child->runtime;
    const struct nri_log_about about = {.plugin = child->id};
    switch (child->stage) {
    case NRI_CHILD_MAY_END:
        nri_log_write(&runtime->log, now, NRI_LOG_WARN, &about,
                      "plugin %s: process %lld has not ended: sending SIGTERM", child->id,
                      (long long)child->pid);
        (void)send_signal(child, SIGTERM);
        child->stage = NRI_CHILD_TERMED;
        child->until = now + runtime->settings.stop_timeout;
        break;
    case NRI_CHILD_TERMED:
        nri_log_write(&runtime->log, now, NRI_LOG_WARN, &about,
                      "plugin %s: process %lld has not ended after SIGTERM: sending SIGKILL",
                      child->id, (long long)child->pid);
        kill_group(child, now);
        break;
    case NRI_CHILD_KILLED:
        nri_log_write(&runtime->log, now, NRI_LOG_ERROR, &about,
                      "plugin %s: process %lld is still there after SIGKILL: left alone", child->id,
                      (long long)child->pid);
        bury(child);
        break;
    case NRI_CHILD_RUNS:
    case NRI_CHILD_GONE:
        break;
    }
}

static void may_end(struct nri_child *child, bool wanted, uint64_t now)
{
    child->wanted = child->wanted || wanted;
    if (child->stage != NRI_CHILD_RUNS)
        return;
    child->stage = NRI_CHILD_MAY_END;
    child->until = now + child->runtime->settings.stop_timeout;
    child->look_at = now;
}

void nri_child_disconnected(struct nri_child *child, bool wanted, uint64_t now)
{
    child->connection = NULL;
    may_end(child, wanted, now);
}

/* ---- all of them ---- */

void nri_children_stop(nri_runtime *runtime, uint64_t now)
{
    for (struct nri_child *child = runtime->children.first; child != NULL; child = child->next)
        may_end(child, true, now);
}

void nri_children_kill(nri_runtime *runtime, uint64_t now)
{
    for (struct nri_child *child = runtime->children.first; child != NULL; child = child->next) {
        if (child->stage != NRI_CHILD_KILLED)
            kill_group(child, now);
    }
}

void nri_children_turn(nri_runtime *runtime, uint64_t now)
{
    struct nri_child *next;
    for (struct nri_child *child = runtime->children.first; child != NULL; child = next) {
        next = child->next;
        const bool look =
            child->pidfd < 0 && child->stage != NRI_CHILD_RUNS && now >= child->look_at;
        if ((child->readable || look) && reap(child))
            continue;
        child->readable = false;
        if (look)
            child->look_at = now + LOOK_TIME;
        if (child->stage != NRI_CHILD_RUNS && now >= child->until)
            go_on(child, now);
    }
}

uint64_t nri_children_deadline(const nri_runtime *runtime)
{
    uint64_t at = NRI_NEVER;
    for (const struct nri_child *child = runtime->children.first; child != NULL;
         child = child->next) {
        if (child->stage == NRI_CHILD_RUNS)
            continue;
        if (child->until < at)
            at = child->until;
        if (child->pidfd < 0 && child->look_at < at)
            at = child->look_at;
    }
    return at;
}

/* ---- its beginning ---- */

/* Without a pidfd it is looked after by the timer. */
static void watch(struct nri_child *child)
{
    nri_runtime *runtime = child->runtime;
    child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0); /* close-on-exec by itself */
    if (child->pidfd < 0)
        return;
    if (uv_poll_init(runtime->loop, &child->poll, child->pidfd) != 0) {
        (void)close(child->pidfd);
        child->pidfd = -1;
        return;
    }
    child->poll.data = child;
    child->polled = true;
    runtime->open++;
    runtime->changed = true;
    (void)uv_poll_start(&child->poll, UV_READABLE, on_exit_of);
}

static void link_child(struct nri_child *child)
{
    struct nri_children *all = &child->runtime->children;
    child->next = all->first;
    if (all->first != NULL)
        all->first->previous = child;
    all->first = child;
    all->count++;
}

static int connect_child(struct nri_child *child, const struct nri_found_plugin *plugin, int fd,
                         struct nri_error *error)
{
    nri_runtime *runtime = child->runtime;
    struct nri_rt_origin origin = {
        .kind = NRI_ORIGIN_LAUNCHED,
        .name = plugin->name,
        .index = plugin->index,
        .config = plugin->config,
        .peer = plugin->file,
        .pid = child->pid,
    };
    int rc = nri_connection_open(runtime, fd, &origin, child, error);
    if (rc == 0)
        child->connection = origin.driver;
    return rc;
}

int nri_child_launch(nri_runtime *runtime, const struct nri_found_plugin *plugin,
                     struct nri_error *error)
{
    const struct nri_alloc *alloc = &runtime->settings.alloc;
    const size_t length = strlen(plugin->file);
    int fd = -1;
    if (nri_rt_plugin_count(runtime->rt) >= runtime->settings.max_plugins)
        return nri_error_set(error, NRI_E_BUSY, "there are %zu plugins, which is max_plugins",
                             runtime->settings.max_plugins);
    struct nri_child *child = nri_alloc_zero(alloc, sizeof *child + length + 1);
    if (child == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a plugin's process");
    memcpy(child->id, plugin->file, length + 1);
    child->runtime = runtime;
    child->pidfd = -1;
    const struct nri_spawn what = {
        .path = plugin->path, .name = plugin->name, .index = plugin->index};
    int rc = nri_spawn(&what, alloc, &child->pid, &fd, error);
    if (rc != 0) {
        nri_alloc_release(alloc, child);
        return rc;
    }
    watch(child);
    link_child(child);
    rc = connect_child(child, plugin, fd, error);
    if (rc != 0) {
        nri_socket_close(fd);
        kill_group(child, nri_host_now());
    }
    return rc;
}
