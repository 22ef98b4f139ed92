/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schema written down as a set of lines, one fact a line, so that two schemas are equal when
 * their sorted lines are. The lines are:
 *
 *   message M             field M.NAME = NUMBER TYPE
 *   enum E                value E.NAME = NUMBER
 *   service S             method S.NAME(REQUEST) -> RESPONSE
 */
#ifndef NRI_TEST_PROTO_SCHEMA_H
#define NRI_TEST_PROTO_SCHEMA_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

#define SCHEMA_PACKAGE "nri.pkg.api.v1alpha1"

struct schema_lines {
    char **line;
    size_t count;
    size_t capacity;
};

void schema_add(struct schema_lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void schema_sort(struct schema_lines *lines);
void schema_free(struct schema_lines *lines);

/* Every message and enum that the roots lead to, each once. */
struct schema_walk {
    const ProtobufCMessageDescriptor *message[256];
    size_t n_messages;
    const ProtobufCEnumDescriptor *enumeration[64];
    size_t n_enums;
};

void schema_walk_message(struct schema_walk *walk, const ProtobufCMessageDescriptor *message);
void schema_walk_enum(struct schema_walk *walk, const ProtobufCEnumDescriptor *enumeration);
void schema_walk_service(struct schema_walk *walk, const ProtobufCServiceDescriptor *service);

/* The services of NRI, and what no field or method of the schema leads to. */
void schema_walk_nri(struct schema_walk *walk);
extern const ProtobufCServiceDescriptor *const schema_services[3];

/* A map field as protobuf-c shows it: a repeated message NAMEEntry with key = 1 and value = 2. */
bool schema_is_map(const ProtobufCFieldDescriptor *field);
bool schema_is_map_entry(const ProtobufCMessageDescriptor *message);

/* The part of a full name after the package, or the whole name when the package is another. */
const char *schema_short_name(const char *full_name);

/* The facts of the generated descriptors and of the data file. */
void schema_from_walk(struct schema_lines *lines, const struct schema_walk *walk);
bool schema_from_file(struct schema_lines *lines, const char *path);

#endif
