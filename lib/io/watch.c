/* SPDX-License-Identifier: Apache-2.0 */
#include "io/watch.h"

#include <string.h>
#include <sys/stat.h>

/* Of finding a directory that stays the deepest one while the watch is set up. */
#define TRIES 8

void nri_watch_init(struct nri_watch *watch)
{
    *watch = (struct nri_watch){
        .look_at = NRI_NEVER,
        .attempt_at = NRI_NEVER,
    };
}

/* ---- what paths name ---- */

static struct nri_watch_file look_up(const char *path, bool directory)
{
    struct stat status;
    if (stat(path, &status) != 0 || (directory && !S_ISDIR(status.st_mode)))
        return (struct nri_watch_file){0};
    return (struct nri_watch_file){
        .exists = true, .device = status.st_dev, .inode = status.st_ino, .changed = status.st_ctim};
}

static bool is_same_directory(const struct nri_watch_file *a, const struct nri_watch_file *b)
{
    return a->device == b->device && a->inode == b->inode;
}

static bool is_same_socket(const struct nri_watch_file *a, const struct nri_watch_file *b)
{
    return a->exists == b->exists && a->device == b->device && a->inode == b->inode &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* "/a/b" -> "/a" -> "/", "a/b" -> "a" -> "."; these two stay. False for them. */
static bool go_up(char *path)
{
    const bool absolute = path[0] == '/';
    size_t length = strlen(path);
    if (strcmp(path, "/") == 0 || strcmp(path, ".") == 0)
        return false;
    while (length > 0 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0)
        path[length++] = absolute ? '/' : '.';
    path[length] = '\0';
    return true;
}

/* The deepest directory above the socket that exists. */
static struct nri_watch_file find_directory(const char *path, char *directory)
{
    struct nri_watch_file found;
    memcpy(directory, path, strlen(path) + 1);
    bool more = go_up(directory);
    for (;;) {
        found = look_up(directory, true);
        if (found.exists || !more)
            return found;
        more = go_up(directory);
    }
}

/* ---- the watch ---- */

static void stop(struct nri_watch *watch)
{
    if (watch->on)
        (void)uv_fs_event_stop(&watch->handle); /* never fails */
    watch->on = false;
}

static int refuse(struct nri_watch *watch, const char *directory, int status,
                  struct nri_error *error)
{
    const bool said = watch->refused;
    stop(watch);
    watch->refused = true;
    if (said)
        return 0;
    /* inotify's limits come as "out of space" and "too many files", which mislead. */
    const char *hint = status == UV_ENOSPC || status == UV_EMFILE
                           ? " (a limit of inotify: see /proc/sys/fs/inotify)"
                           : "";
    return nri_error_set(error, NRI_E_IO, "%s cannot be watched for the socket: %s%s", directory,
                         uv_strerror(status), hint);
}

/* Watches the right directory, whichever that is by now. */
static int arm(struct nri_watch *watch, const char *path, uint64_t now, struct nri_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        char directory[sizeof watch->directory];
        const struct nri_watch_file found = find_directory(path, directory);
        if (watch->on && !watch->gone && strcmp(directory, watch->directory) == 0 &&
            is_same_directory(&found, &watch->watched))
            return 0;
        stop(watch);
        watch->gone = false;
        int status = uv_fs_event_start(&watch->handle, watch->changed, directory, 0);
        if (status == UV_ENOENT || status == UV_ENOTDIR)
            continue;
        if (status != 0)
            return refuse(watch, directory, status, error);
        watch->on = true;
        watch->refused = false;
        watch->watched = found;
        memcpy(watch->directory, directory, sizeof directory);
    }
    watch->look_at = now + NRI_WATCH_INTERVAL; /* somebody makes and removes it all the time */
    return 0;
}

static void compare_socket(struct nri_watch *watch, const char *path, uint64_t now)
{
    const struct nri_watch_file socket = look_up(path, false);
    if (is_same_socket(&socket, &watch->socket))
        return;
    watch->socket = socket;
    if (!socket.exists)
        return;
    const uint64_t earliest = watch->attempted + NRI_WATCH_INTERVAL;
    watch->attempt_at = watch->attempted != 0 && earliest > now ? earliest : now;
    watch->until = now + NRI_WATCH_TIME;
}

static int look(struct nri_watch *watch, const char *path, uint64_t now, struct nri_error *error)
{
    watch->look_at = NRI_NEVER;
    watch->looked = now;
    int rc = arm(watch, path, now, error);
    /* After the watch is set: what comes before it is found here, what comes later is told. */
    compare_socket(watch, path, now);
    return rc;
}

void nri_watch_note(struct nri_watch *watch, const char *path)
{
    watch->socket = look_up(path, false);
}

int nri_watch_on(struct nri_watch *watch, uv_loop_t *loop, const char *path, uv_fs_event_cb changed,
                 void *user, uint64_t now, struct nri_error *error)
{
    if (!watch->opened) {
        int status = uv_fs_event_init(loop, &watch->handle);
        if (status != 0)
            return refuse(watch, path, status, error);
        watch->handle.data = user;
        watch->opened = true;
    }
    watch->changed = changed;
    return look(watch, path, now, error);
}

void nri_watch_off(struct nri_watch *watch)
{
    watch->look_at = watch->attempt_at = NRI_NEVER;
    stop(watch);
}

/* What happens to the watched directory itself comes under its own last name. A file in it may have
 * that name too: then the watch is set once more, which does no harm. */
static bool is_of_itself(const struct nri_watch *watch, const char *name, int events)
{
    const char *slash = strrchr(watch->directory, '/');
    const char *own = slash == NULL ? watch->directory : slash + 1;
    return (events & UV_RENAME) != 0 && (name == NULL || strcmp(name, own) == 0);
}

/* A directory that is made in the place of one that was removed may have the inode of that, and the
 * kernel has dropped the watch all the same. */
void nri_watch_changed(struct nri_watch *watch, const char *name, int events, uint64_t now)
{
    if (watch->on && is_of_itself(watch, name, events))
        watch->gone = true;
    if (!watch->on || watch->look_at != NRI_NEVER)
        return;
    const uint64_t earliest = watch->looked + NRI_WATCH_INTERVAL;
    watch->look_at = earliest > now ? earliest : now;
}

int nri_watch_look(struct nri_watch *watch, const char *path, uint64_t now, struct nri_error *error)
{
    return watch->opened && watch->look_at <= now ? look(watch, path, now, error) : 0;
}

bool nri_watch_is_due(const struct nri_watch *watch, uint64_t now)
{
    return watch->attempt_at <= now;
}

void nri_watch_failed(struct nri_watch *watch, int code, uint64_t now)
{
    const bool early = code == NRI_E_REFUSED || code == NRI_E_NOT_FOUND;
    watch->attempted = now;
    watch->attempt_at = early && now < watch->until ? now + NRI_WATCH_INTERVAL : NRI_NEVER;
}

uint64_t nri_watch_deadline(const struct nri_watch *watch)
{
    return watch->look_at < watch->attempt_at ? watch->look_at : watch->attempt_at;
}

bool nri_watch_close(struct nri_watch *watch, uv_close_cb closed)
{
    if (!watch->opened)
        return false;
    nri_watch_off(watch);
    watch->opened = false;
    uv_close((uv_handle_t *)&watch->handle, closed);
    return true;
}
