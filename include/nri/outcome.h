/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What became of an event: the merged result of all plugins, and the record of who did what.
 *
 * The callback of nri_runtime_call() gets an outcome, which lives during that call, and as long as
 * somebody holds a reference. Everything that a reader gives lives as long as the outcome. Readers
 * never fail, a text is never NULL, and a NULL outcome is an empty one. One thread at a time may
 * read it.
 */
#ifndef NRI_OUTCOME_H
#define NRI_OUTCOME_H

#include <nri/adjustment_read.h>
#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/event.h>
#include <nri/field.h>
#include <nri/update.h>

NRI_BEGIN_DECLS

/** Takes a reference. Any thread. Since 0.1.0. */
NRI_API nri_outcome *nri_outcome_ref(nri_outcome *outcome);
/** Gives a reference back. NULL is ignored. Returns NULL. Any thread. Since 0.1.0. */
NRI_API nri_outcome *nri_outcome_unref(nri_outcome *outcome);

/** The event. Since 0.1.0. */
NRI_API enum nri_event nri_outcome_event(const nri_outcome *outcome);
/**
 * 0 when the runtime may go on, else why it must not: NRI_E_REJECTED (a plugin or a validator
 * refused), NRI_E_CONFLICT (two plugins set the same), NRI_E_INVALID (a plugin asked for what is
 * not possible), NRI_E_UNSUPPORTED (a plugin adjusts a field of NRI_MERGE_UNSUPPORTED),
 * NRI_E_TIMEOUT and NRI_E_CLOSED (by failure policy), NRI_E_NOT_FOUND (a required plugin is
 * missing), NRI_E_LIMIT, NRI_E_NOMEM, NRI_E_STATE (the runtime was stopped). Since 0.1.0.
 */
NRI_API int nri_outcome_code(const nri_outcome *outcome);
/** The same in words, with the plugin's name; "" for 0. Since 0.1.0. */
NRI_API const char *nri_outcome_text(const nri_outcome *outcome);
/** The plugin ("NN-name") that made it fail; "" when none did. Since 0.1.0. */
NRI_API const char *nri_outcome_plugin(const nri_outcome *outcome);

/** CreateContainer: what all plugins together adjust, to be read with nri/adjustment_read.h and
 * applied, say, with nri/oci.h. Removals stand before what is set. NULL, which reads as
 * an empty one, for other events and failures. Since 0.1.0. */
NRI_API const nri_adjustment *nri_outcome_adjustment(const nri_outcome *outcome);
/** The updates of other containers, and evictions, that plugins ask for; NULL, which reads as an
 * empty list, when none may. Since 0.1.0. */
NRI_API const nri_updates *nri_outcome_updates(const nri_outcome *outcome);
/** UpdateContainer: the resources to apply to the container, those of the request with what plugins
 * changed. Never NULL; empty for other events and failures. Since 0.1.0. */
NRI_API const nri_resources *nri_outcome_resources(const nri_outcome *outcome);
/**
 * Who set something in the adjustment.
 * @param outcome the outcome
 * @param field the field (enum nri_field)
 * @param key its key, such as a variable's name; NULL or "" for fields without
 * @return the plugin ("NN-name"; several, separated by commas, of hooks), "" when nobody did. Since
 * 0.1.0.
 */
NRI_API const char *nri_outcome_owner(const nri_outcome *outcome, int field, const char *key);

/* ---- the record: a step for each plugin that was asked, in the order of their answers ---- */

/** How a step ended. Since 0.1.0. */
enum nri_step_result {
    NRI_STEP_ANSWERED = 0, /**< the plugin's answer counts */
    NRI_STEP_SKIPPED = 1,  /**< it failed, and the failure policy went on without it */
    NRI_STEP_FAILED = 2,   /**< it failed, and the request with it */
    NRI_STEP_QUEUED = 3    /**< it is being synchronised, and gets the event after that */
};
/** What a plugin did to one thing. Since 0.1.0. */
enum nri_change_action {
    NRI_CHANGE_SET = 0,      /**< it set what nobody had set in this request */
    NRI_CHANGE_REPLACED = 1, /**< it set what another had set (NRI_MERGE_LAST_WINS) */
    NRI_CHANGE_KEPT = 2,     /**< it set what was set to the same value (NRI_MERGE_DEDUP) */
    NRI_CHANGE_REMOVED = 3,  /**< it removed something */
    NRI_CHANGE_DROPPED = 4,  /**< with that, what another had set went */
    NRI_CHANGE_EVICTED = 5   /**< it was the first to want a container evicted: the key is its
                                  reason, the field NRI_FIELD_NONE */
};

/** How many steps there are. Since 0.1.0. */
NRI_API size_t nri_outcome_step_count(const nri_outcome *outcome);
/** The plugin of a step, "NN-name"; "" past the end. Since 0.1.0. */
NRI_API const char *nri_outcome_step_plugin(const nri_outcome *outcome, size_t step);
/** The event of a step: a validator's is ValidateContainerAdjustment. Since 0.1.0. */
NRI_API enum nri_event nri_outcome_step_event(const nri_outcome *outcome, size_t step);
/** How it ended. Since 0.1.0. */
NRI_API enum nri_step_result nri_outcome_step_result(const nri_outcome *outcome, size_t step);
/** The code of its failure; 0 when there is none. Since 0.1.0. */
NRI_API int nri_outcome_step_code(const nri_outcome *outcome, size_t step);
/** The failure in words; "" when there is none. Since 0.1.0. */
NRI_API const char *nri_outcome_step_text(const nri_outcome *outcome, size_t step);
/** From the sending of the request to its answer, in nanoseconds. Since 0.1.0. */
NRI_API uint64_t nri_outcome_step_latency(const nri_outcome *outcome, size_t step);
/** How long it waited for its turn with the plugin, in nanoseconds. Since 0.1.0. */
NRI_API uint64_t nri_outcome_step_wait(const nri_outcome *outcome, size_t step);
/** How many things the plugin changed. Since 0.1.0. */
NRI_API size_t nri_outcome_change_count(const nri_outcome *outcome, size_t step);
/**
 * One thing that the plugin changed.
 * @param outcome the outcome
 * @param step the step
 * @param change which one
 * @param field set to the field (enum nri_field); may be NULL
 * @param key set to its key, "" for none; may be NULL
 * @param container set to the id of the container that is updated, "" for the one that the event is
 * about; may be NULL
 * @param other set to the plugin that had set it before, "" for none; may be NULL
 * @param action set to what was done; may be NULL
 * @return false past the end, with the others set to 0 and "". Since 0.1.0.
 */
NRI_API bool nri_outcome_change_at(const nri_outcome *outcome, size_t step, size_t change,
                                   int *field, const char **key, const char **container,
                                   const char **other, enum nri_change_action *action);

/**
 * The record as JSON, one object: event, pod sandbox, container, code, text, and the steps.
 * @param outcome the outcome
 * @param allocator where the text's memory comes from; NULL for the C library
 * @param text set to the text, which nri_outcome_text_free() frees
 * @param length set to its length in bytes; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_NOMEM, NRI_E_LIMIT. Since 0.1.0.
 */
NRI_API int nri_outcome_json(const nri_outcome *outcome, const struct nri_allocator *allocator,
                             char **text, size_t *length) NRI_WARN_UNUSED;
/** The record as a table for people, a line a change. As nri_outcome_json(). Since 0.1.0. */
NRI_API int nri_outcome_table(const nri_outcome *outcome, const struct nri_allocator *allocator,
                              char **text, size_t *length) NRI_WARN_UNUSED;
/** Frees a text that one of these two made. NULL is ignored. Returns NULL. Since 0.1.0. */
NRI_API char *nri_outcome_text_free(char *text);

NRI_END_DECLS

#endif
