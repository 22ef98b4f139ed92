/* SPDX-License-Identifier: Apache-2.0 */
/* One line of text that the kernel shows as a file. */
#ifndef PINNER_TEXTFILE_H
#define PINNER_TEXTFILE_H

#include <stddef.h>

/* Room for any list of CPUs of a real machine. */
#define TEXTFILE_BYTES 65536

/*
 * Reads the file that `format` names, without blanks and newlines at its end. Returns 0 or a
 * negative errno: -ENOENT, -EFBIG for more than fits, -ENAMETOOLONG, or what reading gave.
 */
int textfile_read(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
