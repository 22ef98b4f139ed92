/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of a test's own, with files like those of the kernel. */
#ifndef TEST_TREE_H
#define TEST_TREE_H

struct tree {
    char path[64];
};

/* Fixture functions of cmocka: *state is the tree. */
int tree_make(void **state);
int tree_remove(void **state);
/* Writes a line to a file below the tree, and makes its directories. */
void tree_put(const struct tree *tree, const char *file, const char *text);

#endif
