/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * A plugin's main function: options, configuration, signals, logs, health and metrics, as people
 * expect them of a daemon. Its own library, libnri-app, found as nri-app by pkg-config.
 *
 * @code
 *     struct config {
 *         const char *greeting;
 *     };
 *     int main(int argc, char **argv)
 *     {
 *         static const struct nri_app_field fields[] = {
 *             {.name = "greeting",
 *              .type = NRI_APP_TEXT,
 *              .offset = offsetof(struct config, greeting),
 *              .standard = "hello",
 *              .help = "what is said to each container"},
 *         };
 *         struct config config;
 *         struct nri_plugin_ops ops = {.size = sizeof ops, .on_create_container = create};
 *         struct nri_app_options app = {
 *             .size = sizeof app, .name = "hello", .index = "10", .version = "1.0", .ops = &ops,
 *             .fields = fields, .field_count = 1, .field_size = sizeof *fields,
 *             .config = &config, .config_size = sizeof config, .user = &config};
 *         return nri_app_main(argc, argv, &app);
 *     }
 * @endcode
 *
 * doc/app.md has a whole daemon. Handlers run on a thread of the library (NRI_DISPATCH_WORKER), and
 * the plugin connects again when it loses its runtime.
 */
#ifndef NRI_APP_H
#define NRI_APP_H

#include <nri/plugin.h>

NRI_BEGIN_DECLS

/** How a field of a configuration is written and kept. Since 0.1.0. */
enum nri_app_type {
    NRI_APP_BOOL = 1,     /**< true, false; kept as bool */
    NRI_APP_INTEGER = 2,  /**< kept as int64_t; minimum and maximum hold */
    NRI_APP_NUMBER = 3,   /**< kept as double; minimum and maximum hold */
    NRI_APP_TEXT = 4,     /**< kept as const char *, never NULL */
    NRI_APP_DURATION = 5, /**< "250ms", "1.5s", "2m", "1h", kept as int64_t nanoseconds */
    NRI_APP_BYTES = 6,    /**< a quantity, "512Mi", "1G", kept as int64_t bytes */
    NRI_APP_CPUS = 7,     /**< a CPU list, "0-3,8", kept as const char * in canonical form */
    NRI_APP_CHOICE = 8,   /**< one of `choices`, kept as int32_t, its number */
    NRI_APP_TEXTS = 9,    /**< a list of texts, kept as struct nri_app_texts */
    NRI_APP_DOCUMENT = 10 /**< anything: kept as const char *, its JSON text */
};

/** A list of texts in a configuration, filled by the library. Never grows: it lies within the
 * program's own structure. Since 0.1.0. */
struct nri_app_texts {
    const char *const *texts; /**< `count` texts */
    size_t count;             /**< how many */
};

/** One field of a configuration. Rows may grow at their end: the options say how large they are
 * (field_size). Zero in any member means its default. Since 0.1.0. */
struct nri_app_field {
    const char *name; /**< its key; "a.b" for a key within an object */
    size_t offset;    /**< where it is kept in the configuration, in bytes */
    /** What it is without being given, as it would be written in JSON without quotes around texts;
     * NULL: 0, false, "", an empty list, or null for a document. */
    const char *standard;
    const char *help;           /**< one line, for --help and --print-config */
    const char *const *choices; /**< of NRI_APP_CHOICE: names, ending with NULL */
    const char *minimum;        /**< the smallest value, written as `standard`; NULL: none */
    const char *maximum;        /**< the largest value; NULL: none */
    int32_t type;               /**< enum nri_app_type */
    /** Not 0: must be given (a text may be given as ""). By the file, or, where the runtime has
     * started the program (NRI_PLUGIN_SOCKET) and the field is not `fixed`, by Configure at the
     * latest: then it is 0, false or "" until on_reload comes, and the runtime's Configure is
     * refused when it is still missing. */
    uint32_t required;
    uint32_t fixed;  /**< not 0: a reload or Configure that changes it is refused */
    uint32_t secret; /**< not 0: --print-config and logs show "***" */
};

/** An option of the program's own, besides those of nri-app. May grow as nri_app_field (flag_size).
 * Since 0.1.0. */
struct nri_app_flag {
    const char *name;     /**< as in --NAME */
    const char *argument; /**< what its argument is called in --help; NULL: it takes none */
    const char *help;     /**< one line for --help */
    /** Takes it: `value` is "" without an argument. Not 0: *text (static, or the app's own; may be
     * left alone) says why not, and the program ends with 2. */
    int (*set)(void *user, const char *value, const char **text);
    int64_t letter; /**< as in -L; 0: none */
};

/** Options of nri_app_main(). Zero means the default. Since 0.1.0. */
struct nri_app_options {
    size_t size;         /**< sizeof(struct nri_app_options) */
    const char *name;    /**< the plugin's name, unless -n or the runtime says otherwise */
    const char *index;   /**< the plugin index, likewise */
    const char *version; /**< the program's version, for --version */
    const char *summary; /**< one line on what it does, for --help */
    const struct nri_plugin_ops *ops; /**< the callback table */
    /** More options of the plugin; what the command line sets wins. Members that are zero have the
     * defaults of nri-app, where those differ from the library's: `dispatch` is
     * NRI_DISPATCH_WORKER, `log` the program's log, `stop_grace_ms` is 600, which is also the most,
     * and `reconnect` is always on but with --no-reconnect. NULL: all zero. */
    const struct nri_plugin_options *plugin;
    const struct nri_app_field *fields; /**< of the configuration; `field_count` of them */
    /** Where the configuration is kept: filled before `on_start`, changed by a reload as a whole,
     * on the thread of the handlers, between two of them. The texts and lists of the old values are
     * freed then: work that was offloaded, requests that are pending, `metrics` and other threads
     * may not look at it, but at copies that a handler made. */
    void *config;
    /**
     * Looks at a whole new configuration before it is taken. `candidate` is laid out as `config`.
     * Not 0: it is refused, and the text given with nri_app_refuse() says why; at the start the
     * program ends with 2, a reload changes nothing. On the handlers' thread for a reload.
     */
    int (*check_config)(const void *candidate, void *user);
    /** A reload was taken, or what Configure brought (before the program's on_configure): `config`
     * has the new values. On the handlers' thread. An update of containers that is due may be sent
     * here (nri_plugin_update_containers(), with `queue` if the runtime may be away). */
    void (*on_reload)(nri_plugin *plugin, void *user);
    /** Before the plugin connects: 0, or the program ends with that code's text and 1. */
    int (*on_start)(nri_plugin *plugin, void *user);
    /** After the plugin has ended and is closed, or was not made or started after on_prepare had
     * succeeded: what that made is freed here. Not called when a handler, or on_stop itself, does
     * not return within a second of SIGTERM: then the process just ends. */
    void (*on_stop)(void *user);
    const struct nri_app_flag *flags; /**< options of the program's own; `flag_count` of them */
    /** More OpenMetrics text for /metrics, without "# EOF": NUL-terminated, freed with free(); NULL
     * for none. On the loop's thread, while handlers may run on theirs. */
    char *(*metrics)(void *user);
    void *user; /**< handed to handlers and to all of the above */
    /** Before the plugin is made, with `config` filled: sets what depends on it, such as `state`,
     * in `options`, a copy of `plugin` above. 0, or the program ends with that code's text and 1
     * (say more with nri_app_log()). */
    int (*on_prepare)(struct nri_plugin_options *options, void *user);
    const void *reserved_pointer; /**< must be NULL */
    uint64_t field_count;         /**< how many `fields` there are */
    uint64_t config_size;         /**< the size of `config` in bytes */
    uint64_t flag_count;          /**< how many `flags` there are */
    uint64_t field_size;          /**< sizeof(struct nri_app_field), if there are fields */
    uint64_t flag_size;           /**< sizeof(struct nri_app_flag), if there are flags */
    uint64_t reserved[3];         /**< must be 0 */
};
/** Fills options with zeros and their size. Since 0.1.0. */
NRI_API void nri_app_options_init(struct nri_app_options *options, size_t size);

/**
 * Runs a plugin from its command line to its end. Returns what main() is to return: 0 after SIGTERM
 * or SIGINT, 1 after a failure, 2 for a command line or configuration that is wrong. Once in a
 * program. Since 0.1.0.
 */
NRI_API int nri_app_main(int argc, char **argv, const struct nri_app_options *options);

/** For `check_config`: keeps a copy of why it refuses, cut after 1000 bytes; returns
 * NRI_E_INVALID. Since 0.1.0. */
NRI_API int nri_app_refuse(const char *text);

/** The program's log as a log sink, for what takes one of its own (struct nri_state_options);
 * `user` is not looked at. Any thread. Since 0.1.0. */
NRI_API void nri_app_log_record(void *user, const nri_log_record *record);

/** Writes a record to the program's log, as the library's own are; any thread. Since 0.1.0. */
NRI_API void nri_app_log(enum nri_log_level level, const char *text);

NRI_END_DECLS

#endif
