/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin's name and index, by NRI's rules. */
#include <string.h>

#include "model/model.h"
#include "model/quote.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
           (c != '\0' && strchr("_.+-", c) != NULL);
}

int nri_identity_check_name(const char *name, struct nri_error *error)
{
    struct nri_quote quote;
    size_t length = 0;
    while (name != NULL && is_name_character(name[length]))
        length++;
    if (length > 0 && name[length] == '\0')
        return 0;
    if (name == NULL || name[0] == '\0')
        return nri_error_set(error, NRI_E_INVALID, "plugin name %s: must not be empty",
                             nri_quote(&quote, name));
    return nri_error_set(
        error, NRI_E_INVALID,
        "plugin name %s: must be letters, digits, \"_\", \".\", \"+\" and \"-\" only",
        nri_quote(&quote, name));
}

int nri_identity_check_index(const char *index, struct nri_error *error)
{
    struct nri_quote quote;
    if (index != NULL && is_digit(index[0]) && is_digit(index[1]) && index[2] == '\0')
        return 0;
    return nri_error_set(error, NRI_E_INVALID,
                         "plugin index %s: must be 2 digits, \"00\" (called first) to \"99\"",
                         nri_quote(&quote, index));
}

bool nri_identity_from_program(const char *program, char index_out[3], const char **name)
{
    if (program == NULL)
        program = "";
    const char *slash = strrchr(program, '/');
    const char *base = slash != NULL ? slash + 1 : program;
    bool formed = is_digit(base[0]) && is_digit(base[1]) && base[2] == '-' && base[3] != '\0';
    index_out[0] = '\0';
    *name = base;
    if (formed) {
        memcpy(index_out, base, 2);
        index_out[2] = '\0';
        *name = base + 3;
    }
    return formed;
}
