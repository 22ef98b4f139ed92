/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/answer.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/json_value.h"

int nri_oci_answer_json(nri_oci_answer *answer, const char *json, size_t length)
{
    if (answer == NULL || json == NULL)
        return NRI_E_INVALID;
    if (length > answer->most)
        return answer->failure = NRI_E_LIMIT;
    answer->json = nri_arena_text(answer->arena, json, length);
    answer->length = length;
    if (answer->json == NULL)
        return answer->failure = answer->arena->failure;
    return 0;
}

int nri_oci_answer_fail(nri_oci_answer *answer, int code, const char *text)
{
    if (!nri_error_is_code(code) || code == 0)
        code = NRI_E_INTERNAL;
    if (answer != NULL && text != NULL) {
        const int length = snprintf(answer->text, sizeof answer->text, "%s", text);
        /* Cut where UTF-8 allows it, and made UTF-8 where it is not. */
        if (length >= (int)sizeof answer->text)
            answer->text[nri_utf8_cut(answer->text, sizeof answer->text - 1)] = '\0';
        nri_text_make_line(answer->text, strlen(answer->text));
    }
    return code;
}

void nri_oci_answer_begin(struct nri_oci_answer *answer, struct nri_oci_edit *edit)
{
    *answer = (struct nri_oci_answer){
        .arena = edit->source.arena,
        .most = edit->settings->text.max_bytes,
    };
}

void nri_oci_answer_end(const struct nri_oci_answer *answer, struct nri_oci_edit *edit,
                        const struct nri_oci_where *where, int code)
{
    if (code == 0)
        code = answer->failure;
    if (code == 0)
        return;
    if (code > 0 || !nri_error_is_code(code))
        code = NRI_E_INTERNAL;
    nri_oci_fail(edit, code, where, "%s",
                 answer->text[0] != '\0' ? answer->text : nri_strerror(code));
}

struct nri_json *nri_oci_answer_parse(const struct nri_oci_answer *answer,
                                      struct nri_oci_edit *edit, const char *name)
{
    struct nri_json *value = NULL;
    if (edit->failure != 0)
        return NULL;
    edit->failure = nri_json_parse(edit->source.arena, answer->json, answer->length,
                                   &edit->settings->limits, name, &value, edit->source.error);
    if (edit->failure == 0 && nri_json_type(value) != NRI_JSON_OBJECT)
        edit->failure = nri_error_set_at(
            edit->source.error, NRI_E_SYNTAX, name, nri_json_line(value), nri_json_column(value),
            "must be an object, found %s", nri_json_value_shown(value));
    return edit->failure == 0 ? value : NULL;
}
