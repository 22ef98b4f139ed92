/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of this room share: a plugin-like server that is fed frames by hand, its answers,
 * and messages of a size.
 */
#ifndef NRI_TESTS_UNIT_RPC_SUPPORT_H
#define NRI_TESTS_UNIT_RPC_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "proto/nri.pb-c.h"
#include "rpc/internal.h"
#include "rpc_pair.h"
#include "rpc_raw.h"
#include "wire/message.h"

#define PLUGIN  "nri.pkg.api.v1alpha1.Plugin"
#define RUNTIME "nri.pkg.api.v1alpha1.Runtime"

/* Indices in the services' descriptors; test_server checks them. */
enum { CONFIGURE = 0, SYNCHRONIZE = 1, SHUTDOWN = 2, CREATE_CONTAINER = 8 };
enum { REGISTER_PLUGIN = 0, UPDATE_CONTAINERS = 1 };

typedef Nri__Pkg__Api__V1alpha1__ConfigureRequest configure_request;
typedef Nri__Pkg__Api__V1alpha1__ConfigureResponse configure_response;
typedef Nri__Pkg__Api__V1alpha1__UpdateContainersRequest update_request;
typedef Nri__Pkg__Api__V1alpha1__UpdateContainersResponse update_response;
typedef Nri__Pkg__Api__V1alpha1__ContainerEviction eviction;
typedef Nri__Pkg__Api__V1alpha1__ContainerUpdate container_update;

/* An UpdateContainersRequest with one eviction whose reason is `length` times `fill`. */
struct big_request {
    update_request message;
    eviction evict;
    eviction *evictions[1];
    struct nri_arena arena;
};
void big_request_init(struct big_request *big, size_t length, char fill);
void big_request_fini(struct big_request *big);

/* An UpdateContainersResponse with one failed update whose container id is `length` times `fill`.
 */
struct big_response {
    update_response message;
    container_update update;
    container_update *failed[1];
    struct nri_arena arena;
};
void big_response_init(struct big_response *big, size_t length, char fill);
void big_response_fini(struct big_response *big);

/* A plugin whose peer is played by hand. */
struct served {
    struct rpc_peer peer;
    struct nri_buf in;  /* frames to be given to it */
    struct nri_buf out; /* what it has sent since the last served_answers() */
    struct raw_responses answers;
    struct go_reader go; /* reads all that it sends */
    uint64_t now;
};
void served_init(struct served *served, const struct nri_rpc_limits *limits);
void served_fini(struct served *served);
/* Gives all of `in`, in cuts of `cut` bytes (0: whole), and takes what comes out apart; returns
 * nri_rpc_input()'s first error. */
int served_feed(struct served *served, size_t cut);
/* Takes apart what has come out since. */
void served_answers(struct served *served);
/* A Configure request with the runtime's name, on connection id 1. */
void served_configure(struct served *served, uint32_t stream, const char *runtime_name);

/* The same with memory that is counted and can be made to fail; at the end nothing may be left. */
void served_init_counted(struct served *served, struct fail_alloc *memory,
                         const struct nri_rpc_limits *limits);
void served_fini_counted(struct served *served, struct fail_alloc *memory);
/* The connection is as good as new: one more request gets through and is answered. */
void served_assert_usable(struct served *served, uint32_t stream);

#define assert_answer(served_, index_, stream_, grpc_)                                             \
    do {                                                                                           \
        assert_true((served_)->answers.count > (index_));                                          \
        assert_int_equal((served_)->answers.all[index_].stream, (stream_));                        \
        assert_int_equal((served_)->answers.all[index_].grpc, (grpc_));                            \
        assert_int_equal((served_)->answers.all[index_].type, 2);                                  \
        assert_int_equal((served_)->answers.all[index_].flags, 0);                                 \
        assert_int_equal((served_)->answers.all[index_].id, 1);                                    \
    } while (0)

#define assert_contains(text_, part_)                                                              \
    do {                                                                                           \
        if (strstr((text_), (part_)) == NULL) {                                                    \
            fail_msg("\"%s\" does not contain \"%s\"", (text_), (part_));                          \
        }                                                                                          \
    } while (0)

#endif
