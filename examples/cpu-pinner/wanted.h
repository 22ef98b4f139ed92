/* SPDX-License-Identifier: Apache-2.0 */
/* What a container asks for: so many exclusive CPUs, or to share. */
#ifndef PINNER_WANTED_H
#define PINNER_WANTED_H

#include <nri/container.h>
#include <nri/pod.h>
#include <stdbool.h>
#include <stddef.h>

#define WANTED_KEY  "exclusive-cpus.cpu-pinner.nri.io"
#define WANTED_TEXT 1024

/*
 * How many exclusive CPUs a container asks for: what the annotation WANTED_KEY says (that of the
 * container, then the pod's, then the bare one; 0 is to share), else, with `by_limit`, its CPU
 * limit if that is a whole number, else 0. 0, or -1 with a text when the annotation cannot be
 * read.
 */
int wanted_read(const nri_pod *pod, const nri_container *container, bool by_limit, size_t *count,
                char text[WANTED_TEXT]);

/* Whether an update asks for so many exclusive CPUs from now on: it names a CPU limit, and no
 * annotation says how many. A limit that is 0 or not there is not changed, as CRI has it. */
bool wanted_update(const nri_pod *pod, const nri_container *container, const nri_resources *update,
                   bool by_limit, size_t *count);

/* A CPU limit in whole CPUs; 0 when there is none, or it is not a whole number. */
size_t wanted_from_limit(const nri_resources *resources);

#endif
