/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a machine can run an ELF program: its processor, its dynamic loader, its libraries and
 * theirs, and the versions that they ask of each other. Libraries are looked for where the loader
 * would: RPATH and RUNPATH, /etc/ld.so.conf (musl: /etc/ld-musl-ARCH.path), the directories of
 * the distribution. Not LD_LIBRARY_PATH: a runtime gives its plugins none.
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "elf_file.h"

#define MOST_OBJECTS 512
#define MOST_FILES   64 /* that /etc/ld.so.conf includes */

struct object {
    const char *name, *path; /* as it was asked for; NULL: it is not there */
    const char *wanted_by;
    const struct elf_file *elf; /* NULL: not read */
};

struct closure {
    struct doctor *doctor;
    struct doctor_libraries libraries;   /* where they are */
    struct object objects[MOST_OBJECTS]; /* [0] is the program */
    size_t count;
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* NULL: it is none, or not to be read; *wrong may say why. */
static const struct elf_file *read_elf(struct doctor *doctor, const char *path, const char **wrong)
{
    int fd;
    if (doctor_root_file(&doctor->root, path, &fd) != 0)
        return NULL;
    unsigned char magic[SELFMAG] = {0};
    const bool is_elf = pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
                        memcmp(magic, ELFMAG, SELFMAG) == 0;
    struct elf_file *elf = is_elf ? nri_arena_alloc(&doctor->arena, sizeof *elf) : NULL;
    const char *fault = elf != NULL ? elf_read(fd, &doctor->arena, elf) : "it is no ELF file";
    (void)close(fd);
    if (wrong != NULL)
        *wrong = fault;
    return fault == NULL ? elf : NULL;
}

/* ---- the machine ---- */

/* What the root's own programs are for: the machine that runs them need not be this one. */
static unsigned machine_of(struct doctor *doctor)
{
    static const char *const programs[] = {"/bin/sh",
                                           "/usr/bin/env",
                                           "/sbin/init",
                                           "/bin/busybox",
                                           "/usr/bin/containerd",
                                           "/usr/bin/crio",
                                           "/usr/local/bin/containerd"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct elf_file *elf = read_elf(doctor, programs[i], NULL);
        if (elf != NULL)
            return elf->machine;
    }
    return EM_NONE;
}

static bool runs_on(unsigned program, unsigned machine)
{
    return machine == EM_NONE || program == machine ||
           (program == EM_386 && machine == EM_X86_64) ||
           (program == EM_ARM && machine == EM_AARCH64);
}

/* ---- where libraries are ---- */

static void add_directory(struct doctor_libraries *libraries, const char *path)
{
    if (path != NULL && path[0] == '/' && libraries->count < DOCTOR_MOST_DIRECTORIES)
        libraries->directories[libraries->count++] = path;
}

/* Lines of directories, and of "include PATTERN"; files that include each other end somewhere. */
static void add_configured(struct doctor *doctor, struct doctor_libraries *libraries,
                           const char *file, bool included)
{
    struct doctor_names paths;
    char *text;
    size_t length;
    if (doctor_root_read(&doctor->root, file, DOCTOR_MOST_BYTES, &text, &length) != 0)
        return;
    for (char *line; (line = strsep(&text, "\n:")) != NULL;) {
        line[strcspn(line, "#")] = '\0';
        line += strspn(line, " \t");
        const bool include =
            strncmp(line, "include", 7) == 0 && (line[7] == ' ' || line[7] == '\t');
        line += include ? 7 + strspn(line + 7, " \t") : 0;
        line[strcspn(line, " \t\r")] = '\0';
        if (!include) {
            add_directory(libraries, DOCTOR_TEXT(doctor, "%s", line));
            continue;
        }
        if (included || libraries->files >= MOST_FILES)
            continue;
        if (line[0] != '/')
            line = (char *)DOCTOR_TEXT(doctor, "%.*s/%s", (int)(strrchr(file, '/') - file), file,
                                       line);
        (void)doctor_root_glob(&doctor->root, line, &paths);
        for (size_t i = 0; i < paths.count && libraries->files++ < MOST_FILES; i++)
            add_configured(doctor, libraries, paths.names[i], true);
    }
}

static void add_directories(struct closure *closure, const struct elf_file *elf)
{
    static const struct {
        unsigned machine;
        const char *triplet, *musl;
    } machines[] = {{EM_X86_64, "x86_64-linux-gnu", "x86_64"},
                    {EM_AARCH64, "aarch64-linux-gnu", "aarch64"},
                    {EM_386, "i386-linux-gnu", "i386"},
                    {EM_ARM, "arm-linux-gnueabihf", "armhf"},
                    {EM_RISCV, "riscv64-linux-gnu", "riscv64"},
                    {EM_PPC64, "powerpc64le-linux-gnu", "powerpc64le"},
                    {EM_S390, "s390x-linux-gnu", "s390x"}};
    struct doctor *doctor = closure->doctor;
    const bool musl = elf->loader != NULL && strstr(elf->loader, "ld-musl") != NULL;
    const char *triplet = NULL, *arch = "?";
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (machines[i].machine == elf->machine) {
            triplet = machines[i].triplet;
            arch = machines[i].musl;
        }
    }
    if (musl) {
        const char *file = DOCTOR_TEXT(doctor, "/etc/ld-musl-%s.path", arch);
        add_configured(doctor, &closure->libraries, file, true);
        if (closure->libraries.count == 0) {
            add_directory(&closure->libraries, "/lib");
            add_directory(&closure->libraries, "/usr/local/lib");
            add_directory(&closure->libraries, "/usr/lib");
        }
        return;
    }
    /* The same for all plugins. */
    if (!doctor->libraries.read)
        add_configured(doctor, &doctor->libraries, "/etc/ld.so.conf", false);
    doctor->libraries.read = true;
    closure->libraries = doctor->libraries;
    if (triplet != NULL) {
        add_directory(&closure->libraries, DOCTOR_TEXT(doctor, "/lib/%s", triplet));
        add_directory(&closure->libraries, DOCTOR_TEXT(doctor, "/usr/lib/%s", triplet));
    }
    add_directory(&closure->libraries, elf->wide ? "/lib64" : "/lib32");
    add_directory(&closure->libraries, elf->wide ? "/usr/lib64" : "/usr/lib32");
    add_directory(&closure->libraries, "/lib");
    add_directory(&closure->libraries, "/usr/lib");
}

/* ---- one library ---- */

static bool try_library(struct closure *closure, struct object *object, const char *path)
{
    const struct elf_file *program = closure->objects[0].elf;
    const struct elf_file *elf = read_elf(closure->doctor, path, NULL);
    if (elf == NULL || elf->machine != program->machine || elf->wide != program->wide)
        return false; /* the loader goes on as well */
    object->path = path;
    object->elf = elf;
    return true;
}

/* $ORIGIN is the directory of the object that wants it; $LIB and $PLATFORM are rare. */
static const char *expand(struct doctor *doctor, const char *text, size_t length,
                          const struct object *by)
{
    const char *rest = NULL;
    if (length >= 7 && memcmp(text, "$ORIGIN", 7) == 0)
        rest = text + 7;
    else if (length >= 9 && memcmp(text, "${ORIGIN}", 9) == 0)
        rest = text + 9;
    if (rest == NULL)
        return DOCTOR_TEXT(doctor, "%.*s", (int)length, text);
    return DOCTOR_TEXT(doctor, "%.*s%.*s", (int)(last_part(by->path) - by->path), by->path,
                       (int)(text + length - rest), rest);
}

static bool try_list(struct closure *closure, struct object *object, const struct object *by,
                     const char *list)
{
    struct doctor *doctor = closure->doctor;
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ":");
        const char *directory = expand(doctor, list, length, by);
        if (directory[0] == '/' &&
            try_library(closure, object, DOCTOR_TEXT(doctor, "%s/%s", directory, object->name)))
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

static bool find_library(struct closure *closure, struct object *object, const struct object *by)
{
    const struct object *program = &closure->objects[0];
    struct doctor *doctor = closure->doctor;
    if (object->name[0] == '/')
        return try_library(closure, object, object->name);
    if (by->elf->runpath == NULL && (try_list(closure, object, by, by->elf->rpath) ||
                                     (program->elf->runpath == NULL &&
                                      try_list(closure, object, program, program->elf->rpath))))
        return true;
    if (try_list(closure, object, by, by->elf->runpath))
        return true;
    for (size_t i = 0; i < closure->libraries.count; i++) {
        if (try_library(
                closure, object,
                DOCTOR_TEXT(doctor, "%s/%s", closure->libraries.directories[i], object->name)))
            return true;
    }
    return false;
}

/* The loader is there already, and is musl's C library, too. */
static bool is_loader(const struct closure *closure, const char *name)
{
    const struct elf_file *program = closure->objects[0].elf;
    const char *loader = program == NULL ? NULL : program->loader;
    return loader != NULL &&
           (strcmp(name, last_part(loader)) == 0 || strncmp(name, "libc.musl-", 10) == 0);
}

static struct object *known(struct closure *closure, const char *name)
{
    for (size_t i = 1; i < closure->count; i++) {
        if (strcmp(closure->objects[i].name, name) == 0)
            return &closure->objects[i];
    }
    return NULL;
}

static bool add_needed(struct closure *closure, size_t index)
{
    bool good = true;
    const struct object by = closure->objects[index];
    for (size_t i = 0; i < by.elf->needed_count && closure->count < MOST_OBJECTS; i++) {
        const char *name = by.elf->needed[i];
        if (is_loader(closure, name) || known(closure, name) != NULL)
            continue;
        struct object *object = &closure->objects[closure->count++];
        *object = (struct object){.name = name, .wanted_by = by.path};
        if (find_library(closure, object, &by))
            continue;
        good = false;
        DOCTOR_FIND(closure->doctor, PLUGIN_LIBRARY, closure->objects[0].path,
                    DOCTOR_TEXT(closure->doctor,
                                "apt-file search %s   # which package has it\n"
                                "# or build the plugin with -Wl,-rpath,DIRECTORY, or statically",
                                name),
                    "%s needs %s, which is not there", by.path, name);
    }
    return good;
}

/* ---- versions ---- */

static bool defines(const struct elf_file *elf, const char *version)
{
    for (size_t i = 0; i < elf->defined_count; i++) {
        if (strcmp(elf->defined[i].name, version) == 0)
            return true;
    }
    return elf->defined_count == 0; /* without versions any will do */
}

static bool check_versions(struct closure *closure, const struct object *by)
{
    bool good = true;
    for (size_t i = 0; i < by->elf->required_count; i++) {
        const struct elf_version *version = &by->elf->required[i];
        const struct object *library = known(closure, version->library);
        if (library == NULL || library->elf == NULL || defines(library->elf, version->name))
            continue;
        good = false;
        DOCTOR_FIND(closure->doctor, PLUGIN_LIBRARY_VERSION, closure->objects[0].path,
                    "build the plugin on a system as old as this one, or statically",
                    "%s needs version %s, which %s does not have", by->path, version->name,
                    library->path);
    }
    return good;
}

/* ---- the whole ---- */

static bool check_libraries(struct doctor *doctor, const char *path, const struct elf_file *elf)
{
    struct closure *closure = nri_arena_zero(&doctor->arena, sizeof *closure);
    bool good = true;
    if (closure == NULL)
        return false;
    closure->doctor = doctor;
    closure->objects[0] = (struct object){.name = last_part(path), .path = path, .elf = elf};
    closure->count = 1;
    add_directories(closure, elf);
    for (size_t i = 0; i < closure->count; i++) {
        if (closure->objects[i].elf != NULL)
            good = add_needed(closure, i) && good;
    }
    for (size_t i = 0; i < closure->count; i++) {
        if (closure->objects[i].elf != NULL)
            good = check_versions(closure, &closure->objects[i]) && good;
    }
    return good;
}

static bool check_loader(struct doctor *doctor, const char *path, const struct elf_file *elf)
{
    if (elf->loader == NULL || doctor_root_has(&doctor->root, elf->loader))
        return true;
    const bool musl = strstr(elf->loader, "ld-musl") != NULL;
    DOCTOR_FIND(doctor, PLUGIN_LOADER, path,
                musl ? "sudo apt-get install musl   # or build the plugin for glibc, or statically"
                     : "sudo apk add gcompat   # on Alpine; or build the plugin statically",
                "%s needs the dynamic loader %s, which is not there%s", path, elf->loader,
                musl ? ": it was built for musl" : "");
    return false;
}

/* $ORIGIN of a program is where it really is. */
static const char *real_path(struct doctor *doctor, const char *path)
{
    const char *link;
    for (unsigned i = 0; i < 8 && (link = doctor_root_link(&doctor->root, path)) != NULL; i++)
        path = link[0] == '/'
                   ? link
                   : DOCTOR_TEXT(doctor, "%.*s%s", (int)(last_part(path) - path), path, link);
    return path;
}

bool doctor_elf_check(struct doctor *doctor, const char *path)
{
    const char *wrong = NULL;
    const struct elf_file *elf = read_elf(doctor, path, &wrong);
    if (elf == NULL || !elf->program) {
        DOCTOR_FIND(doctor, PLUGIN_FORMAT, path,
                    DOCTOR_TEXT(doctor, "file %s   # build or copy it anew", path),
                    "%s is no program: %s", path,
                    wrong != NULL ? wrong : "it is an object file or a core dump");
        return false;
    }
    const unsigned machine = machine_of(doctor);
    if (!runs_on(elf->machine, machine)) {
        DOCTOR_FIND(
            doctor, PLUGIN_ARCHITECTURE, path,
            DOCTOR_TEXT(doctor, "build %s for %s", last_part(path), elf_machine_name(machine)),
            "%s is for %s, and this machine is %s", path, elf_machine_name(elf->machine),
            elf_machine_name(machine));
        return false;
    }
    return check_loader(doctor, path, elf) && check_libraries(doctor, real_path(doctor, path), elf);
}
