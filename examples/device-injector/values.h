/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of an annotation: YAML, and so also JSON. What is wrong with it is told with the
 * annotation, the line and the column; the first such text stays, and everything after it reads as
 * absent, so that callers look at `error` once.
 */
#ifndef INJECTOR_VALUES_H
#define INJECTOR_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

/* Of one annotation. Kubernetes allows 256 KiB for all annotations of an object together. */
#define VALUES_MAX_BYTES (64 * 1024)
/* Of one list or mapping. */
#define VALUES_MAX_ITEMS 1024
/* Of lists and mappings in one another, and of values and aliases in all: libyaml's time grows with
 * the product of depth and length, and with that of anchors and aliases. */
#define VALUES_MAX_DEPTH 16
#define VALUES_MAX_NODES 16384
/* Of anchors. */
#define VALUES_MAX_ANCHORS 1024

typedef yaml_node_t value;

struct values {
    const char *annotation; /* its whole key */
    yaml_document_t document;
    bool loaded;
    char error[1024]; /* "" while nothing is wrong */
};

/* Parses. `annotation` must live as long as the values; `text` is not needed afterwards. Returns
 * whether it could be parsed. values_unload() is needed in any case. */
bool values_load(struct values *values, const char *annotation, const char *text, size_t length);
void values_unload(struct values *values);

/* The outermost value; NULL when there is none, or null. A NULL value is absent: it has no elements
 * and no members, its text is "". */
const value *values_root(struct values *values);

/* How many elements a list has; anything else but NULL is an error. */
size_t values_count(struct values *values, const value *list);
const value *values_at(struct values *values, const value *list, size_t index);

/* How many members a mapping has; anything else but NULL is an error, and a member that stands
 * twice. */
size_t values_member_count(struct values *values, const value *map);
/* One member, in order; `key` is set to its name. */
const value *values_member_at(struct values *values, const value *map, size_t index,
                              const char **key);
/* Checks that a mapping has no members but the `count` named here. As in Go, whose JSON decoder
 * many an annotation was written for, their case does not count. */
void values_check_members(struct values *values, const value *map, const char *const *names,
                          size_t count);
/* A member by its name, in any case; NULL when there is none, or null. */
const value *values_member(struct values *values, const value *map, const char *name);

/* The text of a scalar, as it was written, which has no NUL; of nothing else. */
const char *values_text(struct values *values, const value *scalar);
/* An integer from `smallest` to `largest`, in decimal, or as YAML writes other bases (0x1f, 0o17,
 * and 017, which is octal too). 0 when it is absent; whether it is there. */
bool values_int(struct values *values, const value *scalar, int64_t smallest, int64_t largest,
                int64_t *number);
bool values_uint(struct values *values, const value *scalar, uint64_t *number);

/* Says what is wrong, and where: at `at`, or with the annotation as a whole if that is NULL. */
void values_fail(struct values *values, const value *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void values_fail_at(struct values *values, yaml_mark_t mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
