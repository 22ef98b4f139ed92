/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The length of a text that a reader returned.
 */
#ifndef NRI_TEXT_H
#define NRI_TEXT_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/**
 * The length of a text that a libnri reader returned, in bytes, in constant time.
 *
 * A runtime may send text with a NUL byte in it; strlen() stops there, this function does not.
 * Readers hand out texts with their length stored in front, so only their pointers may be given
 * here:
 * @code
 *     size_t right = nri_text_length(nri_pod_name(pod));
 *     size_t wrong = nri_text_length("a literal"); // reads in front of the literal: undefined
 *     size_t wrong2 = nri_text_length(nri_pod_name(pod) + 1); // not the start of the text:
 * undefined
 * @endcode
 * @param text a pointer that a reader of nri_pod, nri_container, nri_mount, nri_resources or
 * nri_request returned
 * @return the length, without the terminating NUL
 * Lives as `text` does; same thread rules as the reader. Since 0.1.0.
 */
NRI_API size_t nri_text_length(const char *text);

NRI_END_DECLS

#endif
