/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin for the tests of launching. What it does goes by its name (NRI_PLUGIN_NAME):
 *
 *   report    writes what it was started with to the file that its configuration names
 *   deaf      does not end by Shutdown or the end of its connection
 *   stubborn  nor by SIGTERM
 *   silent    never registers, and ends with its connection
 *   failing   exits at once, with status 7
 *   refusing  answers Synchronize with an error
 *   parent    has a child that holds nothing but its process group, and is deaf
 *   daemon    goes on in a child, and exits itself; the child leaves its process group
 *   leaving   closes its connection and goes on
 *   crashing  ends by a signal of its own once it is configured
 *   others    behave
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nri/nri.h>

extern char **environ;

static char name[64];

static void write_status(FILE *file)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "SigBlk:", 7) != 0 && strncmp(line, "SigIgn:", 7) != 0)
            continue;
        /* But for the two that glibc keeps for itself, and leaves ignored in what it spawns. */
        const unsigned long long mask = strtoull(line + 7, NULL, 16) & ~(UINT64_C(3) << 31);
        (void)fprintf(file, "%.7s %llx\n", line, mask);
    }
    if (status != NULL)
        (void)fclose(status);
}

/* As they were at the start: before anything was opened. */
static char descriptors[256];

static void note_descriptors(void)
{
    for (int fd = 0; fd < 256; fd++) {
        size_t length = strlen(descriptors);
        struct stat status;
        if (fstat(fd, &status) == 0)
            (void)snprintf(descriptors + length, sizeof descriptors - length, "%d%s ", fd,
                           S_ISSOCK(status.st_mode) ? "s" : "");
    }
}

static void report(const char *path)
{
    char temporary[512];
    (void)snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE *file = fopen(temporary, "we");
    if (file == NULL)
        return;
    for (char **variable = environ; *variable != NULL; variable++)
        (void)fprintf(file, "env %s\n", *variable);
    (void)fprintf(file, "fds %s\n", descriptors);
    (void)fprintf(file, "leader %d\n", getpgrp() == getpid());
    write_status(file);
    (void)fclose(file);
    (void)rename(temporary, path);
}

static int on_configure(nri_request *request, void *user)
{
    (void)user;
    if (strcmp(name, "report") == 0)
        report(nri_request_config(request));
    if (strcmp(name, "crashing") == 0)
        abort();
    return 0;
}

static int on_event(nri_request *request, void *user)
{
    (void)user;
    if (nri_request_event(request) == NRI_EVENT_SYNCHRONIZE && strcmp(name, "refusing") == 0)
        return nri_request_fail(request, NRI_E_REJECTED, "no");
    return 0;
}

static void fork_child(void)
{
    if (fork() == 0) {
        for (int fd = 0; fd < 256; fd++)
            (void)close(fd);
        for (;;)
            (void)pause();
    }
}

static void sleep_for_good(void)
{
    for (;;)
        (void)pause();
}

int main(void)
{
    struct nri_plugin_ops ops = {.size = sizeof ops,
                                 .on_configure = on_configure,
                                 .on_synchronize = on_event,
                                 .on_create_container = on_event};
    nri_plugin *plugin = NULL;
    note_descriptors();
    const char *own = getenv("NRI_PLUGIN_NAME");
    (void)snprintf(name, sizeof name, "%s", own != NULL ? own : "");
    if (strcmp(name, "failing") == 0)
        return 7;
    if (strcmp(name, "stubborn") == 0)
        (void)signal(SIGTERM, SIG_IGN);
    if (strcmp(name, "silent") == 0) {
        char byte;
        while (read(3, &byte, 1) > 0)
            continue;
        return 0;
    }
    if (strcmp(name, "leaving") == 0) {
        (void)close(3);
        sleep_for_good();
    }
    if (strcmp(name, "parent") == 0)
        fork_child();
    if (strcmp(name, "daemon") == 0) {
        if (fork() != 0)
            _exit(0);
        (void)setpgid(0, 0);
    }
    nri_error *error = NULL;
    if (nri_plugin_new(&plugin, &ops, NULL, NULL, &error) != 0) {
        (void)fprintf(stderr, "launched: %s\n", nri_error_get_text(error));
        return 2;
    }
    (void)nri_plugin_run(plugin);
    nri_plugin_close(plugin, NULL, NULL);
    if (strcmp(name, "deaf") == 0 || strcmp(name, "stubborn") == 0 || strcmp(name, "parent") == 0)
        sleep_for_good();
    return 0;
}
