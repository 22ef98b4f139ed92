/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a machine can run a program: by its first bytes an ELF file, a script, or nothing that is
 * run.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

/* What the kernel reads of a script's first line. */
#define HEAD 256

static int read_head(struct doctor *doctor, const char *path, char head[HEAD], size_t *length)
{
    int fd, number = doctor_root_file(&doctor->root, path, &fd);
    if (number != 0)
        return number;
    ssize_t got;
    do {
        got = pread(fd, head, HEAD, 0);
    } while (got < 0 && errno == EINTR);
    number = got < 0 ? errno : 0;
    (void)close(fd);
    *length = got < 0 ? 0 : (size_t)got;
    return number;
}

bool doctor_program_check(struct doctor *doctor, struct doctor_plugin *plugin)
{
    char head[HEAD];
    size_t length = 0;
    const int number = read_head(doctor, plugin->path, head, &length);
    if (number != 0) {
        DOCTOR_FIND(doctor, PLUGIN_UNREADABLE, plugin->path, "sudo nrictl doctor", "%s: %s",
                    plugin->path, strerror(number));
        return false;
    }
    if (length >= 4 && memcmp(head, "\177ELF", 4) == 0)
        return doctor_elf_check(doctor, plugin->path);
    if (length >= 2 && memcmp(head, "#!", 2) == 0)
        return doctor_script_check(doctor, plugin->path, head, length);
    DOCTOR_FIND(doctor, PLUGIN_FORMAT, plugin->path,
                DOCTOR_TEXT(doctor,
                            "file %s   # a program is needed, or a script that begins with "
                            "#!/INTERPRETER",
                            plugin->path),
                "%s is %s", plugin->path,
                length == 0 ? "empty" : "neither an ELF program nor a script with \"#!\"");
    return false;
}
