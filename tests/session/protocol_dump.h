/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hex dumps in doc/protocol.md: each is a block ```hexdump DIRECTION of lines like
 * "0000  00 00 00 02 ...  ....", as dump_line() writes them.
 */
#ifndef NRI_TESTS_PROTOCOL_DUMP_H
#define NRI_TESTS_PROTOCOL_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUMP_ROOM  512
#define DUMP_LINE  80
#define DUMPS_ROOM 16

struct dump {
    bool from_plugin;
    unsigned line; /* of the document, where the block begins */
    uint8_t bytes[DUMP_ROOM];
    size_t size;
};

struct dumps {
    struct dump dump[DUMPS_ROOM];
    size_t count;
    char error[256]; /* "" for none */
};

/* Reads all blocks, in order. Offsets and the column of characters must agree with the bytes. */
bool dumps_read(struct dumps *dumps, const char *path);
/* Writes the line that shows the bytes from `offset` on, at most 16, without a newline. */
void dump_line(char line[DUMP_LINE], const uint8_t *bytes, size_t size, size_t offset);

#endif
