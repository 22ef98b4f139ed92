/* SPDX-License-Identifier: Apache-2.0 */
#include "near.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define LONGEST 63

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t fold(char folded[LONGEST + 1], const char *word)
{
    size_t length = 0;
    for (; *word != '\0' && length < LONGEST; word++) {
        if (*word != '_' && *word != '-')
            folded[length++] = (char)tolower((unsigned char)*word);
    }
    folded[length] = '\0';
    return length;
}

size_t near_distance(const char *a, const char *b)
{
    char from[LONGEST + 1], to[LONGEST + 1];
    size_t rows[3][LONGEST + 1];
    const size_t from_length = fold(from, a), to_length = fold(to, b);
    for (size_t j = 0; j <= to_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= from_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= to_length; j++) {
            const size_t cost = from[i - 1] == to[j - 1] ? 0 : 1;
            row[j] = least(least(row[j - 1] + 1, above[j] + 1), above[j - 1] + cost);
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[from_length % 3][to_length];
}

void near_begin(struct near *near, const char *word)
{
    *near = (struct near){.word = word, .distance = SIZE_MAX};
}

void near_offer(struct near *near, const char *candidate)
{
    const size_t distance = near_distance(near->word, candidate);
    if (distance < near->distance) {
        near->distance = distance;
        near->best = candidate;
    }
}

const char *near_end(const struct near *near)
{
    if (near->best == NULL)
        return NULL;
    const size_t length = strlen(near->best);
    return near->distance <= (length <= 4 ? 1 : length / 3 + 1) ? near->best : NULL;
}
