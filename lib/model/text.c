/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"
#include "wire/message.h"

size_t nri_text_length(const char *text)
{
    return text == NULL ? 0 : nri_message_text_length(text);
}
