/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios and the YAML below them: any bytes are refused with one line that a terminal may show,
 * or are a document that JSON can say and, read as JSON, says the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "memory.h"
#include "scenario.h"
#include "yaml_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

static void write_text(const struct nri_json *document, struct nri_buf *out)
{
    memory_buf(out, SIZE_MAX);
    CHECK(nri_json_write(document, 0, out) == 0);
}

static void check_same(struct nri_arena *arena, const struct nri_json *document)
{
    struct nri_json *again = NULL;
    struct nri_buf first, second;
    struct nri_error error;
    write_text(document, &first);
    CHECK(nri_json_parse(arena, memory_text(&first), nri_buf_size(&first), NULL, NULL, &again,
                         &error) == 0);
    write_text(again, &second);
    CHECK(nri_buf_size(&first) == nri_buf_size(&second));
    CHECK(memcmp(memory_text(&first), memory_text(&second), nri_buf_size(&first)) == 0);
    nri_buf_fini(&first);
    nri_buf_fini(&second);
}

static void read_yaml(const char *text, size_t size)
{
    struct nri_arena arena;
    struct nri_json *document = NULL;
    struct nri_error error;
    memory_arena(&arena, (size_t)256 << 20);
    nri_error_clear(&error);
    const int code = yaml_read(&arena, text, size, NULL, "fuzz", &document, &error);
    if (code == 0) {
        CHECK(document != NULL && nri_json_line(document) + nri_json_column(document) <= size + 2);
        check_same(&arena, document);
    } else {
        CHECK(code == error.code && strncmp(error.text, "fuzz", 4) == 0);
        CHECK(nri_utf8_valid(error.text, strlen(error.text), NULL));
    }
    nri_arena_fini(&arena);
}

/* One line, and nothing that a terminal would obey. */
static void check_message(const char *text, size_t size)
{
    CHECK(size > 0 && text[size - 1] == '\n');
    for (size_t i = 0; i + 1 < size; i++)
        CHECK((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

static void read_scenario(const char *text, size_t size)
{
    char path[64], *said = NULL;
    size_t length = 0;
    struct scenario scenario;
    struct nrictl ctl = {.command = "sim", .out = stdout, .err = open_memstream(&said, &length)};
    const int fd = memfd_create("scenario", MFD_CLOEXEC);
    CHECK(ctl.err != NULL && fd >= 0 && write(fd, text, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int code = scenario_read(&ctl, &scenario, path);
    CHECK(code == NRICTL_OK || code == NRICTL_USAGE);
    scenario_free(&scenario);
    CHECK(fclose(ctl.err) == 0);
    if (code != NRICTL_OK)
        check_message(said, length);
    free(said);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > (1 << 20))
        return 0;
    read_yaml((const char *)data, size);
    read_scenario((const char *)data, size);
    return 0;
}
