/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Events: what a runtime tells its plugins, and masks of them.
 */
#ifndef NRI_EVENT_H
#define NRI_EVENT_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/**
 * The events. 1 to 14 are NRI's (enum Event) and can stand in a mask; those from 64 on are the
 * other calls of the NRI service Plugin and the library's own. Since 0.1.0.
 */
enum nri_event {
    NRI_EVENT_UNKNOWN = 0,
    NRI_EVENT_RUN_POD_SANDBOX = 1,
    NRI_EVENT_STOP_POD_SANDBOX = 2,
    NRI_EVENT_REMOVE_POD_SANDBOX = 3,
    NRI_EVENT_CREATE_CONTAINER = 4,
    NRI_EVENT_POST_CREATE_CONTAINER = 5,
    NRI_EVENT_START_CONTAINER = 6,
    NRI_EVENT_POST_START_CONTAINER = 7,
    NRI_EVENT_UPDATE_CONTAINER = 8,
    NRI_EVENT_POST_UPDATE_CONTAINER = 9,
    NRI_EVENT_STOP_CONTAINER = 10,
    NRI_EVENT_REMOVE_CONTAINER = 11,
    NRI_EVENT_UPDATE_POD_SANDBOX = 12,            /**< since NRI 0.10 */
    NRI_EVENT_POST_UPDATE_POD_SANDBOX = 13,       /**< since NRI 0.10 */
    NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT = 14, /**< since NRI 0.10 */

    NRI_EVENT_CONFIGURE = 64,
    NRI_EVENT_SYNCHRONIZE = 65,
    NRI_EVENT_SYNCHRONIZE_PART = 66,
    NRI_EVENT_SHUTDOWN = 67,
    NRI_EVENT_CONNECTED = 68,   /**< the library's own: a connection to the runtime stands */
    NRI_EVENT_DISCONNECTED = 69 /**< the library's own: that connection has ended */
};

/** The bit of an event (1 to 14) in a mask, as NRI counts them. For C constants; nri_event_bit() is
 * the function. */
#define NRI_EVENT_BIT(event) ((uint32_t)1 << ((event)-1))
/** The 11 events that every NRI runtime knows. */
#define NRI_EVENTS_CLASSIC ((uint32_t)0x07ff)
/** All 14 events. */
#define NRI_EVENTS_ALL ((uint32_t)0x3fff)

/** The bit of an event in a mask; 0 for one that cannot stand in a mask. Thread-safe. Since 0.1.0.
 */
NRI_API uint32_t nri_event_bit(enum nri_event event);

/**
 * The name of an event as NRI's services spell it, such as "RunPodSandbox" ("Unknown" for none
 * such). Static text, never NULL. Thread-safe. Since 0.1.0.
 */
NRI_API const char *nri_event_name(enum nri_event event);

/**
 * Reads an event mask from text: event names separated by commas, in any case, with blanks allowed;
 * also the groups "all", "pod" (or "podsandbox": every event with "pod" in its name) and
 * "container" (likewise).
 *
 * @param text the text
 * @param mask set to the mask; left alone on an error
 * @param error set to an error that names the word that is no event; may be NULL
 * @return 0, NRI_E_INVALID (a NULL argument), NRI_E_SYNTAX (no such event, or none at all),
 * NRI_E_NOMEM Thread-safe. Since 0.1.0.
 */
NRI_API int nri_event_mask_parse(const char *text, uint32_t *mask, nri_error **error);

/**
 * Writes an event mask as text: names separated by commas, as nri_event_mask_parse() reads them.
 *
 * @param mask the mask; unknown bits are written as "bit N"
 * @param text where to write, always NUL-terminated if `size` is not 0
 * @param size the room there, in bytes
 * @return the length of the whole text in bytes, without the NUL, as snprintf() does
 * Thread-safe. Since 0.1.0.
 */
NRI_API size_t nri_event_mask_format(uint32_t mask, char *text, size_t size);

NRI_END_DECLS

#endif
