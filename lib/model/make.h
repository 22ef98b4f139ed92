/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the messages that both adjustments and whole objects hold: each function checks what the
 * caller gives and copies it into the builder's arena. 0 and *message, or a failed call of the
 * builder (nri_builder_refuse()), with *message untouched. The caller has called
 * nri_builder_enter(). Rules are those of nri/adjustment.h.
 *
 * One file a noun: make_NOUN.c; the checks of names that stand in tables are in name.c.
 */
#ifndef NRI_MODEL_MAKE_H
#define NRI_MODEL_MAKE_H

#include "model/builder.h"
#include "proto/nri.pb-c.h"

#define NRI_MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

int nri_make_mount(struct nri_builder *builder, const char *destination, const char *type,
                   const char *source, const char *const *options, size_t option_count,
                   NRI_MESSAGE(Mount) * *message);
int nri_make_hook(struct nri_builder *builder, int stage, const char *path, const char *const *args,
                  size_t arg_count, const char *const *env, size_t env_count,
                  const int64_t *timeout, NRI_MESSAGE(Hook) * *message);
int nri_make_rlimit(struct nri_builder *builder, const char *type, uint64_t hard, uint64_t soft,
                    NRI_MESSAGE(POSIXRlimit) * *message);
int nri_make_cdi_device(struct nri_builder *builder, const char *name,
                        NRI_MESSAGE(CDIDevice) * *message);
int nri_make_device(struct nri_builder *builder, const char *path, const char *type, int64_t major,
                    int64_t minor, const uint32_t *file_mode, const uint32_t *uid,
                    const uint32_t *gid, NRI_MESSAGE(LinuxDevice) * *message);
int nri_make_namespace(struct nri_builder *builder, const char *type, const char *path,
                       NRI_MESSAGE(LinuxNamespace) * *message);
int nri_make_io_priority(struct nri_builder *builder, int ioprio_class, int32_t priority,
                         NRI_MESSAGE(LinuxIOPriority) * *message);
int nri_make_scheduler(struct nri_builder *builder, int policy, int32_t nice, int32_t priority,
                       const int *flags, size_t flag_count, uint64_t runtime, uint64_t deadline,
                       uint64_t period, NRI_MESSAGE(LinuxScheduler) * *message);
int nri_make_memory_policy(struct nri_builder *builder, int mode, const char *nodes,
                           const int *flags, size_t flag_count,
                           NRI_MESSAGE(LinuxMemoryPolicy) * *message);
int nri_make_oom_score_adj(struct nri_builder *builder, int64_t score,
                           NRI_MESSAGE(OptionalInt) * *message);
int nri_make_rdt_clos_id(struct nri_builder *builder, const char *clos_id,
                         NRI_MESSAGE(OptionalString) * *message);
int nri_make_rdt_schemata(struct nri_builder *builder, const char *const *schemata, size_t count,
                          NRI_MESSAGE(OptionalRepeatedString) * *message);
/* The parts of these rules that calls need which make no such message, removals above all. */
int nri_check_mount_destination(struct nri_builder *builder, const char *destination);
int nri_check_device_path(struct nri_builder *builder, const char *path);
int nri_check_rlimit_type(struct nri_builder *builder, const char *type);
int nri_check_namespace_type(struct nri_builder *builder, const char *type);
int nri_check_cdi_device(struct nri_builder *builder, const char *name);
/* The name of a network device, on the host ("net device") or in the container ("net device
 * name"). */
int nri_check_net_device(struct nri_builder *builder, const char *what, const char *name);
/* The name of a kernel parameter. */
int nri_check_sysctl(struct nri_builder *builder, const char *key);
/* A list of texts, copied: `filled` says that none may be empty. `field` names the whole list. */
int nri_make_texts(struct nri_builder *builder, const struct nri_where *field,
                   const char *const *texts, size_t count, bool filled, char ***copies);

/* The pieces of all of these. */

/* An empty message of a type in the builder's arena; NULL when that failed. */
void *nri_make_empty(struct nri_builder *builder, const ProtobufCMessageDescriptor *type);
/* Not empty, UTF-8, and starting with "/". */
int nri_check_absolute(struct nri_builder *builder, const struct nri_where *field,
                       const char *path);
/* Each a text of UTF-8. */
int nri_check_texts(struct nri_builder *builder, const struct nri_where *field,
                    const char *const *texts, size_t count, bool filled);
/* false when the arena failed; *copies is NULL for none. With the room of nri_list_append(). */
bool nri_copy_texts(struct nri_builder *builder, const char *const *texts, size_t count,
                    char ***copies);
/* Numbers of an enum, 0 to `most`, each once; `most` is below 32. */
int nri_check_numbers(struct nri_builder *builder, const struct nri_where *field,
                      const int *numbers, size_t count, int most);
/* 0, or NRI_E_RANGE with the rule when `fits` is false. */
int nri_check_signed(struct nri_builder *builder, const struct nri_where *field, int64_t value,
                     bool fits, const char *rule);
int nri_check_unsigned(struct nri_builder *builder, const struct nri_where *field, uint64_t value,
                       bool fits, const char *rule);

#endif
