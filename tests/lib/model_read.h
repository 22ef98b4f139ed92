/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an object through the public readers alone, every one of them, and makes the message that
 * it must have been read from. So a message that comes out as it went in shows that each of its
 * fields has a reader, and the right one; and a walk over an object of any origin touches all of
 * its memory.
 *
 * Three things have no reader, because no plugin could act on them: fields of newer versions, a
 * message that only holds others and is empty, and what a removal marker carries besides its key.
 * model_read_normalise() takes them out of a message, so that the rest can be compared.
 */
#ifndef NRI_TESTS_MODEL_READ_H
#define NRI_TESTS_MODEL_READ_H

#include <nri/nri.h>

#include "base/arena.h"
#include "proto/nri.pb-c.h"

#define MODEL(type) Nri__Pkg__Api__V1alpha1__##type

struct model_reading {
    struct nri_arena *arena; /* of what is made; without memory the program ends */
    const char *broken;      /* the first promise of a header that a reader broke, or NULL */
};

MODEL(PodSandbox) * model_read_pod(struct model_reading *reading, const nri_pod *pod);
MODEL(Container) *
    model_read_container(struct model_reading *reading, const nri_container *container);
MODEL(LinuxResources) *
    model_read_resources(struct model_reading *reading, const nri_resources *resources);
MODEL(ContainerAdjustment) *
    model_read_adjustment(struct model_reading *reading, const nri_adjustment *adjustment);
MODEL(UpdateContainersRequest) *
    model_read_updates(struct model_reading *reading, const nri_updates *updates);

/* Takes out of a message what has no reader. */
void model_read_normalise(ProtobufCMessage *message);
/* Whether a text of the message holds a NUL: the tails of texts that some readers give end there.
 */
bool model_read_has_nul(const ProtobufCMessage *message);

/* ---- for the files model_read_*.c ---- */

#define MODEL_PROMISE(reading, condition)                                                          \
    do {                                                                                           \
        if (!(condition) && (reading)->broken == NULL)                                             \
            (reading)->broken = #condition;                                                        \
    } while (0)

void *model_read_new(struct model_reading *reading, const ProtobufCMessageDescriptor *type);
void *model_read_array(struct model_reading *reading, size_t count, size_t size);
/* A copy of a text that carries its length. */
char *model_read_text(struct model_reading *reading, const char *text);
/* A copy of one that is the tail of another. */
char *model_read_tail(struct model_reading *reading, const char *text);
/* "-" and a key. */
char *model_read_marker(struct model_reading *reading, const char *key);
/* Whether a text can be looked up as a C string: it holds no NUL. */
bool model_read_is_plain(const char *text);

MODEL(Mount) * model_read_mount(struct model_reading *reading, const nri_mount *mount);
MODEL(Hook) * model_read_hook(struct model_reading *reading, const nri_hook *hook);
MODEL(LinuxDevice) * model_read_device(struct model_reading *reading, const nri_device *device);
MODEL(POSIXRlimit) * model_read_rlimit(struct model_reading *reading, const char *type,
                                       uint64_t hard, uint64_t soft);
MODEL(CDIDevice) * model_read_cdi_device(struct model_reading *reading, const char *name);
MODEL(LinuxNamespace) *
    model_read_namespace(struct model_reading *reading, const char *type, const char *path);
MODEL(OptionalInt) * model_read_int(struct model_reading *reading, int64_t value);
MODEL(LinuxIOPriority) *
    model_read_io_priority(struct model_reading *reading, int ioprio_class, int32_t priority);
MODEL(LinuxSeccomp) * model_read_seccomp(struct model_reading *reading, const nri_seccomp *seccomp);
MODEL(LinuxScheduler) *
    model_read_scheduler(struct model_reading *reading, const nri_scheduler *scheduler);
MODEL(LinuxRdt) * model_read_rdt(struct model_reading *reading, const nri_rdt *rdt);
MODEL(LinuxMemoryPolicy) *
    model_read_memory_policy(struct model_reading *reading, const nri_memory_policy *policy);
/* An entry of a map of texts, of any type (all are laid out like KeyValue). */
void *model_read_pair(struct model_reading *reading, const ProtobufCMessageDescriptor *entry,
                      const char *key, const char *value);

/* A map of texts into `to->member`, by PREFIX_count(), PREFIX_at() and PREFIX(). Keys of a decoded
 * map are different ones, so each is found. */
#define MODEL_READ_PAIRS(reading, to, member, entry, prefix, object)                               \
    do {                                                                                           \
        const char *key_, *value_, *found_;                                                        \
        (to)->n_##member = prefix##_count(object);                                                 \
        (to)->member = model_read_array(reading, (to)->n_##member, sizeof(void *));                \
        for (size_t i_ = 0; i_ < (to)->n_##member; i_++) {                                         \
            MODEL_PROMISE(reading, prefix##_at(object, i_, &key_, &value_));                       \
            (to)->member[i_] = model_read_pair(reading, entry, key_, value_);                      \
            MODEL_PROMISE(reading, !model_read_is_plain(key_) ||                                   \
                                       (prefix(object, key_, &found_) && found_ == value_));       \
        }                                                                                          \
        MODEL_PROMISE(reading, !prefix##_at(object, (to)->n_##member, &key_, &value_));            \
        MODEL_PROMISE(reading, *key_ == '\0' && *value_ == '\0');                                  \
    } while (0)

/* A list of texts into `to->member`, by COUNT() and AT(). */
#define MODEL_READ_TEXTS(reading, to, member, count, at, object)                                   \
    do {                                                                                           \
        (to)->n_##member = count(object);                                                          \
        (to)->member = model_read_array(reading, (to)->n_##member, sizeof(char *));                \
        for (size_t i_ = 0; i_ < (to)->n_##member; i_++)                                           \
            (to)->member[i_] = model_read_text(reading, at(object, i_));                           \
        MODEL_PROMISE(reading, *at(object, (to)->n_##member) == '\0');                             \
    } while (0)

/* The hooks of one stage, by PREFIX_count() and PREFIX_at(). */
#define MODEL_READ_STAGE(reading, to, member, stage, prefix, object)                               \
    do {                                                                                           \
        (to)->n_##member = prefix##_count(object, stage);                                          \
        (to)->member = model_read_array(reading, (to)->n_##member, sizeof(void *));                \
        for (size_t i_ = 0; i_ < (to)->n_##member; i_++)                                           \
            (to)->member[i_] = model_read_hook(reading, prefix##_at(object, stage, i_));           \
    } while (0)

#define MODEL_READ_HOOKS(reading, to, prefix, object)                                              \
    do {                                                                                           \
        MODEL_READ_STAGE(reading, to, prestart, NRI_HOOK_PRESTART, prefix, object);                \
        MODEL_READ_STAGE(reading, to, create_runtime, NRI_HOOK_CREATE_RUNTIME, prefix, object);    \
        MODEL_READ_STAGE(reading, to, create_container, NRI_HOOK_CREATE_CONTAINER, prefix,         \
                         object);                                                                  \
        MODEL_READ_STAGE(reading, to, start_container, NRI_HOOK_START_CONTAINER, prefix, object);  \
        MODEL_READ_STAGE(reading, to, poststart, NRI_HOOK_POSTSTART, prefix, object);              \
        MODEL_READ_STAGE(reading, to, poststop, NRI_HOOK_POSTSTOP, prefix, object);                \
    } while (0)

#endif
