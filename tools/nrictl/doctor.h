/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl doctor: what its files share.
 *
 * Happy path: the runtimes are found, with their version (doctor_version.c) and their
 * configuration (doctor_containerd.c, doctor_crio.c, doctor_docker.c); then come the sockets, the
 * plugin directories with their drop-ins, the time-outs, and what else of the system may be in the
 * way. Each check tells what it found by doctor_find() and goes on; whatever is not there is
 * passed over.
 */
#ifndef NRICTL_DOCTOR_H
#define NRICTL_DOCTOR_H

#include <sys/types.h>

#include "doctor_finding.h"
#include "doctor_root.h"
#include "json/json.h"

extern const struct nrictl_command nrictl_doctor;

#define DOCTOR_MOST_GROUPS  256
#define DOCTOR_MOST_PLUGINS 1024

/* Who asks: the permissions are checked for them. */
struct doctor_user {
    uid_t uid;
    gid_t gid;
    gid_t groups[DOCTOR_MOST_GROUPS];
    size_t group_count;
    const char *name; /* as messages tell it */
};

/* A runtime that is there. */
struct doctor_runtime {
    const char *name;    /* as libnri knows it: "containerd", "cri-o", "docker" */
    const char *title;   /* as people do */
    const char *unit;    /* of systemd */
    const char *program; /* its path; NULL */
    const char *version; /* NULL: not known */
    const char *nri;     /* inferred; NULL: not known, or none */
    const char *config;  /* the file that has, or should have, the settings */
    const char *section; /* the line in front of NRI's settings; NULL for JSON */
    /* The names of the settings in the configuration. */
    const char *enable_key, *connections_key, *socket_key, *plugins_key, *dropins_key;
    const char *registration_key, *request_key;

    bool enabled, connections; /* it has NRI, and a socket */
    bool plugins_given;        /* the plugin directory is not the default one */
    size_t plugin_count;       /* that it can start */
    /* Why it is not enabled, where, and what to do; NULL: it has no NRI, or that was told. */
    const char *off, *off_at, *off_fix;
    const char *socket, *plugins, *dropins;
    const char *registration, *request; /* durations as they stand there; NULL: the defaults */
    const char *registration_at, *request_at;
};

/* What is called as a plugin and may be executed, or was asked for. */
struct doctor_plugin {
    const char *path, *file; /* the last part */
    char index[3];
    const char *name;
};

struct doctor_plugins {
    const char *directory;
    struct doctor_plugin *list;
    size_t count;
};

#define DOCTOR_MOST_DIRECTORIES 128

/* Where the dynamic loader looks for libraries. */
struct doctor_libraries {
    bool read;
    const char *directories[DOCTOR_MOST_DIRECTORIES];
    size_t count, files;
};

struct doctor {
    struct nrictl *ctl;
    struct nri_arena arena;
    struct doctor_findings findings;
    struct doctor_root root;
    bool live;    /* the root is this machine's own */
    bool running; /* the root is that of a system that runs: it has /proc */
    const char *root_path;
    /* Of the command line; NULL: not given. */
    const char *socket, *plugin_dir, *config_dir, *plugin, *containerd_config;
    const char *runtime_name, *runtime_version;
    const char *user_text;
    bool probe, strict, all, list;

    struct doctor_user user;
    struct doctor_runtime runtimes[3];
    size_t runtime_count;
    struct doctor_libraries libraries; /* as /etc/ld.so.conf has them, once read */
    bool external;                     /* the plugin that was asked for connects by itself */
};

#define DOCTOR_TEXT(doctor, ...) doctor_text(&(doctor)->arena, __VA_ARGS__)
/* FIND(doctor, KIND, where, fix, format, ...) */
#define DOCTOR_FIND(doctor, kind, where, ...)                                                      \
    doctor_find(&(doctor)->findings, DOCTOR_##kind, where, __VA_ARGS__)

/* doctor_user.c: NRICTL_OK, or NRICTL_USAGE after a message. */
int doctor_user_find(struct doctor *doctor);
/* By name or number, from the root's own /etc/passwd; false: there is none such. */
bool doctor_user_named(struct doctor *doctor, const char *text, struct doctor_user *user);
/* Whether the modes allow a user so much (R_OK, W_OK, X_OK). */
bool doctor_user_may(const struct doctor_user *user, const struct stat *status, int mode);
/* The first directory on the way to a path that the user may not search, or the path itself when
 * they lack `mode` there; NULL: there is none. Links are resolved. */
const char *doctor_user_stopped(struct doctor *doctor, const struct doctor_user *user,
                                const char *path, int mode);

/* doctor_runtime.c */
void doctor_runtimes_find(struct doctor *doctor);
void doctor_runtimes_check(struct doctor *doctor); /* against each other */
/* Reads NRI's settings out of a table; `file` is where it stands. */
void doctor_settings(struct doctor *doctor, struct doctor_runtime *runtime,
                     const struct nri_json *table, const char *file);
/* The lines that set a setting in a file. */
const char *doctor_setting(struct doctor *doctor, const struct doctor_runtime *runtime,
                           const char *key, const char *value);
/* "FILE:LINE". */
const char *doctor_at(struct doctor *doctor, const char *file, size_t line);
/* A TOML file; NULL when it is not there, or after a finding. */
struct nri_json *doctor_read_toml(struct doctor *doctor, const char *path);

/* doctor_containerd.c, doctor_crio.c, doctor_docker.c: true when the runtime is there. */
bool doctor_containerd_find(struct doctor *doctor, struct doctor_runtime *runtime);
bool doctor_crio_find(struct doctor *doctor, struct doctor_runtime *runtime);
bool doctor_docker_find(struct doctor *doctor, struct doctor_runtime *runtime);

/* doctor_version.c: sets version and nri. */
void doctor_version_find(struct doctor *doctor, struct doctor_runtime *runtime);
void doctor_version_check(struct doctor *doctor, const struct doctor_runtime *runtime);
bool doctor_version_before(const char *version, unsigned major, unsigned minor);
/* doctor_package.c: the version of an installed package; NULL. `names` ends with NULL. */
const char *doctor_package_version(struct doctor *doctor, const char *const *names);

/* doctor_socket.c, doctor_listener.c, doctor_probe.c */
void doctor_sockets_check(struct doctor *doctor);
struct doctor_listener {
    bool known;     /* /proc/net/unix could be read */
    bool listening; /* somebody does */
    const char *inode;
    long pid; /* 0: not to be seen */
    const char *program;
};
void doctor_listener_find(struct doctor *doctor, const struct stat *socket, const char *path,
                          struct doctor_listener *listener);
void doctor_probe(struct doctor *doctor, const char *path);
/* doctor_security.c */
void doctor_security_check(struct doctor *doctor, const char *socket,
                           const struct doctor_listener *listener);

/* doctor_plugins.c, doctor_program.c, doctor_script.c, doctor_elf.c, doctor_dropins.c */
void doctor_plugins_check(struct doctor *doctor);
/* Whether the root can run a program; false after a finding. Its first bytes tell which it is. */
bool doctor_program_check(struct doctor *doctor, struct doctor_plugin *plugin);
bool doctor_script_check(struct doctor *doctor, const char *path, const char *head, size_t length);
bool doctor_elf_check(struct doctor *doctor, const char *path);
void doctor_dropins_check(struct doctor *doctor, const struct doctor_plugins *plugins,
                          const char *directory);

/* doctor_timeouts.c, doctor_units.c, doctor_environment.c */
void doctor_timeouts_check(struct doctor *doctor);
void doctor_units_check(struct doctor *doctor);
void doctor_environment_check(struct doctor *doctor);
/* One variable's assignment, "NAME=VALUE", as it stands in a file. */
void doctor_environment_look(struct doctor *doctor, const char *assignment, const char *where);

#endif
