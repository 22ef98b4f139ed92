/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every test of this suite starts with: a fake runtime and a recorder, and short names for the
 * generated messages.
 */
#ifndef NRI_TESTS_SESSION_H
#define NRI_TESTS_SESSION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_runtime.h"
#include "recorder.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type
#define INIT(type)    nri__pkg__api__v1alpha1__##type##__init

struct session {
    struct fake_runtime fr;
    struct recorder recorder;
};

/* Setup and teardown of a test; the state is a struct session with no handlers set. */
int session_setup(void **state);
int session_teardown(void **state);

/* Of a call that the runtime holds: answers it, or refuses it. */
void session_answer(struct session *s);
void session_refuse(struct session *s, int grpc, const char *text);
/* UpdateContainers: this one of its containers failed, and is sent back as it came. */
void session_answer_failed(struct session *s, size_t index);
/* A list of one eviction whose reason has that many bytes. */
nri_updates *session_eviction(size_t size);

#define session_test(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

/* The outcome is a success. */
#define assert_success(outcome_)                                                                   \
    do {                                                                                           \
        const struct rpc_outcome *once_ = (outcome_);                                              \
        assert_int_equal(once_->count, 1);                                                         \
        assert_string_equal(once_->text, "");                                                      \
        assert_int_equal(once_->code, 0);                                                          \
    } while (0)
/* The outcome is a refusal with this gRPC code whose text holds `part`. */
#define assert_refusal(outcome_, grpc_, part_)                                                     \
    do {                                                                                           \
        const struct rpc_outcome *once_ = (outcome_);                                              \
        assert_int_equal(once_->count, 1);                                                         \
        assert_contains(once_->text, part_);                                                       \
        assert_int_equal(once_->grpc, (grpc_));                                                    \
    } while (0)
/* The text holds the part, and the test shows both if not. */
#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (strstr((text), (part)) == NULL)                                                        \
            fail_msg("\"%s\" does not hold \"%s\"", (text), (part));                               \
    } while (0)

#endif
