/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What systemd wants to be told (sd_notify): datagrams to the socket that NOTIFY_SOCKET names.
 * Without that variable nothing is sent.
 */
#ifndef NRI_APP_NOTIFY_H
#define NRI_APP_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct app_notify {
    int fd; /* -1: nobody wants to know */
    struct sockaddr_un address;
    socklen_t length;
    uint64_t watchdog_ms; /* how often WATCHDOG=1 is to be sent; 0: never */
};

/* Reads the environment. A fault in it is told in `fault`, "" for none: a plugin runs without. */
void app_notify_init(struct app_notify *notify, char *fault, size_t size);
void app_notify_fini(struct app_notify *notify);
/* Sends "NAME=VALUE" lines, without waiting: whether the datagram went out. */
bool app_notify_send(const struct app_notify *notify, const char *text);

#endif
