/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_model_coverage libnri.map: no field without a reader or a builder, computed from the
 * descriptors; no entry of the table that names what is not there; and no exported reader or
 * builder that the table does not know.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "field_table.h"
#include "proto/nri.pb-c.h"
#include "schema.h"

static const char *map_path;

/* Exported, about an object, and yet neither the reader nor the builder of a field. */
static const struct {
    const char *name, *why;
} others[] = {
    {"nri_pod_new", "an object's life"},
    {"nri_pod_dup", "an object's life"},
    {"nri_pod_free", "an object's life"},
    {"nri_container_new", "an object's life"},
    {"nri_container_dup", "an object's life"},
    {"nri_container_free", "an object's life"},
    {"nri_container_from_oci", "makes a container of another form"},
    {"nri_container_from_oci_file", "makes a container of another form"},
    {"nri_adjustment_new", "an object's life"},
    {"nri_adjustment_free", "an object's life"},
    {"nri_updates_new", "an object's life"},
    {"nri_updates_free", "an object's life"},
    {"nri_pod_error", "the failed call"},
    {"nri_pod_error_text", "the failed call"},
    {"nri_container_error", "the failed call"},
    {"nri_container_error_text", "the failed call"},
    {"nri_adjustment_error", "the failed call"},
    {"nri_adjustment_error_text", "the failed call"},
    {"nri_adjustment_clear_error", "the failed call"},
    {"nri_updates_error", "the failed call"},
    {"nri_updates_error_text", "the failed call"},
    {"nri_updates_clear_error", "the failed call"},
    {"nri_update_result_code", "the outcome of a call"},
    {"nri_update_result_text", "the outcome of a call"},
    {"nri_pod_to_json", "all fields by reflection"},
    {"nri_pod_from_json", "all fields by reflection"},
    {"nri_container_to_json", "all fields by reflection"},
    {"nri_container_from_json", "all fields by reflection"},
    {"nri_resources_to_json", "all fields by reflection"},
    {"nri_resources_merge_json", "all fields by reflection"},
    {"nri_adjustment_to_json", "all fields by reflection"},
    {"nri_adjustment_merge_json", "all fields by reflection"},
    {"nri_updates_to_json", "all fields by reflection"},
    {"nri_updates_merge_json", "all fields by reflection"},
    {"nri_resources_is_present", "whether the message was sent, whatever is in it"},
    {"nri_adjustment_is_empty", "about all fields together"},
    {"nri_adjustment_ignored", "about all fields together"},
    {"nri_container_state_name", "the name of a number"},
    {"nri_hook_stage_name", "the name of a number"},
    {"nri_scheduler_policy_name", "the name of a number"},
    {"nri_scheduler_policy_from_name", "the name of a number"},
    {"nri_scheduler_flag_name", "the name of a number"},
    {"nri_scheduler_flag_from_name", "the name of a number"},
};

struct symbols {
    char names[1024][64];
    size_t count;
};
static struct symbols exported;

static bool is_exported(const char *name, size_t length)
{
    for (size_t i = 0; i < exported.count; i++) {
        if (strlen(exported.names[i]) == length && memcmp(exported.names[i], name, length) == 0)
            return true;
    }
    return false;
}

static int read_map(void **state)
{
    (void)state;
    char line[256];
    FILE *file = fopen(map_path, "r");
    if (file == NULL) {
        perror(map_path);
        return 1;
    }
    while (fgets(line, sizeof line, file) != NULL && exported.count < 1024) {
        if (sscanf(line, " %63[a-z0-9_];", exported.names[exported.count]) == 1 &&
            strncmp(exported.names[exported.count], "nri_", 4) == 0)
            exported.count++;
    }
    fclose(file);
    return exported.count > 100 ? 0 : 1;
}

/* ---- fields ---- */

static const struct field_entry *find_entry(const char *field)
{
    for (size_t i = 0; i < field_table_count; i++) {
        if (strcmp(field_table[i].field, field) == 0)
            return &field_table[i];
    }
    return NULL;
}

/* The services that a plugin of its own process speaks: HostFunctions is for plugins that run
 * inside of the runtime as WebAssembly. */
static void walk(struct schema_walk *messages)
{
    memset(messages, 0, sizeof *messages);
    schema_walk_service(messages, &nri__pkg__api__v1alpha1__runtime__descriptor);
    schema_walk_service(messages, &nri__pkg__api__v1alpha1__plugin__descriptor);
}

static void test_every_field_has_its_functions(void **state)
{
    (void)state;
    struct schema_walk messages;
    size_t fields = 0, missing = 0;
    char name[256];
    walk(&messages);
    for (size_t i = 0; i < messages.n_messages; i++) {
        const ProtobufCMessageDescriptor *message = messages.message[i];
        if (schema_is_map_entry(message))
            continue;
        for (unsigned f = 0; f < message->n_fields; f++) {
            snprintf(name, sizeof name, "%s.%s", schema_short_name(message->name),
                     message->fields[f].name);
            fields++;
            if (find_entry(name) != NULL)
                continue;
            print_error("no reader and no builder: %s\n", name);
            missing++;
        }
    }
    print_message("%zu fields\n", fields);
    assert_int_equal(missing, 0);
    assert_true(fields > 150);
    assert_int_equal(field_table_count, fields); /* none is stale, none is there twice */
}

/* ---- functions ---- */

/* Names of `list` that are not exported, printed. */
static size_t count_unknown(const char *field, const char *list)
{
    size_t unknown = 0;
    for (const char *at = list; at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, " ");
        if (!is_exported(at, length)) {
            print_error("%s: %.*s is not exported\n", field, (int)length, at);
            unknown++;
        }
        at += length + strspn(at + length, " ");
    }
    return unknown;
}

static void test_every_function_is_exported(void **state)
{
    (void)state;
    size_t unknown = 0;
    for (size_t i = 0; i < field_table_count; i++) {
        const struct field_entry *entry = &field_table[i];
        assert_true(entry->readers != NULL || entry->builders != NULL);
        unknown += count_unknown(entry->field, entry->readers);
        unknown += count_unknown(entry->field, entry->builders);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        unknown += count_unknown(others[i].why, others[i].name);
    assert_int_equal(unknown, 0);
}

/* The messages of a plugin's and a runtime's own part of the protocol, which have one side only. */
static bool is_one_sided(const char *field)
{
    const char *const endings[] = {"Request.",     "Response.",      "StateChangeEvent.",
                                   "FieldOwners.", "OwningPlugins.", "PluginInstance."};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (strstr(field, endings[i]) != NULL)
            return true;
    }
    return false;
}

static void test_what_the_model_holds_is_both_read_and_built(void **state)
{
    (void)state;
    for (size_t i = 0; i < field_table_count; i++) {
        const struct field_entry *entry = &field_table[i];
        if (is_one_sided(entry->field))
            continue;
        if (entry->readers == NULL || entry->builders == NULL)
            fail_msg("%s is not both read and built", entry->field);
    }
}

static bool list_has(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL && (at = strstr(at, name)) != NULL; at += length) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < field_table_count; i++) {
        if (list_has(field_table[i].readers, name) || list_has(field_table[i].builders, name))
            return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i].name, name) == 0)
            return true;
    }
    return false;
}

static void test_every_reader_and_builder_is_in_the_table(void **state)
{
    (void)state;
    static const char *const objects[] = {
        "nri_pod_",    "nri_container_",  "nri_resources_", "nri_mount_",   "nri_hook_",
        "nri_device_", "nri_seccomp_",    "nri_syscall_",   "nri_rdt_",     "nri_scheduler_",
        "nri_memory_", "nri_adjustment_", "nri_update_",    "nri_updates_",
    };
    size_t unknown = 0, seen = 0;
    for (size_t i = 0; i < exported.count; i++) {
        for (size_t k = 0; k < sizeof objects / sizeof objects[0]; k++) {
            if (strncmp(exported.names[i], objects[k], strlen(objects[k])) != 0)
                continue;
            seen++;
            if (is_known(exported.names[i]))
                continue;
            print_error("%s: of which field?\n", exported.names[i]);
            unknown++;
        }
    }
    print_message("%zu functions\n", seen);
    assert_true(seen > 300);
    assert_int_equal(unknown, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_has_its_functions),
        cmocka_unit_test(test_every_function_is_exported),
        cmocka_unit_test(test_what_the_model_holds_is_both_read_and_built),
        cmocka_unit_test(test_every_reader_and_builder_is_in_the_table),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: %s libnri.map\n", argv[0]);
        return 2;
    }
    map_path = argv[1];
    return cmocka_run_group_tests(tests, read_map, NULL);
}
