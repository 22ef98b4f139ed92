/* SPDX-License-Identifier: Apache-2.0 */
/* The files that the differential test and the Go program exchange: see adaptation/main.go. */
#ifndef NRI_TESTS_MERGE_BLOCK_H
#define NRI_TESTS_MERGE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct block {
    const uint8_t *bytes;
    size_t size;
};

/* A whole file in memory, and how far it is read. */
struct block_file {
    uint8_t *bytes;
    size_t size, at;
};

bool block_open(struct block_file *file, const char *path);
void block_close(struct block_file *file);
/* False at the end of the file, and for one that is cut. */
bool block_number(struct block_file *file, uint32_t *number);
bool block_read(struct block_file *file, struct block *block);
bool block_write(FILE *to, const void *bytes, size_t size);

#endif
