/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Error codes and error texts.
 *
 * Functions return 0 or one of the negative codes below. Where a handle exists, its last error has
 * the text (nri_plugin_last_error()); constructors hand out an nri_error. A local stop is no error:
 * it is 0.
 */
#ifndef NRI_ERROR_H
#define NRI_ERROR_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** The codes. Their numbers never change; new ones are added at the end. Since 0.1.0. */
enum nri_error_code {
    NRI_OK = 0,
    NRI_E_NOMEM = -1,   /**< out of memory */
    NRI_E_INVALID = -2, /**< an argument is not valid */
    NRI_E_ABI = -3,     /**< a structure's size or reserved members do not fit this library */
    NRI_E_STATE = -4,   /**< not possible in the handle's present state */
    NRI_E_EVENT = -5,   /**< the event does not allow this (say, an adjustment in StartContainer) */
    NRI_E_NOT_FOUND = -6,      /**< the socket, file or key does not exist */
    NRI_E_PERMISSION = -7,     /**< access denied */
    NRI_E_REFUSED = -8,        /**< nobody listens on the socket */
    NRI_E_ADDR_IN_USE = -9,    /**< somebody listens on the socket already */
    NRI_E_PATH_TOO_LONG = -10, /**< a socket path over 107 bytes */
    NRI_E_NOT_SOCKET = -11,    /**< the path or descriptor is no unix stream socket */
    NRI_E_CLOSED =
        -12, /**< the peer closed the connection, or it was closed under a pending call */
    NRI_E_TIMEOUT = -13,    /**< a time-out expired */
    NRI_E_NO_SERVICE = -14, /**< not connected and configured: before the start or after the stop */
    NRI_E_LIMIT =
        -15, /**< a limit was exceeded: the text names the limit, its value and what was found */
    NRI_E_PROTOCOL = -16,    /**< the peer broke the protocol */
    NRI_E_UNSUPPORTED = -17, /**< the peer or this build does not know what was asked for */
    NRI_E_REJECTED = -18,    /**< the peer or a handler refused */
    NRI_E_LATE = -19,        /**< too late: the request was already answered */
    NRI_E_DEADLOCK = -20,    /**< the call would wait for itself */
    NRI_E_UTF8 = -21,        /**< text that is not UTF-8 or holds a NUL */
    NRI_E_RANGE = -22,       /**< a number or index out of range */
    NRI_E_SYNTAX = -23,      /**< text that cannot be parsed; the error has the position */
    NRI_E_IO = -24,          /**< another error of the operating system, named in the text */
    NRI_E_CONFLICT = -25,    /**< two plugins set the same thing */
    NRI_E_INTERNAL = -26,    /**< a fault of libnri or of a handler that gave no answer */
    NRI_E_BUSY = -27         /**< too much is in flight; try again later */
};

/**
 * The text of a code, in English.
 * @param code 0 or a negative code; anything else gives a text that says it is unknown
 * @return static text, never NULL
 * Thread-safe. Since 0.1.0.
 */
NRI_API const char *nri_strerror(int code);

/**
 * The name of a code, such as "NRI_E_TIMEOUT".
 * @param code 0 or a negative code
 * @return static text, never NULL ("NRI_E_?" for an unknown code)
 * Thread-safe. Since 0.1.0.
 */
NRI_API const char *nri_error_name(int code);

/**
 * Whether a code is always about a connection: it ended, or could not be made.
 *
 * Other codes are mostly about one call or request. That says nothing about a run: when
 * nri_plugin_run() returns one of those (NRI_E_TIMEOUT, NRI_E_REJECTED, NRI_E_LIMIT,
 * NRI_E_UNSUPPORTED, NRI_E_NOMEM), the run has ended all the same.
 * @param code a code
 * Thread-safe. Since 0.1.0.
 */
NRI_API bool nri_error_is_fatal(int code);

/**
 * Whether the same call may succeed later with no change by the caller (the peer is away, busy or
 * slow).
 * @param code a code
 * Thread-safe. Since 0.1.0.
 */
NRI_API bool nri_error_is_retriable(int code);

/**
 * The code of an error object.
 * @param error the error; NULL gives NRI_OK
 * Since 0.1.0.
 */
NRI_API int nri_error_get_code(const nri_error *error);

/**
 * The text of an error object: what is wrong, where, and what would be right.
 * @param error the error; NULL gives ""
 * @return text that lives as long as the error, never NULL, without a newline
 * Since 0.1.0.
 */
NRI_API const char *nri_error_get_text(const nri_error *error);

/**
 * The line of the text that an error is about, such as of the JSON that was read.
 * @param error the error
 * @return the line, from 1; 0 for an error that is about no place in a text, and for NULL
 * Since 0.1.0.
 */
NRI_API size_t nri_error_line(const nri_error *error);

/**
 * The column in that line. (The offset in a single value, such as of a cpuset or a quantity, is in
 * the text alone.)
 * @param error the error
 * @return the column, in bytes from 1; 0 where nri_error_line() is 0
 * Since 0.1.0.
 */
NRI_API size_t nri_error_column(const nri_error *error);

/**
 * Frees an error that a constructor handed out.
 * @param error the error; NULL is ignored
 * @return NULL, so that `e = nri_error_free(e)` leaves no dangling pointer
 * Since 0.1.0.
 */
NRI_API nri_error *nri_error_free(nri_error *error);

NRI_END_DECLS

#endif
