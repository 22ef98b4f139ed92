/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

int tree_make(void **state)
{
    struct tree *tree = calloc(1, sizeof *tree);
    assert_non_null(tree);
    snprintf(tree->path, sizeof tree->path, "%s", "/tmp/nri-tree-XXXXXX");
    assert_non_null(mkdtemp(tree->path));
    *state = tree;
    return 0;
}

static int remove_one(const char *path, const struct stat *what, int flag, struct FTW *walk)
{
    (void)what, (void)flag, (void)walk;
    return remove(path);
}

int tree_remove(void **state)
{
    struct tree *tree = *state;
    nftw(tree->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(tree);
    return 0;
}

void tree_put(const struct tree *tree, const char *file, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", tree->path, file);
    for (char *end = path + 1; (end = strchr(end, '/')) != NULL; end++) {
        *end = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *end = '/';
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%s\n", text);
    assert_int_equal(fclose(out), 0);
}
