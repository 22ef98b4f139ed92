/* SPDX-License-Identifier: Apache-2.0 */
#include "subject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "io/close_from.h"

extern char **environ;

enum { PLUGIN_FD = 3, BACKLOG = 16 };

void subject_init(struct subject *subject)
{
    memset(subject, 0, sizeof *subject);
    subject->listener = subject->output = subject->pair = -1;
}

/* ---- its place ---- */

static void path_in(const struct subject *subject, const char *name, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/%s", subject->directory, name);
}

bool subject_listen(struct run *run)
{
    struct subject *subject = &run->subject;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, subject->socket, sizeof subject->socket);
    subject->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (subject->listener < 0 ||
        bind(subject->listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(subject->listener, BACKLOG) != 0)
        return run_broken(run, "no socket %s: %s", subject->socket, strerror(errno));
    return true;
}

void subject_unlisten(struct subject *subject)
{
    if (subject->listener < 0)
        return;
    (void)unlink(subject->socket);
    (void)close(subject->listener);
    subject->listener = -1;
}

bool subject_place(struct run *run)
{
    struct subject *subject = &run->subject;
    char path[128];
    (void)snprintf(subject->directory, sizeof subject->directory, "%s/%s", run->suite->directory,
                   run->check->id);
    path_in(subject, "nri.sock", subject->socket, sizeof subject->socket);
    path_in(subject, "own", path, sizeof path);
    if (mkdir(subject->directory, 0700) != 0 || mkdir(path, 0700) != 0)
        return run_broken(run, "no directory %s: %s", subject->directory, strerror(errno));
    path_in(subject, "output", path, sizeof path);
    subject->output = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (subject->output < 0)
        return run_broken(run, "%s: %s", path, strerror(errno));
    return subject_listen(run);
}

/* A plugin may have left something in its directory. */
static void remove_tree(const char *path)
{
    DIR *listing = opendir(path);
    if (listing == NULL) {
        (void)unlink(path);
        return;
    }
    for (const struct dirent *at; (at = readdir(listing)) != NULL;) {
        char inner[4096];
        if (strcmp(at->d_name, ".") == 0 || strcmp(at->d_name, "..") == 0)
            continue;
        if ((size_t)snprintf(inner, sizeof inner, "%s/%s", path, at->d_name) >= sizeof inner)
            continue;
        if (at->d_type == DT_DIR)
            remove_tree(inner);
        else
            (void)unlink(inner);
    }
    (void)closedir(listing);
    (void)rmdir(path);
}

void subject_clear(struct run *run)
{
    struct subject *subject = &run->subject;
    subject_unlisten(subject);
    if (subject->output >= 0)
        (void)close(subject->output);
    if (subject->pair >= 0)
        (void)close(subject->pair);
    subject->output = subject->pair = -1;
    if (subject->directory[0] != '\0')
        remove_tree(subject->directory);
}

/* ---- its arguments ---- */

bool subject_has(const char *const *argv, const char *placeholder)
{
    for (; *argv != NULL; argv++) {
        if (strstr(*argv, placeholder) != NULL)
            return true;
    }
    return false;
}

struct replacement {
    const char *mark, *value; /* a NULL value: the argument goes */
};
#define MARKS 4

static void free_list(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
}

/* All marks of one argument. */
static char *replaced(const char *text, const struct replacement *marks)
{
    for (size_t i = 0; i < MARKS; i++) {
        const char *at = strstr(text, marks[i].mark);
        char *result = NULL;
        if (at == NULL || marks[i].value == NULL)
            continue;
        char *rest = replaced(at + strlen(marks[i].mark), marks);
        char *front = strndup(text, (size_t)(at - text));
        char *first = front != NULL ? replaced(front, marks) : NULL;
        if (rest != NULL && first != NULL &&
            asprintf(&result, "%s%s%s", first, marks[i].value, rest) < 0)
            result = NULL;
        free(first);
        free(front);
        free(rest);
        return result;
    }
    return strdup(text);
}

static bool is_left_out(const char *text, const struct replacement *marks, bool *whole)
{
    for (size_t i = 0; i < MARKS; i++) {
        if (marks[i].value != NULL || strstr(text, marks[i].mark) == NULL)
            continue;
        *whole = strcmp(text, marks[i].mark) == 0;
        return true;
    }
    return false;
}

static char **make_arguments(const char *const *argv, const struct replacement *marks)
{
    size_t count = 0, used = 0;
    while (argv[count] != NULL)
        count++;
    char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list != NULL && i < count; i++) {
        bool whole = false;
        if (is_left_out(argv[i], marks, &whole)) {
            if (whole && used > 1 && list[used - 1][0] == '-') {
                free(list[--used]);
                list[used] = NULL;
            }
        } else if ((list[used++] = replaced(argv[i], marks)) == NULL) {
            free_list(list);
            return NULL;
        }
    }
    return list;
}

/* ---- its environment ---- */

static bool is_ours(const char *variable)
{
    static const char prefix[] = "NRI_PLUGIN_";
    return strncmp(variable, prefix, sizeof prefix - 1) == 0;
}

static bool add(char **list, size_t *count, const char *name, const char *value)
{
    if (asprintf(&list[*count], "%s%s", name, value) < 0) {
        list[*count] = NULL;
        return false;
    }
    (*count)++;
    return true;
}

static char **make_environment(enum subject_form form)
{
    const bool launched = form == SUBJECT_LAUNCHED;
    size_t count = 0, room = 0;
    while (environ[room] != NULL)
        room++;
    char **list = calloc(room + 4, sizeof *list);
    bool good = list != NULL;
    for (size_t i = 0; good && !launched && i < room; i++) {
        if (!is_ours(environ[i]))
            good = add(list, &count, "", environ[i]);
    }
    if (form != SUBJECT_EXTERNAL)
        good =
            good &&
            add(list, &count,
                "NRI_PLUGIN_NAME=", launched ? SUBJECT_LAUNCHED_NAME : SUBJECT_NAME) &&
            add(list, &count, "NRI_PLUGIN_IDX=", launched ? SUBJECT_LAUNCHED_INDEX : SUBJECT_INDEX);
    if (launched)
        good = good && add(list, &count, "NRI_PLUGIN_SOCKET=", "3");
    if (good)
        return list;
    free_list(list);
    return NULL;
}

/* ---- its start ---- */

static int fill_actions(posix_spawn_file_actions_t *actions, const struct subject *subject, int fd)
{
    int number = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (number == 0)
        number = posix_spawn_file_actions_adddup2(actions, subject->output, STDOUT_FILENO);
    if (number == 0)
        number = posix_spawn_file_actions_adddup2(actions, subject->output, STDERR_FILENO);
    if (number == 0 && fd >= 0)
        number = posix_spawn_file_actions_adddup2(actions, fd, PLUGIN_FD);
    if (number == 0)
        number = nri_close_from(actions, fd >= 0 ? PLUGIN_FD + 1 : PLUGIN_FD);
    return number;
}

static int fill_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int number = posix_spawnattr_setsigmask(attributes, &none);
    if (number == 0)
        number = posix_spawnattr_setsigdefault(attributes, &all);
    if (number == 0)
        number = posix_spawnattr_setpgroup(attributes, 0);
    if (number == 0)
        number = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return number;
}

static int spawn(struct subject *subject, char **arguments, char **environment, int fd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int number = posix_spawn_file_actions_init(&actions);
    if (number != 0)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (number == 0) {
        number = fill_actions(&actions, subject, fd);
        if (number == 0)
            number = fill_attributes(&attributes);
        if (number == 0)
            number = posix_spawnp(&subject->pid, arguments[0], &actions, &attributes, arguments,
                                  environment);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return number;
}

/* The connection of a launched one. */
static bool make_pair(struct run *run, int *fd)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return run_broken(run, "no socket pair: %s", strerror(errno));
    run->subject.pair = ends[0];
    *fd = ends[1];
    return true;
}

bool subject_start(struct run *run, enum subject_form form)
{
    struct subject *subject = &run->subject;
    const bool external = form == SUBJECT_EXTERNAL;
    char own[128];
    int fd = -1;
    path_in(subject, "own", own, sizeof own);
    const struct replacement marks[MARKS] = {
        {"{socket}", form == SUBJECT_LAUNCHED ? NULL : subject->socket},
        {"{name}", external ? SUBJECT_NAME : NULL},
        {"{index}", external ? SUBJECT_INDEX : NULL},
        {"{directory}", own},
    };
    if (form == SUBJECT_LAUNCHED && !make_pair(run, &fd))
        return false;
    char **arguments = make_arguments(run->suite->argv, marks);
    char **environment = make_environment(form);
    int number = ENOMEM;
    subject->ended = false;
    if (arguments != NULL && arguments[0] != NULL && environment != NULL)
        number = spawn(subject, arguments, environment, fd);
    free_list(arguments);
    free_list(environment);
    if (fd >= 0)
        (void)close(fd);
    if (number == 0)
        return true;
    subject->pid = 0;
    return run_broken(run, "%s: %s", run->suite->argv[0], strerror(number));
}

/* ---- its end ---- */

void subject_reap(struct subject *subject)
{
    if (subject->pid != 0 && !subject->ended &&
        waitpid(subject->pid, &subject->status, WNOHANG) == subject->pid)
        subject->ended = true;
}

/* Whoever it has started is in its group, and may outlive it. */
void subject_signal(const struct subject *subject, int number)
{
    if (subject->pid != 0)
        (void)kill(-subject->pid, number);
}

bool subject_pause(struct run *run)
{
    struct subject *subject = &run->subject;
    const uint64_t deadline = run_deadline(run);
    int status;
    subject_signal(subject, SIGSTOP);
    while (waitpid(subject->pid, &status, WUNTRACED | WNOHANG) == 0) {
        /* SIGCHLD ends no wait: it may be of any child. */
        if (run_wait(run, -1, 0, run_now() + 1) == RUN_STOPPED || run_now() >= deadline)
            return run_fail(run, "the process does not stop");
    }
    if (WIFSTOPPED(status))
        return true;
    subject->ended = true;
    subject->status = status;
    return run_fail(run, "the plugin ended by itself");
}

void subject_kill(struct subject *subject)
{
    subject_signal(subject, SIGKILL);
    while (subject->pid != 0 && !subject->ended) {
        if (waitpid(subject->pid, &subject->status, 0) == subject->pid || errno != EINTR)
            subject->ended = true;
    }
    subject->pid = 0;
}

void subject_tell_end(const struct subject *subject, char *text, size_t size)
{
    if (WIFSIGNALED(subject->status))
        (void)snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(subject->status),
                       strsignal(WTERMSIG(subject->status)));
    else
        (void)snprintf(text, size, "ended with status %d", WEXITSTATUS(subject->status));
}

bool subject_ended_well(const struct subject *subject, int number)
{
    return WIFEXITED(subject->status) ? WEXITSTATUS(subject->status) == 0
                                      : WTERMSIG(subject->status) == number;
}

bool subject_crashed(const struct subject *subject)
{
    static const int faults[] = {SIGSEGV, SIGABRT, SIGBUS,  SIGILL, SIGFPE,
                                 SIGTRAP, SIGSYS,  SIGPIPE, SIGKILL};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (WIFSIGNALED(subject->status) && WTERMSIG(subject->status) == faults[i])
            return true;
    }
    return false;
}

/* ---- what it takes ---- */

static bool read_proc(const struct subject *subject, const char *name, char *text, size_t size)
{
    char path[400];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)subject->pid, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t got = fread(text, 1, size - 1, file);
    text[got] = '\0';
    (void)fclose(file);
    return got > 0;
}

/* Where the kernel does not count what threads wait for a processor. */
static bool processor_time(const struct subject *subject, uint64_t *milliseconds)
{
    enum { SKIPPED = 11 }; /* fields between the program's name and utime */
    char text[1024], *end = NULL;
    if (!read_proc(subject, "stat", text, sizeof text))
        return false;
    const char *at = strrchr(text, ')');
    for (int i = 0; at != NULL && i <= SKIPPED; i++)
        at = strchr(at + 1, ' ');
    if (at == NULL)
        return false;
    const unsigned long long user = strtoull(at, &end, 10), system = strtoull(end, &end, 10);
    *milliseconds = (user + system) * 1000 / (unsigned long long)sysconf(_SC_CLK_TCK);
    return true;
}

bool subject_busy(const struct subject *subject, uint64_t *milliseconds)
{
    enum { NANOS = 1000000 };
    char path[64], text[128];
    uint64_t nanoseconds = 0;
    bool any = false;
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)subject->pid);
    DIR *listing = opendir(path);
    if (listing == NULL)
        return false;
    for (const struct dirent *at; (at = readdir(listing)) != NULL;) {
        char name[300], *end = NULL;
        (void)snprintf(name, sizeof name, "task/%s/schedstat", at->d_name);
        if (at->d_name[0] == '.' || !read_proc(subject, name, text, sizeof text))
            continue;
        const unsigned long long ran = strtoull(text, &end, 10), waited = strtoull(end, NULL, 10);
        nanoseconds += ran + waited;
        any = any || ran != 0;
    }
    (void)closedir(listing);
    *milliseconds = nanoseconds / NANOS;
    return any || processor_time(subject, milliseconds);
}

bool subject_memory(const struct subject *subject, uint64_t *bytes)
{
    char text[256];
    if (!read_proc(subject, "statm", text, sizeof text))
        return false;
    const char *at = strchr(text, ' ');
    if (at == NULL)
        return false;
    *bytes = strtoull(at, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

bool subject_descriptors(const struct subject *subject, uint64_t *count)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)subject->pid);
    DIR *listing = opendir(path);
    if (listing == NULL)
        return false;
    *count = 0;
    for (const struct dirent *at; (at = readdir(listing)) != NULL;)
        *count += at->d_name[0] != '.';
    (void)closedir(listing);
    return true;
}
