/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that read a scenario share.
 */
#ifndef NRICTL_SCENARIO_INSIDE_H
#define NRICTL_SCENARIO_INSIDE_H

#include "form.h"
#include "scenario.h"

struct scenario_reader {
    struct nrictl *ctl;
    struct scenario *scenario;
    struct form_check check;
    struct nri_error error;
    const char *directory; /* of the file: what {dir} stands for */
};

/* A list's room in the scenario's arena; NULL with the error set. `count` may be 0. */
void *scenario_room(struct scenario_reader *reader, size_t count, size_t size, int *rc);
/* A text of an object, {dir} replaced when `path`; NULL: the member is not there, or *rc is set. */
const char *scenario_text(struct scenario_reader *reader, const struct nri_json *object,
                          const char *key, bool path, int *rc);
uint64_t scenario_time(const struct nri_json *object, const char *key, uint64_t otherwise);
int scenario_no_memory(struct scenario_reader *reader);

/* 0 or a code, with the reader's error. The document has been checked against the forms. */
int scenario_read_plugins(struct scenario_reader *reader, const struct nri_json *list);
int scenario_read_pods(struct scenario_reader *reader, const struct nri_json *list);
int scenario_read_steps(struct scenario_reader *reader, const struct nri_json *list);
/* LinuxResources of NRI; NULL when the member is not there. */
int scenario_read_resources(struct scenario_reader *reader, const struct nri_json *object,
                            const char *key, const nri_resources **resources);

/* Positions of what a step names; SIZE_MAX: there is none. *twice: more than one has that name. */
size_t scenario_find_pod(const struct scenario *scenario, const char *name, bool *twice);
size_t scenario_find_container(const struct scenario *scenario, const char *name, bool *twice);

#endif
