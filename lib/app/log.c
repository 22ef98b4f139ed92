/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "line.h"

/* The longest of each in a line, escaped; what is left of APP_LINE_SIZE is the text's. */
#define NAME_LIMIT 200
#define ID_LIMIT   300
#define SAY_SIZE   2048

/* Whether journald reads a descriptor: systemd says which one it made. */
static bool is_journal(const struct stat *status)
{
    const char *stream = getenv("JOURNAL_STREAM");
    char *end;
    if (stream == NULL)
        return false;
    const uintmax_t device = strtoumax(stream, &end, 10);
    if (end == stream || *end != ':')
        return false;
    const char *rest = end + 1;
    const uintmax_t inode = strtoumax(rest, &end, 10);
    return end != rest && *end == '\0' && device == status->st_dev && inode == status->st_ino;
}

void app_log_init(struct app_log *log, const char *program, bool json, int32_t level)
{
    struct stat status;
    *log = (struct app_log){.fd = STDERR_FILENO, .json = json, .level = level, .program = program};
    (void)pthread_mutex_init(&log->lock, NULL); /* cannot fail without attributes */
    if (fstat(log->fd, &status) == 0) {
        log->socket = S_ISSOCK(status.st_mode);
        log->priority = is_journal(&status);
    }
}

void app_log_fini(struct app_log *log)
{
    (void)pthread_mutex_destroy(&log->lock);
}

enum nri_log_level app_log_level(const char *name)
{
    for (int level = NRI_LOG_ERROR; level <= NRI_LOG_DEBUG; level++) {
        if (strcmp(name, nri_log_level_name((enum nri_log_level)level)) == 0)
            return (enum nri_log_level)level;
    }
    return NRI_LOG_DEFAULT;
}

/* RFC 3339 in UTC. */
static void put_time(struct app_line *line)
{
    struct timespec now;
    struct tm parts;
    char text[64] = "", all[80];
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &parts) != NULL)
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(all, sizeof all, "%s.%03ldZ", text, now.tv_nsec / 1000000);
    app_line_put(line, all);
}

static void put_priority(struct app_line *line, enum nri_log_level level)
{
    static const char *const priorities[] = {[NRI_LOG_ERROR] = "<3>",
                                             [NRI_LOG_WARN] = "<4>",
                                             [NRI_LOG_INFO] = "<6>",
                                             [NRI_LOG_DEBUG] = "<7>"};
    app_line_put(
        line, priorities[level >= NRI_LOG_ERROR && level <= NRI_LOG_DEBUG ? level : NRI_LOG_INFO]);
}

static bool given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static void put_member(struct app_line *line, const char *name, const char *text, size_t limit)
{
    if (!given(text))
        return;
    app_line_put(line, ",\"");
    app_line_put(line, name);
    app_line_put(line, "\":\"");
    app_line_put_text(line, text, 1, limit, APP_LINE_SIZE);
    app_line_put(line, "\"");
}

static void put_json(struct app_line *line, const struct app_log *log,
                     const struct app_record *record)
{
    static const char end[] = "\"}";
    app_line_put(line, "{\"time\":\"");
    put_time(line);
    app_line_put(line, "\",\"level\":\"");
    app_line_put(line, nri_log_level_name(record->level));
    app_line_put(line, "\"");
    put_member(line, "program", log->program, NAME_LIMIT);
    put_member(line, "plugin", record->plugin, NAME_LIMIT);
    put_member(line, "event", record->event, NAME_LIMIT);
    put_member(line, "pod", record->pod, ID_LIMIT);
    put_member(line, "container", record->container, ID_LIMIT);
    if (record->suppressed > 0) {
        char text[64];
        (void)snprintf(text, sizeof text, ",\"suppressed\":%" PRIu64, record->suppressed);
        app_line_put(line, text);
    }
    /* Last, so that a long text is what is cut. */
    app_line_put(line, ",\"message\":\"");
    app_line_put_text(line, record->text == NULL ? "" : record->text, 1, SIZE_MAX,
                      APP_LINE_SIZE - sizeof end);
    app_line_put(line, end);
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Whether a text has a name, as a word of its own behind a word that says what it is ("" for none).
 */
static bool tells(const char *text, const char *kind, const char *name)
{
    const size_t before = strlen(kind), length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at++) {
        if (is_of_word(at[length]) || (at > text && is_of_word(at[-1])))
            continue;
        if ((size_t)(at - text) >= before && memcmp(at - before, kind, before) == 0)
            return true;
    }
    return false;
}

/* What the message says itself is not said again: `kind` as in tells(). */
static void put_pair(struct app_line *line, const char *name, const char *text, const char *message,
                     const char *kind)
{
    if (!given(text) || tells(message, kind, text))
        return;
    app_line_put(line, line->length == 0 ? " [" : " ");
    app_line_put(line, name);
    app_line_put(line, "=");
    app_line_put_text(line, text, 0, ID_LIMIT, APP_LINE_SIZE);
}

static void put_plain(struct app_line *line, const struct app_log *log,
                      const struct app_record *record)
{
    struct app_line about = {.length = 0};
    char suppressed[32] = "";
    const char *message = record->text == NULL ? "" : record->text;
    if (record->suppressed > 0)
        (void)snprintf(suppressed, sizeof suppressed, "%" PRIu64, record->suppressed);
    put_pair(&about, "event", record->event, message, "");
    put_pair(&about, "pod", record->pod, message, "pod ");
    put_pair(&about, "container", record->container, message, "container ");
    put_pair(&about, "suppressed", suppressed, "", "");
    app_line_put(&about, about.length > 0 ? "]" : "");
    about.text[about.length] = '\0'; /* its parts are limited to less than the line */

    if (!log->priority) {
        put_time(line);
        app_line_put(line, " ");
    }
    app_line_put(line, nri_log_level_name(record->level));
    app_line_put(line, " ");
    app_line_put_text(line, given(record->plugin) ? record->plugin : log->program, 0, NAME_LIMIT,
                      APP_LINE_SIZE);
    app_line_put(line, ": ");
    app_line_put_text(line, message, 0, SIZE_MAX, APP_LINE_SIZE - 1 - about.length);
    app_line_put(line, about.text);
}

/* All of it or nothing, at once. */
static bool write_now(const struct app_log *log, const struct app_line *line)
{
    ssize_t count;
    if (log->socket) {
        do
            count = send(log->fd, line->text, line->length, MSG_DONTWAIT | MSG_NOSIGNAL);
        while (count < 0 && errno == EINTR);
        return count >= 0;
    }
    struct pollfd writable = {.fd = log->fd, .events = POLLOUT};
    if (poll(&writable, 1, 0) <= 0 || (writable.revents & POLLOUT) == 0)
        return false;
    do
        count = write(log->fd, line->text, line->length);
    while (count < 0 && errno == EINTR);
    return count >= 0;
}

static void format(struct app_line *line, const struct app_log *log,
                   const struct app_record *record)
{
    line->length = 0;
    if (log->priority)
        put_priority(line, record->level);
    if (log->json)
        put_json(line, log, record);
    else
        put_plain(line, log, record);
    app_line_put(line, "\n");
}

static void write_locked(struct app_log *log, const struct app_line *line)
{
    if (log->waiting > 0) {
        struct app_line note;
        char text[80];
        (void)snprintf(text, sizeof text, "%" PRIu64 " lines were lost: nobody read them",
                       log->waiting);
        format(&note, log, &(struct app_record){.level = NRI_LOG_WARN, .text = text});
        if (write_now(log, &note))
            log->waiting = 0;
    }
    if (log->waiting > 0 || !write_now(log, line)) {
        log->waiting++;
        (void)atomic_fetch_add_explicit(&log->lost, 1, memory_order_relaxed);
    }
}

void app_log_write(struct app_log *log, const struct app_record *record)
{
    struct app_line line;
    if ((int32_t)record->level > log->level)
        return;
    const int number = errno;
    format(&line, log, record);
    (void)pthread_mutex_lock(&log->lock);
    write_locked(log, &line);
    (void)pthread_mutex_unlock(&log->lock);
    errno = number;
}

void app_log_say(struct app_log *log, enum nri_log_level level, const char *format_text, ...)
{
    char text[SAY_SIZE];
    va_list arguments;
    va_start(arguments, format_text);
    (void)vsnprintf(text, sizeof text, format_text, arguments);
    va_end(arguments);
    app_log_write(log, &(struct app_record){.level = level, .text = text});
}

void app_log_sink(void *user, const nri_log_record *record)
{
    app_log_write(user, &(struct app_record){
                            .level = nri_log_record_level(record),
                            .text = nri_log_record_text(record),
                            .event = nri_log_record_event(record),
                            .pod = nri_log_record_pod(record),
                            .container = nri_log_record_container(record),
                            .plugin = nri_log_record_plugin(record),
                            .suppressed = nri_log_record_suppressed(record),
                        });
}
