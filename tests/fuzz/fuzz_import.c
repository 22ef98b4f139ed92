/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures of another form: any index of pieces is refused with its line, or gives records whose
 * bytes are in the files. The input is the index; both .bin files are short and always the same.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

static const char bytes[] = "what a plugin and a runtime said to each other";
static char directory[64];

static void name_of(char path[128], const char *suffix)
{
    (void)snprintf(path, 128, "%s/a%s", directory, suffix);
}

static void put(const char *suffix, const void *data, size_t size)
{
    char path[128];
    name_of(path, suffix);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

static void remove_directory(void)
{
    static const char *const suffixes[] = {".jsonl", ".p2r.bin", ".r2p.bin"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char path[128];
        name_of(path, suffixes[i]);
        (void)unlink(path);
    }
    (void)rmdir(directory);
}

static void make_directory(void)
{
    const char *at = getenv("TMPDIR");
    if (directory[0] != '\0')
        return;
    (void)snprintf(directory, sizeof directory, "%s/nrictl-fuzz-XXXXXX",
                   at != NULL && strlen(at) < 32 ? at : "/tmp");
    CHECK(mkdtemp(directory) != NULL && atexit(remove_directory) == 0);
    put(".p2r.bin", bytes, sizeof bytes);
    put(".r2p.bin", bytes, sizeof bytes);
}

static int sink(void *user, const struct recording_record *record)
{
    size_t *records = user;
    CHECK(record->connection == 1 && record->size <= sizeof bytes);
    for (size_t i = 0; i < record->size; i++)
        CHECK(record->kind != RECORDING_BYTES || memchr(bytes, record->data[i], sizeof bytes));
    ++*records;
    return NRICTL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128], *said = NULL;
    size_t length = 0, records = 0;
    if (size > (1 << 18))
        return 0;
    make_directory();
    put(".jsonl", data, size);
    struct nrictl ctl = {.command = "decode", .out = stdout, .err = open_memstream(&said, &length)};
    CHECK(ctl.err != NULL);
    name_of(path, ".jsonl");
    const int code = import_capture(&ctl, path, 1, sink, &records);
    CHECK(fclose(ctl.err) == 0);
    CHECK(code == NRICTL_OK ? records >= 2 && length == 0 : code == NRICTL_USAGE && length > 0);
    for (size_t i = 0; i + 1 < length; i++)
        CHECK((unsigned char)said[i] >= 0x20 && said[i] != 0x7f);
    free(said);
    return 0;
}
