/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding: what the structures hold afterwards. What is refused is in test_malformed.c.
 */
#include "base/text.h"
#include "support.h"

typedef Nri__Pkg__Api__V1alpha1__Container Container;
typedef Nri__Pkg__Api__V1alpha1__CreateContainerRequest CreateContainerRequest;
typedef Nri__Pkg__Api__V1alpha1__User User;
typedef Nri__Pkg__Api__V1alpha1__LinuxResources LinuxResources;
typedef Nri__Pkg__Api__V1alpha1__LinuxContainer LinuxContainer;
typedef Nri__Pkg__Api__V1alpha1__FieldOwners FieldOwners;
typedef Nri__Pkg__Api__V1alpha1__OwningPlugins OwningPlugins;

#define MIB ((size_t)1 << 20)

static void assert_text(const char *text, const char *expected, size_t length)
{
    assert_int_equal(nri_message_text_length(text), length);
    assert_memory_equal(text, expected, length + 1); /* with the NUL behind */
}

static void test_nothing(void **state)
{
    (void)state;
    struct fixture f;
    int code;
    ProtobufCMessage *message = NULL;
    const uint64_t seed[2] = {1, 2};
    start(&f, MIB);
    code = nri_message_decode(NRI_TYPE(container), NULL, 0, &f.arena, seed, &message, NULL);
    assert_int_equal(code, 0);
    Container *c = (Container *)message;
    assert_ptr_equal(c->base.descriptor, NRI_TYPE(container));
    assert_ptr_equal(c->id, protobuf_c_empty_string);
    assert_int_equal(c->n_env, 0);
    assert_null(c->linux);
    assert_int_equal(c->state, 0);
    assert_int_equal(c->base.n_unknown_fields, 0);
    end(&f);
}

static void test_text_lengths(void **state)
{
    (void)state;
    struct fixture f;
    struct blob blob = {0};
    char text[300];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (char)('a' + i % 26);
    }
    for (size_t length = 0; length < sizeof text; length++) {
        blob.size = 0;
        put_data(&blob, 8, text, length);
        start(&f, MIB);
        Container *c = decode_ok(&f, NRI_TYPE(container), blob.bytes, blob.size);
        assert_int_equal(c->n_env, 1);
        assert_int_equal(nri_message_text_length(c->env[0]), length);
        assert_memory_equal(c->env[0], text, length);
        assert_int_equal(c->env[0][length], 0);
        if (length > 0) {
            assert_int_equal(nri_text_stored_length(c->env[0]), length);
        }
        end(&f);
    }
    assert_int_equal(nri_message_text_length(NULL), 0);
    assert_int_equal(nri_message_text_length(protobuf_c_empty_string), 0);
    blob_free(&blob);
}

/* A NUL is no end, and text beyond ASCII is text. */
static void test_nul_and_utf8_are_kept(void **state)
{
    (void)state;
    struct fixture f;
    struct blob blob = {0};
    static const char nul[] = "a\0b\0", first[] = "\0x", far[] = "na\xC3\xAFve \xF0\x9F\x90\xB3";
    put_data(&blob, 1, nul, sizeof nul - 1);
    put_data(&blob, 3, first, sizeof first - 1);
    put_text(&blob, 18, far);
    start(&f, MIB);
    Container *c = decode_ok(&f, NRI_TYPE(container), blob.bytes, blob.size);
    assert_text(c->id, nul, 4);
    assert_text(c->name, first, 2);
    assert_text(c->status_reason, far, strlen(far));
    assert_encodes(c, blob.bytes, blob.size);
    end(&f);
    blob_free(&blob);
}

static void test_numbers(void **state)
{
    (void)state;
    struct fixture f;
    struct blob blob = {0};
    put_tag(&blob, 4, 0);
    put_varint(&blob, 99); /* T52: a state that nobody knows yet */
    put_tag(&blob, 12, 0);
    put_varint(&blob, UINT64_C(0x1FFFFFFFF)); /* too long for pid: its low bits count */
    put_tag(&blob, 14, 0);
    put_varint(&blob, UINT64_MAX);
    put_tag(&blob, 17, 0);
    put_varint(&blob, UINT64_MAX); /* -1 */
    start(&f, MIB);
    Container *c = decode_ok(&f, NRI_TYPE(container), blob.bytes, blob.size);
    assert_int_equal(c->state, 99);
    assert_int_equal(c->pid, UINT32_MAX);
    assert_true(c->created_at == -1);
    assert_int_equal(c->exit_code, -1);
    end(&f);
    /* A number twice: the last counts. Too long a form of a small number is a number. */
    blob.size = 0;
    put(&blob, "\x60\x05\x60\x87\x80\x80\x80\x80\x80\x80\x80\x80\x00", 13);
    put(&blob, "\xE0\x80\x80\x00\x09", 5); /* and of a tag */
    start(&f, MIB);
    c = decode_ok(&f, NRI_TYPE(container), blob.bytes, blob.size);
    assert_int_equal(c->pid, 9);
    end(&f);
    blob_free(&blob);
}

/* Packed, not packed, and both: in order. */
static void test_repeated_numbers(void **state)
{
    (void)state;
    struct fixture f;
    struct blob blob = {0};
    put_data(&blob, 3, "\x01\x80\x02\x03", 4);
    put_tag(&blob, 3, 0);
    put_varint(&blob, 4);
    put_data(&blob, 3, "", 0);
    put_tag(&blob, 3, 0);
    put_varint(&blob, 5);
    for (uint8_t i = 6; i < 40; i++) {
        put_data(&blob, 3, &i, 1);
    }
    start(&f, MIB);
    User *user = decode_ok(&f, NRI_TYPE(user), blob.bytes, blob.size);
    assert_int_equal(user->n_additional_gids, 39);
    for (uint32_t i = 0; i < 39; i++) {
        assert_int_equal(user->additional_gids[i], i == 1 ? 256 : i + 1);
    }
    end(&f);
    blob_free(&blob);
}

/* Elements of two fields in turn: arrays grow many times. */
static void test_fields_in_turn(void **state)
{
    (void)state;
    struct fixture f;
    struct blob blob = {0};
    char text[32];
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "arg%d", i);
        put_text(&blob, 7, text);
        snprintf(text, sizeof text, "env%d", i);
        put_text(&blob, 8, text);
    }
    start(&f, 8 * MIB);
    Container *c = decode_ok(&f, NRI_TYPE(container), blob.bytes, blob.size);
    assert_int_equal(c->n_args, 3000);
    assert_int_equal(c->n_env, 3000);
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "arg%d", i);
        assert_string_equal(c->args[i], text);
        snprintf(text, sizeof text, "env%d", i);
        assert_string_equal(c->env[i], text);
    }
    end(&f);
    blob_free(&blob);
}

/* A singular message that comes in parts is one message. */
static void test_merged_messages(void **state)
{
    (void)state;
    struct fixture f;
    struct blob memory = {0}, resources = {0}, part = {0}, all = {0};
    /* limit=1, then limit absent and swap=2, then limit=3; a list goes on; a text is replaced. */
    for (unsigned i = 1; i <= 3; i++) {
        struct blob number = {0}, page = {0};
        put_tag(&number, 1, 0);
        put_varint(&number, i);
        memory.size = resources.size = part.size = 0;
        put_blob(&memory, i == 2 ? 3 : 1, &number);
        put_blob(&resources, 1, &memory);
        put_text(&page, 1, i == 1 ? "2MB" : "1GB");
        put_blob(&resources, 3, &page);
        put_blob(&part, 3, &resources);
        put_text(&part, 5, i == 1 ? "/first" : "/last");
        put_blob(&all, 11, &part);
        blob_free(&number);
        blob_free(&page);
    }
    start(&f, MIB);
    Container *c = decode_ok(&f, NRI_TYPE(container), all.bytes, all.size);
    const LinuxResources *r = c->linux->resources;
    assert_true(r->memory->limit->value == 3);
    assert_true(r->memory->swap->value == 2);
    assert_null(r->memory->kernel);
    assert_int_equal(r->n_hugepage_limits, 3);
    assert_string_equal(r->hugepage_limits[0]->page_size, "2MB");
    assert_string_equal(r->hugepage_limits[2]->page_size, "1GB");
    assert_string_equal(c->linux->cgroups_path, "/last");
    end(&f);
    blob_free(&memory);
    blob_free(&resources);
    blob_free(&part);
    blob_free(&all);
}

/* As a hostile peer would: the same message 200 000 times, with an entry of a map in each. The time
 * is that of the bytes. */
static void test_merging_is_linear(void **state)
{
    (void)state;
    struct fixture f;
    struct blob entry = {0}, linux_part = {0}, all = {0};
    for (unsigned i = 0; i < 200000; i++) {
        char key[16];
        entry.size = linux_part.size = 0;
        snprintf(key, sizeof key, "%u", i % 100000);
        put_text(&entry, 1, key);
        put_text(&entry, 2, i < 100000 ? "old" : "new");
        put_blob(&linux_part, 9, &entry);
        put_blob(&all, 11, &linux_part);
    }
    start(&f, 64 * MIB);
    Container *c = decode_ok(&f, NRI_TYPE(container), all.bytes, all.size);
    assert_int_equal(c->linux->n_sysctl, 100000);
    for (unsigned i = 0; i < 100000; i++) {
        assert_int_equal(strtoul(c->linux->sysctl[i]->key, NULL, 10), i);
        assert_string_equal(c->linux->sysctl[i]->value, "new");
    }
    end(&f);
    blob_free(&entry);
    blob_free(&linux_part);
    blob_free(&all);
}

static void put_entry(struct blob *blob, uint32_t field, const char *key, const char *value)
{
    struct blob entry = {0};
    if (key != NULL) {
        put_text(&entry, 1, key);
    }
    if (value != NULL) {
        put_text(&entry, 2, value);
    }
    put_blob(blob, field, &entry);
    blob_free(&entry);
}

/* The last value of a key counts, at the place of the first; few entries and many. */
static void test_last_map_key_wins(void **state)
{
    (void)state;
    for (unsigned distinct = 1; distinct < 40; distinct++) {
        struct fixture f;
        struct blob blob = {0};
        char text[16];
        for (unsigned i = 0; i < 3 * distinct; i++) {
            snprintf(text, sizeof text, "k%u", i % distinct);
            put_entry(&blob, 5, text, i < 2 * distinct ? "old" : "new");
        }
        put_entry(&blob, 5, "", "empty"); /* the empty key is a key */
        put_entry(&blob, 5, NULL, NULL);  /* and an absent one is the same */
        put_entry(&blob, 6, "k0", "other map");
        start(&f, MIB);
        Container *c = decode_ok(&f, NRI_TYPE(container), blob.bytes, blob.size);
        assert_int_equal(c->n_labels, distinct + 1);
        for (unsigned i = 0; i < distinct; i++) {
            snprintf(text, sizeof text, "k%u", i);
            assert_string_equal(c->labels[i]->key, text);
            assert_string_equal(c->labels[i]->value, "new");
        }
        assert_text(c->labels[distinct]->key, "", 0);
        assert_text(c->labels[distinct]->value, "", 0);
        assert_int_equal(c->n_annotations, 1);
        assert_string_equal(c->annotations[0]->value, "other map");
        end(&f);
        blob_free(&blob);
    }
}

/* Keys that differ behind a NUL or only in length are different keys. */
static void test_map_keys_that_look_alike(void **state)
{
    (void)state;
    struct fixture f;
    struct blob blob = {0};
    static const char *const keys[] = {"a\0b", "a\0c", "a\0", "a"};
    static const size_t lengths[] = {3, 3, 2, 1};
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 4; i++) {
            struct blob entry = {0};
            put_data(&entry, 1, keys[i], lengths[i]);
            put_blob(&blob, 5, &entry);
            blob_free(&entry);
        }
    }
    start(&f, MIB);
    Container *c = decode_ok(&f, NRI_TYPE(container), blob.bytes, blob.size);
    assert_int_equal(c->n_labels, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_text(c->labels[i]->key, keys[i], lengths[i]);
    }
    end(&f);
    blob_free(&blob);
}

/* Maps with numbers as keys, with messages as values, and maps in maps. */
static void test_other_maps(void **state)
{
    (void)state;
    struct fixture f;
    struct blob simple = {0}, owners = {0}, all = {0}, entry = {0};
    for (unsigned i = 0; i < 60; i++) {
        entry.size = 0;
        put_tag(&entry, 1, 0);
        put_varint(&entry, i % 30 == 0 ? UINT64_MAX : i % 30); /* -1 for 0 */
        put_text(&entry, 2, i < 30 ? "10-a" : "20-b");
        put_blob(&simple, 1, &entry);
    }
    entry.size = 0;
    put_text(&entry, 1, "ctr0");
    put_blob(&entry, 2, &simple);
    put_blob(&owners, 1, &entry);
    entry.size = 0;
    put_text(&entry, 1, "ctr1"); /* no value: an empty message */
    put_blob(&owners, 1, &entry);
    start(&f, MIB);
    OwningPlugins *o = decode_ok(&f, NRI_TYPE(owning_plugins), owners.bytes, owners.size);
    assert_int_equal(o->n_owners, 2);
    const FieldOwners *first = o->owners[0]->value;
    assert_int_equal(first->n_simple, 30);
    for (int i = 0; i < 30; i++) {
        assert_int_equal(first->simple[i]->key, i == 0 ? -1 : i);
        assert_string_equal(first->simple[i]->value, "20-b");
    }
    assert_non_null(o->owners[1]->value);
    assert_int_equal(o->owners[1]->value->n_simple, 0);
    assert_ptr_equal(o->owners[1]->value->base.descriptor, NRI_TYPE(field_owners));
    end(&f);
    blob_free(&simple);
    blob_free(&owners);
    blob_free(&all);
    blob_free(&entry);
}

/* T52: what a newer peer sends stays what it is, in every message and of every wire type. */
static void test_T52_unknown_fields(void **state)
{
    (void)state;
    struct fixture f;
    struct blob blob = {0}, inner = {0};
    put_text(&blob, 1, "name");
    const size_t known = blob.size;
    put_tag(&blob, 1023, 2);
    put(&blob, "\x83\x00", 2); /* a length in too long a form: kept as well */
    put(&blob, "new", 3);
    put_tag(&blob, 1023, 0);
    put_varint(&blob, UINT64_MAX);
    put_tag(&blob, 4, 5);
    put(&blob, "1234", 4);
    put_tag(&blob, (1u << 29) - 1, 1);
    put(&blob, "12345678", 8);
    for (uint32_t i = 0; i < 50; i++) {
        put_tag(&blob, 100 + i, 0);
        put_varint(&blob, i);
    }
    start(&f, MIB);
    const ProtobufCMessage *m =
        decode_ok(&f, NRI_TYPE(register_plugin_request), blob.bytes, blob.size);
    assert_int_equal(m->n_unknown_fields, 54);
    assert_int_equal(m->unknown_fields[0].tag, 1023);
    assert_int_equal(m->unknown_fields[0].wire_type, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED);
    assert_int_equal(m->unknown_fields[0].len, 5);
    assert_memory_equal(m->unknown_fields[0].data, "\x83\x00new", 5);
    assert_encodes(m, blob.bytes, blob.size);
    uint8_t *packed = malloc(blob.size);
    assert_non_null(packed);
    assert_int_equal(protobuf_c_message_get_packed_size(m), blob.size);
    protobuf_c_message_pack(m, packed);
    assert_memory_equal(packed, blob.bytes, blob.size);
    free(packed);
    /* In a message within a message, and in front of a known field: that one is written first. */
    struct blob outer = {0}, sorted = {0}, sorted_outer = {0};
    put(&inner, blob.bytes + known, blob.size - known);
    put_text(&inner, 1, "id");
    put_blob(&outer, 2, &inner);
    put_text(&sorted, 1, "id");
    put(&sorted, blob.bytes + known, blob.size - known);
    put_blob(&sorted_outer, 2, &sorted);
    Nri__Pkg__Api__V1alpha1__UpdateContainersRequest *u =
        decode_ok(&f, NRI_TYPE(update_containers_request), outer.bytes, outer.size);
    assert_int_equal(u->evict[0]->base.n_unknown_fields, 54);
    assert_string_equal(u->evict[0]->container_id, "id");
    assert_encodes(u, sorted_outer.bytes, sorted_outer.size);
    end(&f);
    blob_free(&outer);
    blob_free(&sorted);
    blob_free(&sorted_outer);
    blob_free(&inner);
    blob_free(&blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_text_lengths),
        cmocka_unit_test(test_nul_and_utf8_are_kept),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_repeated_numbers),
        cmocka_unit_test(test_fields_in_turn),
        cmocka_unit_test(test_merged_messages),
        cmocka_unit_test(test_merging_is_linear),
        cmocka_unit_test(test_last_map_key_wins),
        cmocka_unit_test(test_map_keys_that_look_alike),
        cmocka_unit_test(test_other_maps),
        cmocka_unit_test(test_T52_unknown_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
