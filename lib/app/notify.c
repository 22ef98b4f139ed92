/* SPDX-License-Identifier: Apache-2.0 */
#include "notify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A whole number; false for anything else. */
static bool number(const char *text, uint64_t *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* As sd_watchdog_enabled(): WATCHDOG_PID, when there is one, says whose watchdog it is. Half of the
 * time leaves room for a delay. */
static void read_watchdog(struct app_notify *notify, char *fault, size_t size)
{
    const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    uint64_t value = 0;
    if (usec == NULL)
        return;
    if (pid != NULL && (!number(pid, &value) || value != (uint64_t)getpid()))
        return;
    if (!number(usec, &value) || value == 0) {
        (void)snprintf(fault, size, "WATCHDOG_USEC=\"%.40s\" is no number of microseconds", usec);
        return;
    }
    notify->watchdog_ms = value / 2000 > 0 ? value / 2000 : 1;
}

void app_notify_init(struct app_notify *notify, char *fault, size_t size)
{
    const char *path = getenv("NOTIFY_SOCKET");
    *notify = (struct app_notify){.fd = -1, .address = {.sun_family = AF_UNIX}};
    fault[0] = '\0';
    if (path == NULL || path[0] == '\0')
        return;
    const size_t length = strlen(path);
    if ((path[0] != '/' && path[0] != '@') || length >= sizeof notify->address.sun_path) {
        (void)snprintf(fault, size,
                       "NOTIFY_SOCKET=\"%.120s\" is no absolute path and no abstract name of less "
                       "than 108 bytes",
                       path);
        return;
    }
    memcpy(notify->address.sun_path, path, length + 1);
    notify->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    if (path[0] == '@')
        notify->address.sun_path[0] = '\0'; /* its length is without a NUL behind */
    else
        notify->length++;
    notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (notify->fd < 0) {
        (void)snprintf(fault, size, "making a socket to notify systemd: %s", strerror(errno));
        return;
    }
    read_watchdog(notify, fault, size);
}

void app_notify_fini(struct app_notify *notify)
{
    if (notify->fd >= 0)
        (void)close(notify->fd);
    notify->fd = -1;
}

bool app_notify_send(const struct app_notify *notify, const char *text)
{
    ssize_t count;
    if (notify->fd < 0)
        return false;
    do
        count = sendto(notify->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
                       (const struct sockaddr *)&notify->address, notify->length);
    while (count < 0 && errno == EINTR);
    return count >= 0;
}
