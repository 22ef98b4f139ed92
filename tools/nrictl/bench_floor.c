/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine costs without a plugin: bytes there and back, a process that does nothing, a
 * process that only waits.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "process.h"

/* ---- bytes there and back ---- */

static bool read_whole(int fd, uint8_t *room, size_t size, size_t count)
{
    while (count > 0) {
        const ssize_t got = read(fd, room, count < size ? count : size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        count -= (size_t)got;
    }
    return true;
}

static bool write_whole(int fd, const uint8_t *room, size_t size, size_t count)
{
    while (count > 0) {
        const ssize_t wrote = send(fd, room, count < size ? count : size, MSG_NOSIGNAL);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        count -= (size_t)wrote;
    }
    return true;
}

/* The child: nothing but system calls. */
static void echo(int fd, size_t request, size_t reply, pid_t parent)
{
    uint8_t room[65536];
    memset(room, 0, sizeof room);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    while (read_whole(fd, room, sizeof room, request) && write_whole(fd, room, sizeof room, reply))
        continue;
    _exit(0);
}

bool bench_echo_start(struct bench *bench, struct bench_echo *made, size_t request, size_t reply)
{
    int ends[2];
    const pid_t parent = getpid();
    *made = (struct bench_echo){.fd = -1, .request = request, .reply = reply};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return bench_fail(bench, NRICTL_ENVIRONMENT, "no socket pair: %s", strerror(errno));
    made->pid = fork();
    if (made->pid == 0) {
        (void)close(ends[0]);
        echo(ends[1], request, reply, parent);
    }
    (void)close(ends[1]);
    if (made->pid < 0) {
        (void)close(ends[0]);
        made->pid = 0;
        return bench_fail(bench, NRICTL_ENVIRONMENT, "fork: %s", strerror(errno));
    }
    made->fd = ends[0];
    return true;
}

void bench_echo_stop(struct bench_echo *echo)
{
    if (echo->fd >= 0)
        (void)close(echo->fd);
    if (echo->pid > 0) {
        (void)kill(echo->pid, SIGKILL);
        while (waitpid(echo->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    *echo = (struct bench_echo){.fd = -1};
}

bool bench_echo_send(struct bench *bench, const struct bench_echo *echo,
                     const struct bench_frame *frame)
{
    return write_whole(echo->fd, frame->bytes.data + frame->bytes.start, SIZE_MAX, echo->request) ||
           bench_fail(bench, NRICTL_ENVIRONMENT, "the process that echoes has ended");
}

/* As a plugin's reply is received: a wait, then a read. */
bool bench_echo_receive(struct bench *bench, const struct bench_echo *echo)
{
    uint8_t room[65536];
    const uint64_t deadline = bench_deadline(bench);
    for (size_t left = echo->reply; left > 0;) {
        const enum bench_wait seen = bench_wait(bench, echo->fd, deadline);
        if (seen == BENCH_CHILD)
            continue;
        if (seen != BENCH_READY)
            return bench_fail(bench, NRICTL_ENVIRONMENT, "no echo within %llu ms",
                              (unsigned long long)bench->timeout_ms);
        const ssize_t got = read(echo->fd, room, left < sizeof room ? left : sizeof room);
        if (got <= 0)
            return bench_fail(bench, NRICTL_ENVIRONMENT, "the process that echoes has ended");
        left -= (size_t)got;
    }
    return true;
}

/* ---- processes ---- */

static bool spawn(struct bench *bench, const char *const *argv, pid_t *pid)
{
    const struct child_options options = {.argv = argv, .way = CHILD_CONNECTS};
    struct nri_error error;
    return process_start(&options, "floor", "00", "", pid, &error) == 0 ||
           bench_fail(bench, NRICTL_ENVIRONMENT, "%s", error.text);
}

/* Waits for a change of a child's that `flags` of waitpid() ask for. */
static bool await(struct bench *bench, pid_t pid, int flags)
{
    const uint64_t deadline = bench_deadline(bench);
    int status;
    while (waitpid(pid, &status, flags | WNOHANG) != pid) {
        const enum bench_wait seen = bench_wait(bench, -1, deadline);
        if (seen == BENCH_STOPPED || seen == BENCH_LATE) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
            return seen == BENCH_LATE && bench_fail(bench, NRICTL_ENVIRONMENT,
                                                    "a process that does nothing does not end");
        }
    }
    return true;
}

bool bench_floor_start(struct bench *bench)
{
    static const char *const argv[] = {"true", NULL};
    pid_t pid;
    const uint64_t began = bench_now();
    return spawn(bench, argv, &pid) && await(bench, pid, 0) &&
           bench_sample(bench, &bench->floor_start, bench_now() - began);
}

bool bench_floor_memory(struct bench *bench)
{
    static const char *const argv[] = {"sh", "-c", "kill -STOP $$", NULL};
    struct bench_memory memory = {0};
    pid_t pid;
    if (!spawn(bench, argv, &pid) || !await(bench, pid, WUNTRACED))
        return false;
    const bool good = bench_memory_of(bench, pid, &memory);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    bench->floor_rss = memory.rss;
    return good;
}

/* ---- what a process takes ---- */

bool bench_memory_of(struct bench *bench, pid_t pid, struct bench_memory *memory)
{
    char path[64], line[256];
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    memset(memory, 0, sizeof *memory);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmRSS:", 6) == 0)
            memory->rss = strtoull(line + 6, NULL, 10) * 1024;
        if (strncmp(line, "VmHWM:", 6) == 0)
            memory->peak = strtoull(line + 6, NULL, 10) * 1024;
    }
    if (file != NULL)
        (void)fclose(file);
    return memory->rss > 0 ||
           bench_fail(bench, NRICTL_ENVIRONMENT, "%s does not tell its memory", path);
}

bool bench_cpu_of(struct bench *bench, pid_t pid, uint64_t *ns)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return bench_fail(bench, NRICTL_ENVIRONMENT, "process %d does not tell its CPU time",
                          (int)pid);
    *ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    return true;
}
