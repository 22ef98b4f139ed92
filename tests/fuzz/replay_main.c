/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over the files of the directories given, each once: what libFuzzer's own main
 * does with a corpus, for compilers that have no libFuzzer and for the normal test run. Without any
 * file it fails, because nothing was tested.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of a file in a block of exactly its size, so that reading behind them is found out. */
static bool replay_stream(FILE *stream, size_t size)
{
    uint8_t *data = malloc(size == 0 ? 1 : size);
    if (data == NULL)
        return false;
    bool whole = fread(data, 1, size, stream) == size;
    if (whole)
        (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
    return whole;
}

static bool replay_file(const char *path, size_t size)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return false;
    bool done = replay_stream(stream, size);
    fclose(stream);
    return done;
}

/* Returns how many files were replayed, or -1. */
static long replay_directory(const char *name)
{
    DIR *directory = opendir(name);
    if (directory == NULL) {
        perror(name);
        return -1;
    }
    long count = 0;
    for (struct dirent *entry; count >= 0 && (entry = readdir(directory)) != NULL;) {
        char path[4096];
        struct stat status;
        int length = snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof path || stat(path, &status) != 0)
            count = -1;
        else if (S_ISREG(status.st_mode))
            count = replay_file(path, (size_t)status.st_size) ? count + 1 : -1;
        if (count < 0)
            perror(path);
    }
    closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    long total = 0;
    for (int i = 1; i < argc; i++) {
        long count = replay_directory(argv[i]);
        if (count < 0)
            return 1;
        total += count;
    }
    printf("%ld inputs replayed\n", total);
    return total == 0 ? 1 : 0;
}
