/* SPDX-License-Identifier: Apache-2.0 */
#include "model/cpuset.h"

#include <string.h>

#define BITS NRI_CPUSET_WORD_BITS

static const nri_cpuset empty_set = {.count = 0};

static const nri_cpuset *view(const nri_cpuset *set)
{
    return set != NULL ? set : &empty_set;
}

/* Words past the end read as empty. */
static uint64_t word_at(const nri_cpuset *set, size_t index)
{
    return index < set->count ? set->words[index] : 0;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

int nri_cpuset_new(nri_cpuset **set, const struct nri_allocator *allocator)
{
    struct nri_alloc alloc;
    if (set == NULL)
        return NRI_E_INVALID;
    *set = NULL;
    int code = nri_alloc_resolve(&alloc, allocator);
    if (code != 0)
        return code;
    nri_cpuset *made = nri_alloc_zero(&alloc, sizeof *made);
    if (made == NULL)
        return NRI_E_NOMEM;
    made->alloc = alloc;
    *set = made;
    return 0;
}

nri_cpuset *nri_cpuset_free(nri_cpuset *set)
{
    if (set != NULL) {
        struct nri_alloc alloc = set->alloc;
        nri_alloc_release(&alloc, set->words);
        nri_alloc_release(&alloc, set);
    }
    return NULL;
}

/* Room for so many words; the new ones are empty. */
static int grow(nri_cpuset *set, size_t count)
{
    if (count <= set->count)
        return 0;
    uint64_t *words = nri_alloc_resize(&set->alloc, set->words, count * sizeof *words);
    if (words == NULL)
        return NRI_E_NOMEM;
    memset(words + set->count, 0, (count - set->count) * sizeof *words);
    set->words = words;
    set->count = count;
    return 0;
}

int nri_cpuset_reserve(nri_cpuset *set, unsigned number)
{
    return grow(set, number / BITS + 1);
}

void nri_cpuset_fill(nri_cpuset *set, unsigned first, unsigned last)
{
    for (unsigned index = first / BITS; index <= last / BITS; index++) {
        uint64_t bits = UINT64_MAX;
        if (index == first / BITS)
            bits &= UINT64_MAX << first % BITS;
        if (index == last / BITS)
            bits &= UINT64_MAX >> (BITS - 1 - last % BITS);
        set->words[index] |= bits;
    }
}

int nri_cpuset_add(nri_cpuset *set, unsigned number)
{
    if (set == NULL)
        return NRI_E_INVALID;
    if (number > NRI_CPUSET_LARGEST)
        return NRI_E_RANGE;
    int code = nri_cpuset_reserve(set, number);
    if (code == 0)
        nri_cpuset_fill(set, number, number);
    return code;
}

int nri_cpuset_remove(nri_cpuset *set, unsigned number)
{
    if (set == NULL)
        return NRI_E_INVALID;
    if (number / BITS < set->count)
        set->words[number / BITS] &= ~(UINT64_C(1) << number % BITS);
    return 0;
}

int nri_cpuset_clear(nri_cpuset *set)
{
    if (set == NULL)
        return NRI_E_INVALID;
    for (size_t i = 0; i < set->count; i++)
        set->words[i] = 0;
    return 0;
}

/* How many words hold something. */
static size_t used_words(const nri_cpuset *set)
{
    size_t count = set->count;
    while (count > 0 && set->words[count - 1] == 0)
        count--;
    return count;
}

int nri_cpuset_copy(nri_cpuset *set, const nri_cpuset *from)
{
    if (set == NULL)
        return NRI_E_INVALID;
    from = view(from);
    int code = grow(set, used_words(from));
    for (size_t i = 0; code == 0 && i < set->count; i++)
        set->words[i] = word_at(from, i);
    return code;
}

int nri_cpuset_union(nri_cpuset *set, const nri_cpuset *other)
{
    if (set == NULL)
        return NRI_E_INVALID;
    other = view(other);
    int code = grow(set, used_words(other));
    for (size_t i = 0; code == 0 && i < set->count; i++)
        set->words[i] |= word_at(other, i);
    return code;
}

int nri_cpuset_minus(nri_cpuset *set, const nri_cpuset *other)
{
    if (set == NULL)
        return NRI_E_INVALID;
    other = view(other);
    for (size_t i = 0; i < set->count; i++)
        set->words[i] &= ~word_at(other, i);
    return 0;
}

int nri_cpuset_intersect(nri_cpuset *set, const nri_cpuset *other)
{
    if (set == NULL)
        return NRI_E_INVALID;
    other = view(other);
    for (size_t i = 0; i < set->count; i++)
        set->words[i] &= word_at(other, i);
    return 0;
}

bool nri_cpuset_contains(const nri_cpuset *set, unsigned number)
{
    return (word_at(view(set), number / BITS) >> number % BITS & 1) != 0;
}

bool nri_cpuset_includes(const nri_cpuset *set, const nri_cpuset *part)
{
    set = view(set);
    part = view(part);
    for (size_t i = 0; i < part->count; i++) {
        if ((part->words[i] & ~word_at(set, i)) != 0)
            return false;
    }
    return true;
}

bool nri_cpuset_equal(const nri_cpuset *a, const nri_cpuset *b)
{
    a = view(a);
    b = view(b);
    for (size_t i = 0; i < larger(a->count, b->count); i++) {
        if (word_at(a, i) != word_at(b, i))
            return false;
    }
    return true;
}

size_t nri_cpuset_count(const nri_cpuset *set)
{
    size_t count = 0;
    set = view(set);
    for (size_t i = 0; i < set->count; i++) {
        /* Each step takes the lowest bit away. */
        for (uint64_t word = set->words[i]; word != 0; word &= word - 1)
            count++;
    }
    return count;
}

static unsigned lowest_bit(uint64_t word)
{
    unsigned bit = 0;
    for (unsigned half = BITS / 2; half > 0; half /= 2) {
        if ((word & ((UINT64_C(1) << half) - 1)) == 0) {
            word >>= half;
            bit += half;
        }
    }
    return bit;
}

bool nri_cpuset_next(const nri_cpuset *set, unsigned from, unsigned *number)
{
    set = view(set);
    uint64_t behind = UINT64_MAX << from % BITS; /* of the first word */
    for (size_t i = from / BITS; i < set->count; i++, behind = UINT64_MAX) {
        uint64_t word = set->words[i] & behind;
        if (word == 0)
            continue;
        if (number != NULL)
            *number = (unsigned)i * BITS + lowest_bit(word);
        return true;
    }
    return false;
}

unsigned nri_cpuset_run_end(const nri_cpuset *set, unsigned number)
{
    uint64_t behind = UINT64_MAX << number % BITS; /* of the first word */
    for (size_t i = number / BITS; i < set->count; i++, behind = UINT64_MAX) {
        uint64_t missing = ~set->words[i] & behind;
        if (missing != 0)
            return (unsigned)i * BITS + lowest_bit(missing) - 1;
    }
    return (unsigned)set->count * BITS - 1;
}
