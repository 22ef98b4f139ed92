/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which version a runtime has, and what that means for plugins.
 *
 * --runtime NAME@VERSION says it; else the program itself, but on this machine only: below a --root
 * nothing is ever run; else the package that it came with. Failure modes: the program prints
 * something else or nothing within its time (it is killed then, and what it printed counts), or
 * does not start: the next source.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nri/nri.h>

#include "doctor.h"
#include "model/model.h"
#include "surroundings.h"

#define PATIENCE_MS 10000

extern char **environ;

bool doctor_version_before(const char *version, unsigned major, unsigned minor)
{
    unsigned release[3];
    if (version == NULL || !nri_version_parse(version, release))
        return false; /* as the newest */
    return release[0] != major ? release[0] < major : release[1] < minor;
}

/* ---- the program's own answer ---- */

static int64_t now_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static size_t read_answer(int fd, char *text, size_t room)
{
    const int64_t until = now_ms() + PATIENCE_MS;
    size_t length = 0;
    while (length < room) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        const int64_t left = until - now_ms();
        const int count = left <= 0 ? 0 : poll(&ready, 1, (int)left);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        const ssize_t got = read(fd, text + length, room - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    return length;
}

static pid_t start(const char *program, int output)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    char *arguments[] = {(char *)program, (char *)"--version", NULL};
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    if (posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, output, 1) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) != 0 ||
        surroundings_spawn(&pid, program, &actions, arguments, environ) != 0)
        pid = -1;
    (void)posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* The first word that begins with a digit, or "v" and one: "containerd github.com/... v2.1.4 ...",
 * "crio version 1.34.0", "Docker version 29.5.0, build ...". */
static const char *version_in(struct doctor *doctor, char *text)
{
    for (char *word; (word = strsep(&text, " \t\r\n,")) != NULL;) {
        unsigned release[3];
        if (strchr(word, '.') != NULL && nri_version_parse(word, release))
            return DOCTOR_TEXT(doctor, "%s", word[0] == 'v' ? word + 1 : word);
    }
    return NULL;
}

static const char *ask(struct doctor *doctor, const char *program)
{
    char text[4096];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    const pid_t pid = start(program, ends[1]);
    (void)close(ends[1]);
    const size_t length = pid > 0 ? read_answer(ends[0], text, sizeof text - 1) : 0;
    (void)close(ends[0]);
    text[length] = '\0';
    if (pid > 0) {
        (void)kill(-pid, SIGKILL); /* it has told, or had its time */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    return version_in(doctor, text);
}

/* ---- all sources ---- */

void doctor_version_find(struct doctor *doctor, struct doctor_runtime *runtime)
{
    static const char *const containerd[] = {"containerd", "containerd.io", "moby-containerd",
                                             "containerd-stable", NULL};
    static const char *const crio[] = {"cri-o", "crio", NULL};
    static const char *const docker[] = {"docker-ce", "docker.io", "docker", "moby-engine", NULL};
    const char *const *names = strcmp(runtime->name, "containerd") == 0 ? containerd
                               : strcmp(runtime->name, "cri-o") == 0    ? crio
                                                                        : docker;
    if (doctor->runtime_version != NULL)
        runtime->version = doctor->runtime_version;
    else if (doctor->live && runtime->program != NULL)
        runtime->version = ask(doctor, runtime->program);
    if (runtime->version == NULL)
        runtime->version = doctor_package_version(doctor, names);
    runtime->nri = nri_version_infer(runtime->name, runtime->version);
}

/* ---- what it means ---- */

static const char *lacking(struct doctor *doctor, const struct doctor_runtime *runtime)
{
    const char *list = "";
    for (int feature = NRI_FEATURE_RLIMITS; feature <= NRI_FEATURE_REMOVE_DEVICE; feature++) {
        const enum nri_feature at = (enum nri_feature)feature;
        if (!nri_feature_supported(runtime->name, runtime->version, NULL, at))
            list = DOCTOR_TEXT(doctor, "%s%s%s", list, list[0] == '\0' ? "" : ", ",
                               nri_feature_name(at));
    }
    return list;
}

void doctor_version_check(struct doctor *doctor, const struct doctor_runtime *runtime)
{
    const bool docker = strcmp(runtime->name, "docker") == 0;
    if (runtime->version == NULL) {
        DOCTOR_FIND(doctor, RUNTIME_VERSION_UNKNOWN, runtime->program,
                    DOCTOR_TEXT(doctor, "nrictl doctor --runtime %s@VERSION", runtime->name),
                    "%s is there; its version is not known", runtime->title);
        return;
    }
    if (runtime->nri == NULL) {
        DOCTOR_FIND(doctor, RUNTIME_NO_NRI, runtime->program,
                    DOCTOR_TEXT(doctor, "sudo apt-get install %s   # %s or later",
                                docker                                ? "docker-ce"
                                : strcmp(runtime->name, "cri-o") == 0 ? "cri-o"
                                                                      : "containerd",
                                docker                                ? "29.2"
                                : strcmp(runtime->name, "cri-o") == 0 ? "1.26"
                                                                      : "1.7, better 2.0"),
                    "%s %s has no NRI", runtime->title, runtime->version);
        return;
    }
    DOCTOR_FIND(doctor, RUNTIME_VERSION, runtime->program, NULL,
                "%s %s with NRI %s; it does not act on: %s", runtime->title, runtime->version,
                runtime->nri, lacking(doctor, runtime));
    if (doctor_version_before(runtime->nri, 0, 10))
        DOCTOR_FIND(doctor, RUNTIME_OLD_NRI, runtime->program,
                    "subscribe to the events of NRI 0.9 only, or let the library do it: libnri "
                    "clips them",
                    "%s %s has NRI %s", runtime->title, runtime->version, runtime->nri);
}
