/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks, with cmocka's asserts, that each public reader gives back what golden_message() put into
 * the message that was read, and "", 0 or an empty object past the end. `path` is what that was
 * called with.
 */
#ifndef NRI_TESTS_GOLDEN_CHECK_H
#define NRI_TESTS_GOLDEN_CHECK_H

#include <nri/nri.h>

void golden_check_pod(const nri_pod *pod, const char *path);
void golden_check_container(const nri_container *container, const char *path);
/* The keys of a golden adjustment have no removal markers. */
void golden_check_adjustment(const nri_adjustment *adjustment, const char *path);
void golden_check_update(const nri_update *update, const char *path);

/* ---- the parts ---- */

void golden_check_resources(const nri_resources *resources, const char *path);
void golden_check_mount(const nri_mount *mount, const char *path);
void golden_check_hook(const nri_hook *hook, const char *path);
void golden_check_device(const nri_device *device, const char *path);
void golden_check_seccomp(const nri_seccomp *seccomp, const char *path);
void golden_check_scheduler(const nri_scheduler *scheduler, const char *path);
void golden_check_rdt(const nri_rdt *rdt, const char *path);
void golden_check_memory_policy(const nri_memory_policy *policy, const char *path);

/* ---- for the files golden_check*.c ---- */

/* A path made of pieces; good until the check of the whole object is done. */
const char *golden_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define GOLDEN_TEXT(reader, ...) assert_string_equal(reader, golden_path(__VA_ARGS__))
#define GOLDEN_NUMBER(type, reader, ...)                                                           \
    assert_true((reader) == (type)golden_number(golden_path(__VA_ARGS__)))
#define GOLDEN_ENUM(type, reader, ...)                                                             \
    assert_int_equal(reader, golden_enum(&nri__pkg__api__v1alpha1__##type##__descriptor,           \
                                         golden_path(__VA_ARGS__)))
/* A getter of an optional number, also with NULL for it. */
#define GOLDEN_OPTIONAL(type, getter, object, ...)                                                 \
    do {                                                                                           \
        type value_ = 0;                                                                           \
        assert_true(getter(object, NULL));                                                         \
        assert_true(getter(object, &value_));                                                      \
        GOLDEN_NUMBER(type, value_, __VA_ARGS__);                                                  \
    } while (0)
#define GOLDEN_TRUE(getter, object)                                                                \
    do {                                                                                           \
        bool value_ = false;                                                                       \
        assert_true(getter(object, NULL));                                                         \
        assert_true(getter(object, &value_) && value_);                                            \
    } while (0)
#define GOLDEN_OPTIONAL_TEXT(getter, object, ...)                                                  \
    do {                                                                                           \
        const char *value_ = NULL;                                                                 \
        assert_true(getter(object, NULL));                                                         \
        assert_true(getter(object, &value_));                                                      \
        GOLDEN_TEXT(value_, __VA_ARGS__);                                                          \
    } while (0)
/* A list of two texts named `path`. */
#define GOLDEN_TEXTS(count, at, object, path)                                                      \
    do {                                                                                           \
        assert_int_equal(count(object), 2);                                                        \
        GOLDEN_TEXT(at(object, 0), "%s[0]", path);                                                 \
        GOLDEN_TEXT(at(object, 1), "%s[1]", path);                                                 \
        assert_string_equal(at(object, 2), "");                                                    \
        assert_string_equal(at(object, SIZE_MAX), "");                                             \
    } while (0)
/* A map or list of two pairs named `path`, whose members are "a" and "b"; found by the first. */
#define GOLDEN_PAIRS(count, at, get, object, path, a, b)                                           \
    do {                                                                                           \
        const char *key_ = NULL, *value_ = NULL;                                                   \
        assert_int_equal(count(object), 2);                                                        \
        for (unsigned i_ = 0; i_ < 2; i_++) {                                                      \
            assert_true(at(object, i_, &key_, &value_));                                           \
            GOLDEN_TEXT(key_, "%s[%u]." a, path, i_);                                              \
            GOLDEN_TEXT(value_, "%s[%u]." b, path, i_);                                            \
            assert_true(at(object, i_, NULL, NULL));                                               \
            value_ = NULL;                                                                         \
            assert_true(get(object, key_, &value_));                                               \
            GOLDEN_TEXT(value_, "%s[%u]." b, path, i_);                                            \
            assert_true(get(object, key_, NULL));                                                  \
        }                                                                                          \
        assert_false(at(object, 2, &key_, &value_));                                               \
        assert_string_equal(key_, "");                                                             \
        assert_string_equal(value_, "");                                                           \
        assert_false(at(object, SIZE_MAX, NULL, NULL));                                            \
        value_ = NULL;                                                                             \
        assert_false(get(object, "no such", &value_));                                             \
        assert_string_equal(value_, "");                                                           \
        assert_false(get(object, NULL, &value_));                                                  \
        assert_false(get(object, "", NULL));                                                       \
    } while (0)

#endif
