/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ELF file says about where and with what it runs: machine, dynamic loader, libraries,
 * versions of their symbols. Read by offsets that are checked, of any class and byte order; no part
 * of it is run. Also of a file that wants to do harm: each list has a limit.
 */
#ifndef NRICTL_ELF_FILE_H
#define NRICTL_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define ELF_MOST_LIBRARIES 256
#define ELF_MOST_VERSIONS  256

struct elf_version {
    const char *library, *name; /* "libc.so.6", "GLIBC_2.38"; library is NULL for what is defined */
};

struct elf_file {
    unsigned machine; /* EM_X86_64 and so on */
    bool wide, big;   /* 64 bits; big-endian */
    bool program;     /* it may be started: an executable, or one at no fixed place */
    const char *loader;
    const char *needed[ELF_MOST_LIBRARIES];
    size_t needed_count;
    const char *rpath, *runpath; /* lists with colons; NULL */
    struct elf_version required[ELF_MOST_VERSIONS], defined[ELF_MOST_VERSIONS];
    size_t required_count, defined_count;
};

/* What is wrong with it, or NULL. Texts live in the arena. */
const char *elf_read(int fd, struct nri_arena *arena, struct elf_file *elf);
const char *elf_machine_name(unsigned machine); /* "x86-64"; "machine 4711" is "?" */

#endif
