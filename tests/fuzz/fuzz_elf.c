/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files: any bytes are told to be none, or give texts that end, in lists within their limits,
 * and no more memory than the file is long, times a small number, and the limits' own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf_file.h"
#include "memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All texts at their longest: loader, libraries, versions and their libraries. */
#define MOST_MEMORY ((size_t)4096 * (4 + ELF_MOST_LIBRARIES * 2 + ELF_MOST_VERSIONS * 2) * 2)

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

static void look(const struct elf_file *elf)
{
    size_t bytes = 0;
    CHECK(elf->needed_count <= ELF_MOST_LIBRARIES);
    CHECK(elf->required_count <= ELF_MOST_VERSIONS && elf->defined_count <= ELF_MOST_VERSIONS);
    for (size_t i = 0; i < elf->needed_count; i++)
        bytes += strlen(elf->needed[i]);
    for (size_t i = 0; i < elf->required_count; i++)
        bytes += strlen(elf->required[i].library) + strlen(elf->required[i].name);
    for (size_t i = 0; i < elf->defined_count; i++)
        bytes += strlen(elf->defined[i].name);
    bytes += elf->loader != NULL ? strlen(elf->loader) : 0;
    bytes += elf->rpath != NULL ? strlen(elf->rpath) : 0;
    bytes += elf->runpath != NULL ? strlen(elf->runpath) : 0;
    CHECK(bytes <= MOST_MEMORY && elf_machine_name(elf->machine)[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct elf_file elf;
    struct nri_arena arena;
    if (size > (1 << 18))
        return 0;
    const int fd = memfd_create("elf", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    memory_arena(&arena, MOST_MEMORY);
    if (elf_read(fd, &arena, &elf) == NULL)
        look(&elf);
    CHECK(arena.failure == 0);
    nri_arena_fini(&arena);
    (void)close(fd);
    return 0;
}
