/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places in a document: JSON pointers (/linux/resources/cpu/shares), and paths for people
 * (linux.resources.cpu.shares, env[PATH], mounts[/data].options[0], annotations[a.b/c]).
 *
 * In brackets stands a position, a member's name, or what an element of a list is known by: of an
 * object its key, destination, path, type, name, host_name, page_size or container_id, of a text
 * NAME=TEXT its name. Of a pair of key and value, and of NAME=TEXT, the value alone is found.
 */
#ifndef NRICTL_PATH_H
#define NRICTL_PATH_H

#include "json/json.h"

/* NULL: there is none, or no memory (then arena->failure is set). What is made for the answer is in
 * the arena. "" is the whole document. */
const struct nri_json *path_find(struct nri_arena *arena, const struct nri_json *document,
                                 const char *path);
/* NULL, or what is wrong with a path. */
const char *path_fault(const char *path);

#endif
