/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PLUGIN_FD = 3, REPORT_FD = 4, HIGH_FD = 16 };

/* Of the child, made before there is one. */
struct launch {
    char **argv, **environment;
    int output, report; /* the errno of what fails goes there; nothing when exec() succeeds */
    bool connected;
    pid_t parent;
    struct sockaddr_un address;
};

/* ---- its arguments and environment ---- */

static void free_list(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
}

/* An argument with {socket} replaced. */
static char *replaced(const char *text, const char *socket)
{
    static const char mark[] = "{socket}";
    const char *at = strstr(text, mark);
    char *result = NULL;
    if (at == NULL)
        return strdup(text);
    char *rest = replaced(at + sizeof mark - 1, socket);
    if (rest != NULL && asprintf(&result, "%.*s%s%s", (int)(at - text), text, socket, rest) < 0)
        result = NULL;
    free(rest);
    return result;
}

static char **make_arguments(const char *const *argv, const char *socket)
{
    size_t count = 0;
    while (argv[count] != NULL)
        count++;
    char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list != NULL && i < count; i++) {
        if ((list[i] = replaced(argv[i], socket)) == NULL) {
            free_list(list);
            return NULL;
        }
    }
    return list;
}

static bool is_ours(const char *variable)
{
    static const char *const names[] = {
        "NRI_PLUGIN_NAME=", "NRI_PLUGIN_IDX=", "NRI_PLUGIN_SOCKET=", "NRICTL_SOCKET="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
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

static char **make_environment(const char *name, const char *index, const char *socket,
                               bool connected)
{
    size_t count = 0, room = 0;
    while (environ[room] != NULL)
        room++;
    char **list = calloc(room + 5, sizeof *list);
    bool good = list != NULL;
    for (size_t i = 0; good && i < room; i++) {
        if (!is_ours(environ[i]))
            good = add(list, &count, "", environ[i]);
    }
    good = good && add(list, &count, "NRICTL_SOCKET=", socket);
    if (connected)
        good = good && add(list, &count, "NRI_PLUGIN_NAME=", name) &&
               add(list, &count, "NRI_PLUGIN_IDX=", index) &&
               add(list, &count, "NRI_PLUGIN_SOCKET=", "3");
    if (good)
        return list;
    free_list(list);
    return NULL;
}

/* ---- in the child: nothing but system calls ---- */

static void report(const struct launch *launch, int number)
{
    (void)!write(launch->report, &number, sizeof number);
    _exit(127);
}

static int connect_plugin(const struct launch *launch)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 ||
        connect(fd, (const struct sockaddr *)&launch->address, sizeof launch->address) != 0)
        report(launch, errno);
    return fcntl(fd, F_DUPFD, HIGH_FD);
}

/* Not every C library has closefrom(), nor every kernel the call. */
static void close_rest(unsigned first)
{
    if (syscall(SYS_close_range, first, ~0u, 0) == 0)
        return;
    for (long fd = (long)first, end = sysconf(_SC_OPEN_MAX); fd < end; fd++)
        (void)close((int)fd);
}

static void become(struct launch *launch)
{
    sigset_t none;
    int plugin = -1;
    (void)setpgid(0, 0);
    /* Nobody else would end it when this program is killed. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != launch->parent)
        _exit(127);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    launch->report = fcntl(launch->report, F_DUPFD, HIGH_FD);
    const int output = fcntl(launch->output, F_DUPFD, HIGH_FD);
    if (launch->connected)
        plugin = connect_plugin(launch);
    const int input = open("/dev/null", O_RDONLY);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0 || dup3(launch->report, REPORT_FD, O_CLOEXEC) < 0 ||
        (launch->connected && dup2(plugin, PLUGIN_FD) < 0))
        report(launch, errno);
    launch->report = REPORT_FD;
    if (!launch->connected)
        (void)close(PLUGIN_FD);
    close_rest(REPORT_FD + 1);
    environ = launch->environment;
    (void)execvp(launch->argv[0], launch->argv);
    report(launch, errno);
}

/* ---- here ---- */

static int code_of(int number)
{
    switch (number) {
    case ENOENT:
        return NRI_E_NOT_FOUND;
    case EACCES:
    case EPERM:
        return NRI_E_PERMISSION;
    case ECONNREFUSED:
        return NRI_E_REFUSED;
    case ENOMEM:
    case EAGAIN:
        return NRI_E_NOMEM;
    default:
        return NRI_E_IO;
    }
}

static int fork_it(struct launch *launch, pid_t *pid, struct nri_error *error)
{
    int ends[2], number = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return nri_error_set(error, NRI_E_IO, "pipe: %m");
    launch->report = ends[1];
    *pid = fork();
    if (*pid == 0)
        become(launch); /* does not return */
    (void)close(ends[1]);
    if (*pid < 0) {
        (void)close(ends[0]);
        return nri_error_set(error, code_of(errno), "fork: %m");
    }
    (void)setpgid(*pid, *pid); /* whoever comes first */
    ssize_t got;
    while ((got = read(ends[0], &number, sizeof number)) < 0 && errno == EINTR)
        continue;
    (void)close(ends[0]);
    if (got != (ssize_t)sizeof number)
        return 0;
    while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    errno = number;
    return nri_error_set(error, code_of(number), "%s: %m", launch->argv[0]);
}

int process_start(const struct child_options *options, const char *name, const char *index,
                  const char *socket, pid_t *pid, struct nri_error *error)
{
    struct launch launch = {
        .output = options->output == 0 ? STDERR_FILENO : options->output,
        .connected = options->way == CHILD_CONNECTED,
        .parent = getpid(),
        .address = {.sun_family = AF_UNIX},
    };
    int code = NRI_E_NOMEM;
    (void)snprintf(launch.address.sun_path, sizeof launch.address.sun_path, "%s", socket);
    launch.argv = make_arguments(options->argv, socket);
    launch.environment = make_environment(name, index, socket, launch.connected);
    if (launch.argv == NULL || launch.environment == NULL)
        (void)nri_error_set(error, code, "out of memory for a plugin's command line");
    else
        code = fork_it(&launch, pid, error);
    free_list(launch.argv);
    free_list(launch.environment);
    return code;
}
