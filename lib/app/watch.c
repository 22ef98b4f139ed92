/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A directory; on its own on the heap, since libuv has its handle until the loop's next turn. */
struct app_watched {
    struct app_watched *next;
    uv_fs_event_t handle;
    bool active;
    bool wanted;
    char path[];
};

char **app_watch_copy(const char *const *paths)
{
    size_t count = 0, bytes = 0;
    while (paths[count] != NULL)
        bytes += strlen(paths[count++]) + 1;
    char **copy = malloc((count + 1) * sizeof *copy + bytes);
    if (copy == NULL)
        return NULL;
    char *text = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(paths[i]) + 1;
        memcpy(text, paths[i], length);
        copy[i] = text;
        text += length;
    }
    copy[count] = NULL;
    return copy;
}

/* FNV-1a. */
static uint64_t mix(uint64_t sum, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        sum ^= value >> (8 * i) & 0xff;
        sum *= UINT64_C(0x100000001b3);
    }
    return sum;
}

uint64_t app_watch_look(const char *const *paths)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; paths[i] != NULL; i++) {
        struct stat status;
        if (stat(paths[i], &status) != 0) {
            sum = mix(sum, (uint64_t)errno);
            continue;
        }
        sum = mix(sum, status.st_dev);
        sum = mix(sum, status.st_ino);
        sum = mix(sum, (uint64_t)status.st_size);
        sum = mix(sum, (uint64_t)status.st_mtim.tv_sec);
        sum = mix(sum, (uint64_t)status.st_mtim.tv_nsec);
    }
    return sum;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_event(uv_fs_event_t *handle, const char *name, int events, int status);
static void on_timer(uv_timer_t *timer);

/* Something may have changed: soon, and once for many events. */
static void look_soon(struct app_watch *watch)
{
    if (!uv_is_active((const uv_handle_t *)&watch->timer))
        (void)uv_timer_start(&watch->timer, on_timer, APP_WATCH_MS, 0);
}

static void want_directory(struct app_watch *watch, const char *path)
{
    for (struct app_watched *known = watch->directories; known != NULL; known = known->next) {
        if (strcmp(known->path, path) == 0) {
            known->wanted = true;
            return;
        }
    }
    const size_t size = strlen(path) + 1;
    struct app_watched *watched = calloc(1, sizeof *watched + size);
    if (watched == NULL)
        return; /* SIGHUP still reloads */
    memcpy(watched->path, path, size);
    watched->wanted = true;
    if (uv_fs_event_init(watch->loop, &watched->handle) != 0) {
        free(watched);
        return;
    }
    watched->handle.data = watch;
    watched->next = watch->directories;
    watch->directories = watched;
}

/* The directory that a path lies in, and what it is itself if that is one. */
static void want_around(struct app_watch *watch, const char *path)
{
    struct stat status;
    char directory[PATH_MAX];
    if (strlen(path) >= sizeof directory)
        return;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        want_directory(watch, path);
    (void)snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash == NULL)
        (void)snprintf(directory, sizeof directory, ".");
    else
        slash[slash == directory ? 1 : 0] = '\0';
    want_directory(watch, directory);
}

/* libuv tells of the end of a watched directory by no event of its own, so that each is begun anew:
 * that costs two system calls, and only when something happened. */
static void watch_directories(struct app_watch *watch)
{
    for (struct app_watched *known = watch->directories; known != NULL; known = known->next)
        known->wanted = false;
    for (size_t i = 0; watch->paths[i] != NULL; i++) {
        want_around(watch, watch->paths[i]);
        char *real = realpath(watch->paths[i], NULL); /* behind links */
        if (real != NULL && strcmp(real, watch->paths[i]) != 0)
            want_around(watch, real);
        free(real);
    }
    for (struct app_watched **link = &watch->directories; *link != NULL;) {
        struct app_watched *known = *link;
        if (known->active)
            (void)uv_fs_event_stop(&known->handle);
        known->active = false;
        if (known->wanted) {
            known->active = uv_fs_event_start(&known->handle, on_event, known->path, 0) == 0;
            link = &known->next;
            continue;
        }
        *link = known->next;
        known->handle.data = known;
        uv_close((uv_handle_t *)&known->handle, on_closed);
    }
}

static void on_event(uv_fs_event_t *handle, const char *name, int events, int status)
{
    (void)name;
    (void)events;
    (void)status;
    look_soon(handle->data);
}

static void on_timer(uv_timer_t *timer)
{
    struct app_watch *watch = timer->data;
    watch_directories(watch); /* before looking, so that what happens after it is told */
    const uint64_t seen = app_watch_look((const char *const *)watch->paths);
    if (seen == watch->seen)
        return;
    watch->seen = seen;
    watch->changed(watch->user);
}

void app_watch_start(struct app_watch *watch, uv_loop_t *loop, char **paths, uint64_t seen,
                     void (*changed)(void *user), void *user)
{
    *watch = (struct app_watch){
        .loop = loop, .paths = paths, .seen = seen, .changed = changed, .user = user};
    (void)uv_timer_init(loop, &watch->timer); /* cannot fail */
    watch->timer.data = watch;
    watch_directories(watch);
    look_soon(watch); /* for what happened before the directories were watched */
}

static bool same(char *const *one, char *const *other)
{
    size_t i = 0;
    while (one[i] != NULL && other[i] != NULL && strcmp(one[i], other[i]) == 0)
        i++;
    return one[i] == NULL && other[i] == NULL;
}

void app_watch_set_paths(struct app_watch *watch, char **paths)
{
    if (watch->loop == NULL || same(watch->paths, paths)) {
        free(paths);
        return;
    }
    free(watch->paths);
    watch->paths = paths;
    watch_directories(watch);
    watch->seen = app_watch_look((const char *const *)paths);
}

void app_watch_close(struct app_watch *watch)
{
    if (watch->loop == NULL)
        return;
    while (watch->directories != NULL) {
        struct app_watched *known = watch->directories;
        watch->directories = known->next;
        known->handle.data = known;
        uv_close((uv_handle_t *)&known->handle, on_closed);
    }
    uv_close((uv_handle_t *)&watch->timer, NULL);
    free(watch->paths);
    watch->paths = NULL;
    watch->loop = NULL;
}
