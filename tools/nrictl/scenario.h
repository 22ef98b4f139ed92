/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario: what a simulated node does and what is expected of it, read from JSON or YAML.
 * doc/scenario.md describes the file, doc/scenario.schema.json is made of the tables here.
 *
 * All is checked when it is read, and what is wrong is told as FILE:LINE:COLUMN with what would be
 * right; what is read lives in the scenario's arena until scenario_free().
 */
#ifndef NRICTL_SCENARIO_H
#define NRICTL_SCENARIO_H

#include <nri/nri.h>

#include "base/arena.h"
#include "nrictl.h"
#include "json/json.h"

struct scenario_plugin {
    const char *name, *index; /* NULL: of the program's name, or its own options */
    const char *const *argv;  /* ends with NULL; {dir} is replaced already, {socket} is not */
    bool connects;            /* it connects to the socket by itself */
    bool later;               /* started by the step `connect`, not at the beginning */
    uint64_t timeout_ms;      /* 0: the default */
};

struct scenario_pod {
    const char *id, *name;
    const nri_pod *pod; /* to be copied for the node */
};

struct scenario_container {
    const char *id, *name;
    size_t pod; /* its pod sandbox's position */
    const nri_container *container;
};

enum step_verb {
    STEP_RUN,
    STEP_CREATE,
    STEP_START,
    STEP_UPDATE,
    STEP_STOP,
    STEP_EXIT,
    STEP_REMOVE,
    STEP_SLEEP,
    STEP_RESTART,
    STEP_CONNECT,
    STEP_PAUSE,
    STEP_CONTINUE,
    STEP_KILL,
    STEP_SLOW_READER,
    STEP_WAIT,
    STEP_EXPECT
};

struct scenario_step {
    enum step_verb verb;
    const char *name;    /* NULL: none */
    const char *title;   /* "create app": for people */
    const char *subject; /* the id of a pod sandbox or container, a plugin's name; "" for none */
    bool is_pod;
    bool background;                           /* the next step does not wait for it */
    const nri_resources *resources, *overhead; /* update; NULL: none */
    int32_t exit_code;
    uint64_t ms;       /* sleep; how long the runtime stays away; of wait, its time-out */
    const char *index; /* slow_reader */
    uint64_t rate;     /* its bytes a second */
    int signal;        /* kill */
    const struct nri_json *value;  /* of the verb: what wait and expect are about */
    const struct nri_json *expect; /* an expectation or a list of them; NULL: none */
    size_t line;
};

struct scenario {
    struct nri_arena arena;
    const char *file;                                     /* for messages */
    const char *name, *runtime;                           /* runtime: NULL for none */
    const char *plugin_directory, *config_directory;      /* NULL: none */
    const char *validator_config;                         /* NULL: none; JSON */
    uint64_t registration_timeout_ms, request_timeout_ms; /* 0: the runtime's */
    struct nri_failure_policy failure;
    struct scenario_plugin *plugins;
    struct scenario_pod *pods;
    struct scenario_container *containers;
    struct scenario_step *steps;
    size_t plugin_count, pod_count, container_count, step_count;
};

/* Reads a file, or standard input for "-"; NULL: the default scenario. NRICTL_OK, or another code
 * after a message; scenario_free() in any case. */
int scenario_read(struct nrictl *ctl, struct scenario *scenario, const char *path);
/* A scenario without steps, for what else a node is for. */
void scenario_none(struct scenario *scenario, const char *name);
void scenario_free(struct scenario *scenario);
/* The text of the default scenario, YAML. */
extern const char scenario_default[];
/* JSON Schema, draft 2020-12, of the tables that scenario_read() goes by. */
int scenario_print_schema(struct nrictl *ctl);

#endif
