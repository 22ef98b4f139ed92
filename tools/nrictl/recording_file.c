/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: a record is packed into `filling`; when no write is under way the two buffers change
 * places and a thread of libuv's writes. Failure modes: the queue is full (bytes are counted per
 * connection and direction, and told by a record before the next one of it), the write fails (the
 * recording ends; what waits is dropped).
 */
#include "recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/socket.h"
#include "memory.h"

#define MOST_WAITING ((size_t)64 << 20)
/* Of records that are no bytes, which are kept when those are not. */
#define SPARE ((size_t)1 << 20)

struct loss { /* of a direction of a connection */
    uint32_t connection;
    enum recording_direction direction;
    uint64_t bytes;
};

struct recording_file {
    struct recording_file_options options;
    uv_loop_t *loop;
    int fd;
    uint64_t epoch, begin; /* ns: since 1970, and of uv_hrtime(), both of the same moment */
    struct nri_buf filling, writing;
    bool under_way, failed, told_slow;
    uv_fs_t request;
    uint64_t size, lost;
    struct loss *losses;
    size_t loss_count, loss_capacity;
    void (*closed)(void *user);
    void *closed_user;
};

/* ---- opening ---- */

static int fail(struct nri_error *error, int number, const char *path)
{
    char room[NRI_ERRNO_TEXT_SIZE];
    const int code = number == ENOENT || number == ENOTDIR ? NRI_E_NOT_FOUND
                     : number == EACCES || number == EPERM ? NRI_E_PERMISSION
                                                           : NRI_E_IO;
    return nri_error_set(error, code, "%s: %s", path, nri_errno_text(number, room));
}

/* A file that is there begins as a recording does, or it is not touched. */
static int check_header(int fd, const char *path, bool *empty, struct nri_error *error)
{
    uint8_t expected[RECORDING_HEADER], found[RECORDING_HEADER];
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail(error, errno, path);
    *empty = !S_ISREG(status.st_mode) || status.st_size == 0;
    if (*empty)
        return 0;
    recording_put_header(expected);
    if (pread(fd, found, sizeof found, 0) != (ssize_t)sizeof found ||
        memcmp(found, expected, sizeof found) != 0)
        return nri_error_set(error, NRI_E_PROTOCOL,
                             "%s is there and is no recording of this version: name another file",
                             path);
    return 0;
}

static int prepare(struct recording_file *file, struct nri_error *error)
{
    uint8_t header[RECORDING_HEADER];
    bool empty = true;
    const char *path = file->options.path;
    if (flock(file->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return nri_error_set(error, NRI_E_BUSY, "%s is being written by another recorder", path);
    const int code = check_header(file->fd, path, &empty, error);
    if (code != 0 || !empty)
        return code;
    recording_put_header(header);
    file->size = sizeof header;
    return nri_buf_append(&file->filling, header, sizeof header);
}

int recording_file_open(struct recording_file **out, uv_loop_t *loop,
                        const struct recording_file_options *options, struct nri_error *error)
{
    struct timespec now;
    struct recording_file *file = calloc(1, sizeof *file);
    *out = NULL;
    if (file == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "no memory for a recording");
    file->options = *options;
    if (file->options.most_waiting == 0)
        file->options.most_waiting = MOST_WAITING;
    file->loop = loop;
    memory_buf(&file->filling, file->options.most_waiting + SPARE);
    memory_buf(&file->writing, file->options.most_waiting + SPARE);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    file->epoch = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    file->begin = uv_hrtime();
    file->fd = open(options->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    int code = file->fd < 0 ? fail(error, errno, options->path) : prepare(file, error);
    if (code == 0) {
        *out = file;
        return 0;
    }
    if (file->fd >= 0)
        (void)close(file->fd);
    nri_buf_fini(&file->filling);
    free(file);
    return code;
}

/* ---- writing ---- */

static void free_file(struct recording_file *file)
{
    void (*closed)(void *user) = file->closed;
    void *user = file->closed_user;
    (void)close(file->fd);
    nri_buf_fini(&file->filling);
    nri_buf_fini(&file->writing);
    free(file->losses);
    free(file);
    closed(user);
}

static void trouble(struct recording_file *file, const char *what)
{
    if (file->options.trouble != NULL)
        file->options.trouble(file->options.user, what);
}

static void end_recording(struct recording_file *file, const char *what)
{
    char text[256];
    file->failed = true;
    file->lost += nri_buf_size(&file->writing) + nri_buf_size(&file->filling);
    nri_buf_reset(&file->writing, 0);
    nri_buf_reset(&file->filling, 0);
    (void)snprintf(text, sizeof text, "%.100s: %.100s: nothing more is recorded",
                   file->options.path, what);
    trouble(file, text);
}

static void write_next(struct recording_file *file);

static void written(uv_fs_t *request)
{
    struct recording_file *file = request->data;
    const ssize_t result = request->result;
    uv_fs_req_cleanup(request);
    file->under_way = false;
    if (result < 0)
        end_recording(file, uv_strerror((int)result));
    else
        nri_buf_consume(&file->writing, (size_t)result);
    write_next(file);
}

static void write_next(struct recording_file *file)
{
    if (file->under_way)
        return;
    if (nri_buf_size(&file->writing) == 0) {
        const struct nri_buf empty = file->writing;
        file->writing = file->filling;
        file->filling = empty;
        nri_buf_reset(&file->filling, 1 << 20);
    }
    const size_t size = nri_buf_size(&file->writing);
    if (size == 0) {
        if (file->closed != NULL)
            free_file(file);
        return;
    }
    /* A piece at a time, so that an error is told soon. */
    const uv_buf_t piece = uv_buf_init((char *)file->writing.data + file->writing.start,
                                       size < (1 << 20) ? (unsigned)size : 1U << 20);
    file->request.data = file;
    file->under_way = true;
    const int code = uv_fs_write(file->loop, &file->request, file->fd, &piece, 1, -1, written);
    if (code != 0) {
        file->under_way = false;
        end_recording(file, uv_strerror(code));
    }
}

/* ---- records ---- */

static uint64_t now(const struct recording_file *file)
{
    return file->epoch + (uv_hrtime() - file->begin);
}

static bool append(struct recording_file *file, const struct recording_record *record, size_t limit)
{
    const size_t whole = RECORDING_RECORD_HEADER + record->size;
    uint8_t *room;
    if (recording_file_waiting(file) + whole > limit ||
        nri_buf_reserve(&file->filling, whole, &room) != 0)
        return false;
    recording_put_record(room, record);
    if (record->size > 0 && record->data != NULL)
        memcpy(room + RECORDING_RECORD_HEADER, record->data, record->size);
    nri_buf_commit(&file->filling, whole);
    file->size += whole;
    return true;
}

static struct loss *loss_of(struct recording_file *file, const struct recording_record *record)
{
    for (size_t i = 0; i < file->loss_count; i++) {
        struct loss *loss = &file->losses[i];
        if (loss->connection == record->connection && loss->direction == record->direction)
            return loss;
    }
    return NULL;
}

static void count_loss(struct recording_file *file, const struct recording_record *record)
{
    struct loss *loss = loss_of(file, record);
    file->lost += record->size;
    if (!file->told_slow)
        trouble(file, "the disk is slower than the session: some of it is not recorded");
    file->told_slow = true;
    if (loss == NULL && file->loss_count == file->loss_capacity) {
        const size_t capacity = file->loss_capacity == 0 ? 8 : 2 * file->loss_capacity;
        struct loss *list = reallocarray(file->losses, capacity, sizeof *list);
        if (list == NULL) {
            end_recording(file, "no memory");
            return;
        }
        file->losses = list;
        file->loss_capacity = capacity;
    }
    if (loss == NULL) {
        loss = &file->losses[file->loss_count++];
        *loss = (struct loss){record->connection, record->direction, 0};
    }
    loss->bytes += record->size;
}

/* What was left out of this direction is told before what follows. */
static bool tell_loss(struct recording_file *file, const struct recording_record *record)
{
    uint8_t count[8];
    struct loss *loss = loss_of(file, record);
    if (loss == NULL)
        return true;
    recording_put_lost(count, loss->bytes);
    const struct recording_record lost = {.time = record->time,
                                          .kind = RECORDING_LOST,
                                          .direction = record->direction,
                                          .connection = record->connection,
                                          .data = count,
                                          .size = sizeof count};
    if (!append(file, &lost, file->options.most_waiting))
        return false;
    *loss = file->losses[--file->loss_count];
    return true;
}

static void put(struct recording_file *file, const struct recording_record *record)
{
    const bool bytes = record->kind == RECORDING_BYTES;
    const size_t limit = file->options.most_waiting + (bytes ? 0 : SPARE);
    if (file->failed) {
        file->lost += record->size;
        return;
    }
    if (tell_loss(file, record) && append(file, record, limit))
        return;
    if (bytes)
        count_loss(file, record);
    else
        end_recording(file, "too much waits to be written");
}

void recording_file_put_record(struct recording_file *file, const struct recording_record *record)
{
    struct recording_record piece = *record;
    size_t left = record->size;
    do {
        piece.size = left < RECORDING_MOST_DATA ? (uint32_t)left : RECORDING_MOST_DATA;
        put(file, &piece);
        left -= piece.size;
        if (piece.data != NULL)
            piece.data += piece.size;
    } while (left > 0);
    write_next(file);
}

void recording_file_put(struct recording_file *file, enum recording_kind kind,
                        enum recording_direction direction, uint32_t connection, const void *data,
                        size_t size)
{
    const struct recording_record record = {.time = now(file),
                                            .kind = kind,
                                            .direction = direction,
                                            .connection = connection,
                                            .data = data,
                                            .size = (uint32_t)size};
    recording_file_put_record(file, &record);
}

uint64_t recording_file_size(const struct recording_file *file)
{
    return file->size;
}

uint64_t recording_file_lost(const struct recording_file *file)
{
    return file->lost;
}

bool recording_file_failed(const struct recording_file *file)
{
    return file->failed;
}

size_t recording_file_waiting(const struct recording_file *file)
{
    return nri_buf_size(&file->filling) + nri_buf_size(&file->writing);
}

void recording_file_close(struct recording_file *file, void (*closed)(void *user), void *user)
{
    file->closed = closed;
    file->closed_user = user;
    write_next(file);
}
