/* SPDX-License-Identifier: Apache-2.0 */
#include "block.h"

#include <stdlib.h>

bool block_open(struct block_file *file, const char *path)
{
    *file = (struct block_file){0};
    FILE *from = fopen(path, "rb");
    if (from == NULL)
        return false;
    for (size_t room = 1 << 20;; room *= 2) {
        uint8_t *bytes = realloc(file->bytes, room);
        if (bytes == NULL)
            break;
        file->bytes = bytes;
        file->size += fread(bytes + file->size, 1, room - file->size, from);
        if (file->size < room)
            break;
    }
    bool good = ferror(from) == 0 && feof(from) != 0;
    fclose(from);
    return good;
}

void block_close(struct block_file *file)
{
    free(file->bytes);
    *file = (struct block_file){0};
}

bool block_number(struct block_file *file, uint32_t *number)
{
    *number = 0;
    if (file->size - file->at < 4)
        return false;
    for (size_t i = 0; i < 4; i++)
        *number |= (uint32_t)file->bytes[file->at++] << (8 * i);
    return true;
}

bool block_read(struct block_file *file, struct block *block)
{
    uint32_t size;
    if (!block_number(file, &size) || file->size - file->at < size)
        return false;
    *block = (struct block){file->bytes + file->at, size};
    file->at += size;
    return true;
}

bool block_write(FILE *to, const void *bytes, size_t size)
{
    uint8_t length[4];
    for (size_t i = 0; i < 4; i++)
        length[i] = (uint8_t)(size >> (8 * i));
    return fwrite(length, 1, 4, to) == 4 && fwrite(bytes, 1, size, to) == size;
}
