/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MOST_SEGMENTS 256
#define MOST_ENTRIES  8192 /* of the dynamic section */
#define MOST_TEXT     4096 /* a path */

struct segment {
    uint64_t type, offset, address, size;
};

struct reader {
    int fd;
    struct nri_arena *arena;
    struct elf_file *elf;
    struct segment segments[MOST_SEGMENTS];
    size_t segment_count;
    uint64_t strings, strings_size; /* where, in the file */
    uint64_t needed, needed_count, defined, defined_count;
    uint64_t rpath, runpath; /* indices into the strings; 0: none */
};

static bool read_at(const struct reader *reader, uint64_t offset, void *bytes, size_t count)
{
    size_t have = 0;
    if (offset > INT64_MAX - count)
        return false;
    while (have < count) {
        const ssize_t got =
            pread(reader->fd, (char *)bytes + have, count - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return true;
}

/* A number of 1 to 8 bytes in the file's byte order. */
static uint64_t number(const struct reader *reader, const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[reader->elf->big ? i : size - 1 - i];
    return value;
}

/* A member of one of elf.h's structures, in the class of the file. */
#define MEMBER(reader, bytes, structure, member)                                                   \
    ((reader)->elf->wide ? number(reader, (bytes) + offsetof(Elf64_##structure, member),           \
                                  sizeof(((Elf64_##structure *)0)->member))                        \
                         : number(reader, (bytes) + offsetof(Elf32_##structure, member),           \
                                  sizeof(((Elf32_##structure *)0)->member)))
#define SIZE(reader, structure)                                                                    \
    ((reader)->elf->wide ? sizeof(Elf64_##structure) : sizeof(Elf32_##structure))

/* A text at an offset; NULL when it has no end within `most` bytes. */
static const char *text_at(const struct reader *reader, uint64_t offset, size_t most)
{
    char text[MOST_TEXT];
    size_t have = 0;
    while (have < most && have < sizeof text) {
        const size_t piece = sizeof text - have < 256 ? sizeof text - have : 256;
        const ssize_t got = pread(reader->fd, text + have, piece, (off_t)(offset + have));
        if (got <= 0 || offset > INT64_MAX / 2)
            return NULL;
        const char *end = memchr(text + have, '\0', (size_t)got);
        if (end != NULL)
            return nri_arena_text(reader->arena, text, (size_t)(end - text));
        have += (size_t)got;
    }
    return NULL;
}

static const char *string(const struct reader *reader, uint64_t index)
{
    if (reader->strings == 0 || index >= reader->strings_size)
        return NULL;
    return text_at(reader, reader->strings + index, MOST_TEXT);
}

/* Where in the file what is loaded at an address stands; 0: nowhere. */
static uint64_t offset_of(const struct reader *reader, uint64_t address)
{
    for (size_t i = 0; i < reader->segment_count; i++) {
        const struct segment *at = &reader->segments[i];
        if (at->type == PT_LOAD && address >= at->address && address - at->address < at->size)
            return at->offset + (address - at->address);
    }
    return 0;
}

/* ---- headers ---- */

static const char *read_header(struct reader *reader, unsigned char header[sizeof(Elf64_Ehdr)])
{
    struct elf_file *elf = reader->elf;
    if (!read_at(reader, 0, header, sizeof(Elf32_Ehdr)))
        return "it is cut off";
    elf->wide = header[EI_CLASS] == ELFCLASS64;
    elf->big = header[EI_DATA] == ELFDATA2MSB;
    if (header[EI_CLASS] != ELFCLASS64 && header[EI_CLASS] != ELFCLASS32)
        return "its class is neither 32 nor 64 bits";
    if (elf->wide && !read_at(reader, 0, header, sizeof(Elf64_Ehdr)))
        return "it is cut off";
    elf->machine = (unsigned)MEMBER(reader, header, Ehdr, e_machine);
    const uint64_t type = MEMBER(reader, header, Ehdr, e_type);
    elf->program = type == ET_EXEC || type == ET_DYN;
    return NULL;
}

static const char *read_segments(struct reader *reader, const unsigned char *header)
{
    unsigned char bytes[sizeof(Elf64_Phdr)];
    const uint64_t offset = MEMBER(reader, header, Ehdr, e_phoff);
    const uint64_t count = MEMBER(reader, header, Ehdr, e_phnum);
    const size_t size = SIZE(reader, Phdr);
    if (count > MOST_SEGMENTS || MEMBER(reader, header, Ehdr, e_phentsize) != size)
        return count == 0 ? NULL : "its program headers make no sense";
    for (uint64_t i = 0; i < count; i++) {
        if (!read_at(reader, offset + i * size, bytes, size))
            return "it is cut off";
        reader->segments[reader->segment_count++] =
            (struct segment){.type = MEMBER(reader, bytes, Phdr, p_type),
                             .offset = MEMBER(reader, bytes, Phdr, p_offset),
                             .address = MEMBER(reader, bytes, Phdr, p_vaddr),
                             .size = MEMBER(reader, bytes, Phdr, p_filesz)};
    }
    return NULL;
}

/* ---- the dynamic section ---- */

static void note(struct reader *reader, uint64_t tag, uint64_t value)
{
    switch (tag) {
    case DT_STRTAB:
        reader->strings = offset_of(reader, value);
        break;
    case DT_STRSZ:
        reader->strings_size = value;
        break;
    case DT_RPATH:
        reader->rpath = value;
        break;
    case DT_RUNPATH:
        reader->runpath = value;
        break;
    case DT_VERNEED:
        reader->needed = offset_of(reader, value);
        break;
    case DT_VERNEEDNUM:
        reader->needed_count = value;
        break;
    case DT_VERDEF:
        reader->defined = offset_of(reader, value);
        break;
    case DT_VERDEFNUM:
        reader->defined_count = value;
        break;
    default:
        break;
    }
}

/* Names are indices into the strings, whose place may come later: the second time they are read. */
static void note_library(struct reader *reader, uint64_t value)
{
    struct elf_file *elf = reader->elf;
    const char *text = elf->needed_count < ELF_MOST_LIBRARIES ? string(reader, value) : NULL;
    if (text != NULL)
        elf->needed[elf->needed_count++] = text;
}

static void read_dynamic(struct reader *reader, const struct segment *dynamic)
{
    unsigned char bytes[sizeof(Elf64_Dyn)];
    const size_t size = SIZE(reader, Dyn);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < MOST_ENTRIES && (i + 1) * size <= dynamic->size; i++) {
            if (!read_at(reader, dynamic->offset + i * size, bytes, size))
                break;
            const uint64_t tag = MEMBER(reader, bytes, Dyn, d_tag);
            const uint64_t value = MEMBER(reader, bytes, Dyn, d_un);
            if (tag == DT_NULL)
                break;
            if (pass == 0)
                note(reader, tag, value);
            else if (tag == DT_NEEDED)
                note_library(reader, value);
        }
    }
    reader->elf->rpath = reader->rpath == 0 ? NULL : string(reader, reader->rpath);
    reader->elf->runpath = reader->runpath == 0 ? NULL : string(reader, reader->runpath);
}

/* ---- versions of symbols: the same structures in both classes ---- */

static void add_version(const struct reader *reader, struct elf_version *list, size_t *count,
                        const char *library, uint64_t name)
{
    const char *text = *count < ELF_MOST_VERSIONS ? string(reader, name) : NULL;
    if (text != NULL)
        list[(*count)++] = (struct elf_version){library, text};
}

static void read_required(struct reader *reader)
{
    unsigned char bytes[sizeof(Elf64_Verneed)], inner[sizeof(Elf64_Vernaux)];
    uint64_t at = reader->needed;
    for (uint64_t i = 0; at != 0 && i < reader->needed_count && i < ELF_MOST_LIBRARIES; i++) {
        if (!read_at(reader, at, bytes, sizeof bytes))
            return;
        const char *library = string(reader, MEMBER(reader, bytes, Verneed, vn_file));
        const uint64_t count = MEMBER(reader, bytes, Verneed, vn_cnt);
        uint64_t next = at + MEMBER(reader, bytes, Verneed, vn_aux);
        for (uint64_t j = 0; library != NULL && j < count && j < ELF_MOST_VERSIONS; j++) {
            if (!read_at(reader, next, inner, sizeof inner))
                return;
            /* A weak one may be absent. */
            if ((MEMBER(reader, inner, Vernaux, vna_flags) & VER_FLG_WEAK) == 0)
                add_version(reader, reader->elf->required, &reader->elf->required_count, library,
                            MEMBER(reader, inner, Vernaux, vna_name));
            const uint64_t step = MEMBER(reader, inner, Vernaux, vna_next);
            if (step == 0)
                break;
            next += step;
        }
        const uint64_t step = MEMBER(reader, bytes, Verneed, vn_next);
        at = step == 0 ? 0 : at + step;
    }
}

static void read_defined(struct reader *reader)
{
    unsigned char bytes[sizeof(Elf64_Verdef)], inner[sizeof(Elf64_Verdaux)];
    uint64_t at = reader->defined;
    for (uint64_t i = 0; at != 0 && i < reader->defined_count && i < ELF_MOST_VERSIONS; i++) {
        if (!read_at(reader, at, bytes, sizeof bytes) ||
            !read_at(reader, at + MEMBER(reader, bytes, Verdef, vd_aux), inner, sizeof inner))
            return;
        add_version(reader, reader->elf->defined, &reader->elf->defined_count, NULL,
                    MEMBER(reader, inner, Verdaux, vda_name));
        const uint64_t step = MEMBER(reader, bytes, Verdef, vd_next);
        at = step == 0 ? 0 : at + step;
    }
}

/* ---- all of it ---- */

const char *elf_read(int fd, struct nri_arena *arena, struct elf_file *elf)
{
    unsigned char header[sizeof(Elf64_Ehdr)];
    struct reader reader = {.fd = fd, .arena = arena, .elf = elf};
    const struct segment *loader = NULL, *dynamic = NULL;
    memset(elf, 0, sizeof *elf);
    const char *wrong = read_header(&reader, header);
    if (wrong == NULL)
        wrong = read_segments(&reader, header);
    if (wrong != NULL)
        return wrong;
    /* There is one of each; of more, the kernel and the dynamic loader take these. */
    for (size_t i = 0; i < reader.segment_count; i++) {
        const struct segment *at = &reader.segments[i];
        if (at->type == PT_INTERP && loader == NULL)
            loader = at;
        if (at->type == PT_DYNAMIC)
            dynamic = at;
    }
    if (loader != NULL)
        elf->loader = text_at(&reader, loader->offset, MOST_TEXT);
    if (dynamic != NULL)
        read_dynamic(&reader, dynamic);
    read_required(&reader);
    read_defined(&reader);
    return NULL;
}

const char *elf_machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86-64"}, {EM_386, "x86"},        {EM_AARCH64, "arm64"},
                 {EM_ARM, "arm"},       {EM_RISCV, "riscv"},    {EM_PPC64, "ppc64"},
                 {EM_S390, "s390x"},    {EM_MIPS, "mips"},      {EM_PPC, "ppc"},
                 {258, "loongarch"},    {EM_SPARCV9, "sparc64"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].machine == machine)
            return names[i].name;
    }
    return "?";
}
