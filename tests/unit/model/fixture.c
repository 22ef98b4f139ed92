/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdio.h>

#include "wire/message.h"

const uint64_t fixture_seed[2] = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};

int fixture_setup(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    if (fixture == NULL)
        return -1;
    fail_alloc_init(&fixture->memory, NULL);
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    nri_arena_init(&fixture->arena, &alloc, 0, SIZE_MAX);
    *state = fixture;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    nri_arena_fini(&fixture->arena);
    size_t live = fixture->memory.live_blocks;
    free(fixture);
    return live == 0 ? 0 : -1;
}

void fixture_page_size(char out[8], int index)
{
    static const char *const units[] = {"KB", "MB", "GB"};
    assert_in_range(index, 0, FIXTURE_PAGE_SIZES - 1);
    snprintf(out, 8, "%d%s", 1 << index % 10, units[index / 10]);
}

char *fixture_text(struct fixture *fixture, const char *text, size_t length)
{
    char *made = nri_arena_text(&fixture->arena, text, length);
    assert_non_null(made);
    return made;
}

void *fixture_round_trip(struct fixture *fixture, const void *message)
{
    const ProtobufCMessage *from = message;
    struct nri_error error;
    ProtobufCMessage *to = NULL;
    size_t size = 0;
    nri_error_clear(&error);
    assert_int_equal(nri_message_size(from, &size, &error), 0);
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    nri_message_encode(from, bytes);
    int code = nri_message_decode(from->descriptor, bytes, size, &fixture->arena, fixture_seed, &to,
                                  &error);
    free(bytes);
    assert_string_equal(error.text, "");
    assert_int_equal(code, 0);
    return to;
}

const adjustment_message *fixture_adjustment(struct fixture *fixture,
                                             const nri_adjustment *adjustment)
{
    const adjustment_message *message = nri_adjustment_message(adjustment);
    assert_non_null(message);
    return fixture_round_trip(fixture, message);
}

nri_adjustment *fixture_make(struct fixture *fixture)
{
    nri_adjustment *adjustment = nri_adjustment_make(&fixture->arena, fixture_seed, 0, NULL);
    assert_non_null(adjustment);
    return adjustment;
}

void fixture_check_place(const nri_error *error, const char *name)
{
    const char *text = nri_error_get_text(error);
    const size_t length = strlen(name), line = nri_error_line(error);
    char place[128] = "";
    if (strncmp(text, name, length) != 0 || text[length] != ':' || text[length + 1] == ' ') {
        assert_int_equal(line, 0);
        assert_int_equal(nri_error_column(error), 0);
        return;
    }
    snprintf(place, sizeof place, "%s:%zu:%zu: ", name, line, nri_error_column(error));
    if (strncmp(text, place, strlen(place)) != 0)
        fail_msg("%s is not at the start of %s", place, text);
}
