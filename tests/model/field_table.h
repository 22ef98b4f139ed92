/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each field of each message that a plugin receives or sends: the public functions that read
 * it, and those that set it. test_coverage.c compares it with the descriptors and with what the
 * library exports, both ways.
 */
#ifndef NRI_TESTS_FIELD_TABLE_H
#define NRI_TESTS_FIELD_TABLE_H

#include <stddef.h>

struct field_entry {
    const char *field;    /* "Message.field", as in nri.proto */
    const char *readers;  /* names, with blanks between; NULL: only a reply has it */
    const char *builders; /* likewise; NULL: only a runtime says it, in a request or a response */
};

extern const struct field_entry field_table[];
extern const size_t field_table_count;

#endif
