/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All chunks are one list, and its head is the current chunk. A piece larger than the next chunk
 * would be gets a chunk of its own, behind the head, so that the room left in the head is not lost
 * and one huge piece is not what a reset keeps.
 */
#include "base/arena.h"

#include <string.h>

#include <nri/error.h>

#include "base/text.h"

#define DEFAULT_CHUNK 4096
#define LARGEST_CHUNK (1024 * 1024)

struct nri_arena_chunk {
    struct nri_arena_chunk *next;
    size_t size; /* with this header */
    _Alignas(max_align_t) uint8_t bytes[];
};

#define HEADER sizeof(struct nri_arena_chunk)

static size_t round_down(size_t bytes)
{
    return bytes & ~(NRI_ARENA_ALIGN - 1);
}

void nri_arena_init(struct nri_arena *arena, const struct nri_alloc *alloc, size_t chunk_size,
                    size_t limit)
{
    *arena = (struct nri_arena){
        .alloc = *alloc,
        .chunk_size = chunk_size == 0 ? DEFAULT_CHUNK : chunk_size,
        .limit = limit,
    };
}

void nri_arena_expect(struct nri_arena *arena, size_t bytes)
{
    /* Larger ones would make all later chunks as large. */
    if (bytes != 0 && bytes <= LARGEST_CHUNK - HEADER)
        arena->chunk_size = HEADER + bytes;
}

/* Makes `chunk`, which may be NULL, the current one, all of it free. */
static void make_current(struct nri_arena *arena, struct nri_arena_chunk *chunk)
{
    arena->current = chunk;
    arena->next = chunk == NULL ? NULL : chunk->bytes;
    arena->end = chunk == NULL ? NULL : chunk->bytes + round_down(chunk->size - HEADER);
}

void nri_arena_reset(struct nri_arena *arena)
{
    struct nri_arena_chunk *chunk = arena->current;
    while (chunk != NULL) {
        struct nri_arena_chunk *next = chunk->next;
        if (chunk != arena->first)
            nri_alloc_release(&arena->alloc, chunk);
        chunk = next;
    }
    if (arena->first != NULL)
        arena->first->next = NULL;
    make_current(arena, arena->first);
    arena->taken = arena->first == NULL ? 0 : arena->first->size;
    arena->failure = 0;
}

void nri_arena_fini(struct nri_arena *arena)
{
    nri_arena_reset(arena);
    nri_alloc_release(&arena->alloc, arena->first);
    arena->first = NULL;
    make_current(arena, NULL);
    arena->taken = 0;
}

static void *fail(struct nri_arena *arena, int failure)
{
    arena->failure = failure;
    return NULL;
}

static struct nri_arena_chunk *take_chunk(struct nri_arena *arena, size_t size)
{
    struct nri_arena_chunk *chunk = nri_alloc_raw(&arena->alloc, size);
    if (chunk == NULL)
        return fail(arena, NRI_E_NOMEM);
    chunk->next = NULL;
    chunk->size = size;
    arena->taken += size;
    return chunk;
}

/* What the next chunk would be if no limit were near: double the current one. */
static size_t usual_size(const struct nri_arena *arena)
{
    if (arena->first == NULL || arena->chunk_size >= LARGEST_CHUNK)
        return arena->chunk_size;
    size_t size = arena->current->size * 2;
    return size > LARGEST_CHUNK ? LARGEST_CHUNK : size;
}

static void push_chunk(struct nri_arena *arena, struct nri_arena_chunk *chunk)
{
    chunk->next = arena->current;
    if (arena->first == NULL)
        arena->first = chunk;
    make_current(arena, chunk);
}

/* There is no memory but what was set aside, if it was. */
static void *from_spare(struct nri_arena *arena, size_t piece, int failure)
{
    struct nri_arena_chunk *spare = arena->spare;
    if (spare == NULL || piece > spare->size - HEADER)
        return fail(arena, failure);
    arena->spare = NULL;
    push_chunk(arena, spare);
    arena->next += piece;
    return spare->bytes;
}

void *nri_arena_alloc_slow(struct nri_arena *arena, size_t bytes)
{
    if (bytes == 0)
        return nri_arena_alloc(arena, 1); /* a place of its own, as malloc(0) may give */
    if (bytes > SIZE_MAX - HEADER - (NRI_ARENA_ALIGN - 1))
        return fail(arena, NRI_E_LIMIT);
    size_t piece = round_down(bytes + (NRI_ARENA_ALIGN - 1));
    size_t left = arena->limit > arena->taken ? arena->limit - arena->taken : 0;
    size_t size = usual_size(arena);
    bool own = HEADER + piece > size;
    if (own)
        size = HEADER + piece;
    else if (size > left)
        size = left;
    bool fits = HEADER + piece <= left;
    struct nri_arena_chunk *chunk = fits ? take_chunk(arena, size) : NULL;
    if (chunk == NULL)
        return from_spare(arena, piece, fits ? NRI_E_NOMEM : NRI_E_LIMIT);
    if (!own) {
        push_chunk(arena, chunk);
        arena->next += piece;
    } else if (arena->current == NULL) {
        arena->current = chunk; /* with next and end NULL: there is no room in it */
    } else {
        chunk->next = arena->current->next;
        arena->current->next = chunk;
    }
    return chunk->bytes;
}

bool nri_arena_reserve(struct nri_arena *arena, size_t bytes)
{
    if (bytes <= (size_t)(arena->end - arena->next))
        return true;
    size_t left = arena->limit > arena->taken ? arena->limit - arena->taken : 0;
    if (left < HEADER || bytes > round_down(left - HEADER))
        return fail(arena, NRI_E_LIMIT) != NULL;
    arena->spare = take_chunk(arena, HEADER + round_down(bytes + (NRI_ARENA_ALIGN - 1)));
    return arena->spare != NULL;
}

void nri_arena_unreserve(struct nri_arena *arena)
{
    if (arena->spare == NULL)
        return;
    arena->taken -= arena->spare->size;
    nri_alloc_release(&arena->alloc, arena->spare);
    arena->spare = NULL;
}

void *nri_arena_zero(struct nri_arena *arena, size_t bytes)
{
    void *piece = nri_arena_alloc(arena, bytes);
    if (piece != NULL)
        memset(piece, 0, bytes);
    return piece;
}

void *nri_arena_array(struct nri_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return fail(arena, NRI_E_LIMIT);
    return nri_arena_alloc(arena, count * size);
}

/* Room for a text, with its length in front and a NUL behind. */
static inline char *make_text(struct nri_arena *arena, size_t length)
{
    const uint32_t stored = (uint32_t)length;
    uint8_t *piece = nri_arena_alloc(arena, NRI_TEXT_HEADER + length + 1);
    if (piece == NULL)
        return NULL;
    memcpy(piece, &stored, sizeof stored);
    piece[NRI_TEXT_HEADER + length] = '\0';
    return (char *)piece + NRI_TEXT_HEADER;
}

char *nri_arena_text2(struct nri_arena *arena, const char *a, size_t a_length, const char *b,
                      size_t b_length)
{
    if (a_length > NRI_TEXT_LARGEST || b_length > NRI_TEXT_LARGEST - a_length)
        return fail(arena, NRI_E_LIMIT);
    char *text = make_text(arena, a_length + b_length);
    if (text != NULL && a_length != 0)
        memcpy(text, a, a_length);
    if (text != NULL && b_length != 0)
        memcpy(text + a_length, b, b_length);
    return text;
}

char *nri_arena_text(struct nri_arena *arena, const char *text, size_t length)
{
    if (length > NRI_TEXT_LARGEST)
        return fail(arena, NRI_E_LIMIT);
    char *copy = make_text(arena, length);
    if (copy != NULL && length != 0)
        memcpy(copy, text, length);
    return copy;
}

/* ---- as an allocator: each block carries its size in front, for resizing ---- */

#define BLOCK_HEADER NRI_ARENA_ALIGN

static void *block_allocate(size_t bytes, void *user)
{
    struct nri_arena *arena = user;
    if (bytes > SIZE_MAX - BLOCK_HEADER)
        return fail(arena, NRI_E_LIMIT);
    uint8_t *piece = nri_arena_alloc(arena, BLOCK_HEADER + bytes);
    if (piece == NULL)
        return NULL;
    memcpy(piece, &bytes, sizeof bytes);
    return piece + BLOCK_HEADER;
}

static void *block_resize(void *block, size_t bytes, void *user)
{
    if (block == NULL)
        return block_allocate(bytes, user);
    size_t old;
    memcpy(&old, (uint8_t *)block - BLOCK_HEADER, sizeof old);
    if (bytes <= old)
        return block; /* its recorded size stays, so that it can grow back in place */
    void *copy = block_allocate(bytes, user);
    if (copy != NULL)
        memcpy(copy, block, old);
    return copy;
}

static void block_release(void *block, void *user)
{
    (void)block;
    (void)user;
}

void nri_arena_allocator(struct nri_arena *arena, struct nri_alloc *alloc)
{
    *alloc = (struct nri_alloc){arena, block_allocate, block_resize, block_release};
}
