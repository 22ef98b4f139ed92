/* SPDX-License-Identifier: Apache-2.0 */
/* oci-apply CONFIG ADJUSTMENT: applies an adjustment in NRI's JSON to a configuration, in its
 * place. */
#include <stdio.h>
#include <stdlib.h>

#include <nri/nri.h>

static int failed(nri_error *error)
{
    fprintf(stderr, "oci-apply: %s\n", nri_error_get_text(error));
    nri_error_free(error);
    return 1;
}

static size_t read_file(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    const size_t length = fread(text, 1, room, file);
    fclose(file);
    return length;
}

int main(int argc, char **argv)
{
    static char json[65536];
    nri_adjustment *adjustment = NULL;
    nri_error *error = NULL;
    if (argc != 3 || nri_adjustment_new(&adjustment, NULL) != 0)
        return 2;
    const size_t length = read_file(argv[2], json, sizeof json);
    int code = nri_adjustment_merge_json(adjustment, json, length, NULL, &error);
    if (code == 0)
        code = nri_oci_apply_adjustment_file(argv[1], argv[1], adjustment, NULL, &error);
    nri_adjustment_free(adjustment);
    return code == 0 ? 0 : failed(error);
}
