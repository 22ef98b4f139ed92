/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: one X-macro of all codes, and the error object with its text.
 */
#ifndef NRI_BASE_ERROR_H
#define NRI_BASE_ERROR_H

#include <stdarg.h>

#include <nri/error.h>

#include "base/alloc.h"

/* X(code, text, grpc, traits): the gRPC code is what a refusal with this code is sent as (never 12
 * UNIMPLEMENTED, which would make a runtime repeat the event, never 4 or 14, which a Go runtime may
 * take for the connection's end); traits: F fatal, R retriable. */
#define NRI_ERROR_FATAL     1u
#define NRI_ERROR_RETRIABLE 2u
#define NRI_ERROR_CODES(X)                                                                         \
    X(NRI_OK, "success", 0, 0u)                                                                    \
    X(NRI_E_NOMEM, "out of memory", 13, NRI_ERROR_RETRIABLE)                                       \
    X(NRI_E_INVALID, "invalid argument", 3, 0u)                                                    \
    X(NRI_E_ABI, "structure does not fit this version of libnri", 13, 0u)                          \
    X(NRI_E_STATE, "not possible in this state", 9, 0u)                                            \
    X(NRI_E_EVENT, "not possible for this event", 9, 0u)                                           \
    X(NRI_E_NOT_FOUND, "not found", 2, NRI_ERROR_FATAL | NRI_ERROR_RETRIABLE)                      \
    X(NRI_E_PERMISSION, "permission denied", 2, NRI_ERROR_FATAL)                                   \
    X(NRI_E_REFUSED, "connection refused", 2, NRI_ERROR_FATAL | NRI_ERROR_RETRIABLE)               \
    X(NRI_E_ADDR_IN_USE, "address in use", 2, NRI_ERROR_FATAL)                                     \
    X(NRI_E_PATH_TOO_LONG, "socket path too long", 3, NRI_ERROR_FATAL)                             \
    X(NRI_E_NOT_SOCKET, "not a unix stream socket", 3, NRI_ERROR_FATAL)                            \
    X(NRI_E_CLOSED, "connection closed", 2, NRI_ERROR_FATAL | NRI_ERROR_RETRIABLE)                 \
    X(NRI_E_TIMEOUT, "timed out", 2, NRI_ERROR_RETRIABLE)                                          \
    X(NRI_E_NO_SERVICE, "not connected to a runtime", 9, NRI_ERROR_RETRIABLE)                      \
    X(NRI_E_LIMIT, "limit exceeded", 8, 0u)                                                        \
    X(NRI_E_PROTOCOL, "protocol error", 13, NRI_ERROR_FATAL)                                       \
    X(NRI_E_UNSUPPORTED, "not supported", 2, 0u)                                                   \
    X(NRI_E_REJECTED, "rejected", 2, 0u)                                                           \
    X(NRI_E_LATE, "too late: already answered", 2, 0u)                                             \
    X(NRI_E_DEADLOCK, "would wait for itself", 13, 0u)                                             \
    X(NRI_E_UTF8, "text is not UTF-8 or holds a NUL", 3, 0u)                                       \
    X(NRI_E_RANGE, "out of range", 3, 0u)                                                          \
    X(NRI_E_SYNTAX, "syntax error", 3, 0u)                                                         \
    X(NRI_E_IO, "system error", 2, NRI_ERROR_FATAL)                                                \
    X(NRI_E_CONFLICT, "conflict", 2, 0u)                                                           \
    X(NRI_E_INTERNAL, "internal error", 13, 0u)                                                    \
    X(NRI_E_BUSY, "busy", 8, NRI_ERROR_RETRIABLE)

/* gRPC status codes in use. */
enum nri_grpc {
    NRI_GRPC_OK = 0,
    NRI_GRPC_UNKNOWN = 2,
    NRI_GRPC_INVALID_ARGUMENT = 3,
    NRI_GRPC_DEADLINE_EXCEEDED = 4,
    NRI_GRPC_RESOURCE_EXHAUSTED = 8,
    NRI_GRPC_FAILED_PRECONDITION = 9,
    NRI_GRPC_UNIMPLEMENTED = 12,
    NRI_GRPC_INTERNAL = 13,
    NRI_GRPC_UNAVAILABLE = 14
};

#define NRI_ERROR_TEXT_SIZE 1024

/* Where in a text that was read it is wrong, from 1. */
struct nri_error_place {
    uint32_t line, column;
};

/* Embedded in handles; also what constructors hand out (then `owned` and freed through `alloc`). */
struct nri_error {
    int code;
    bool owned;
    struct nri_alloc alloc;
    struct nri_error_place place;   /* all 0: it is about none */
    char text[NRI_ERROR_TEXT_SIZE]; /* cut at a UTF-8 boundary when longer; one line: control
                                       characters are replaced by blanks */
};

/* An error's text before there is an error: cut at a UTF-8 boundary, one line. Returns its length.
 */
size_t nri_error_format(char text[NRI_ERROR_TEXT_SIZE], const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Sets an error and returns its code, so that `return nri_error_set(e, NRI_E_RANGE, "...")` reads
 * well. `error` may be NULL. */
int nri_error_set(struct nri_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* nri_error_set() with a place: the text begins with "NAME:LINE:COLUMN: ". */
int nri_error_set_at(struct nri_error *error, int code, const char *name, size_t line,
                     size_t column, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Puts "prefix: " in front of the text that is there, and returns the code. A place, with which the
 * text does not begin any more, goes. */
int nri_error_prefix(struct nri_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void nri_error_clear(struct nri_error *error);
void nri_error_copy(struct nri_error *to, const struct nri_error *from);
/* A copy on the heap for a constructor's out parameter; does nothing for NULL; *out is a static
 * out-of-memory error when there is no memory (nri_error_free() leaves that alone). */
void nri_error_export(const struct nri_error *error, const struct nri_alloc *alloc,
                      nri_error **out);
/* Whether it is one of the codes above, NRI_OK too. */
bool nri_error_is_code(int code);
/* The gRPC code to refuse with. */
int nri_error_grpc(int code);
/* The code of this library for a gRPC code that a peer sent: 12 -> UNSUPPORTED, 8 -> LIMIT, 4 ->
 * TIMEOUT, others REJECTED. */
int nri_error_from_grpc(int grpc);

#endif
