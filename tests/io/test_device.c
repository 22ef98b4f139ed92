/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of this system, injected into an adjustment that belongs to no request, against what
 * stat(1) says of them. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <nri/nri.h>

#include "fail_alloc.h"

struct place {
    char directory[64], path[96];
    nri_adjustment *adjustment;
};

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    if (place == NULL)
        return -1;
    const char *base = getenv("TMPDIR");
    snprintf(place->directory, sizeof place->directory, "%.40s/nri-device-XXXXXX",
             base != NULL && strlen(base) <= 40 ? base : "/tmp");
    *state = place;
    if (mkdtemp(place->directory) == NULL)
        return -1;
    snprintf(place->path, sizeof place->path, "%s/entry", place->directory);
    return nri_adjustment_new(&place->adjustment, NULL);
}

static int teardown(void **state)
{
    struct place *place = *state;
    nri_adjustment_free(place->adjustment);
    (void)chmod(place->directory, 0700);
    (void)unlink(place->path);
    int code = rmdir(place->directory);
    free(place);
    return code;
}

/* What stat(1) says: type, numbers, mode and owner of what a path leads to. */
struct told {
    char kind[64];
    unsigned long major, minor, mode, uid, gid;
};

static void ask_stat(const char *path, struct told *told)
{
    char command[256], line[256];
    snprintf(command, sizeof command, "stat -L -c '%%t %%T %%a %%u %%g %%F' '%s'", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char *got = fgets(line, sizeof line, pipe);
    assert_int_equal(pclose(pipe), 0);
    assert_non_null(got);
    assert_int_equal(sscanf(line, "%lx %lx %lo %lu %lu %63[^\n]", &told->major, &told->minor,
                            &told->mode, &told->uid, &told->gid, told->kind),
                     6);
}

static void check_node(const nri_adjustment *adjustment, const char *path, const struct told *told)
{
    uint32_t mode = 0, uid = 0, gid = 0;
    bool removed;
    assert_int_equal(nri_adjustment_device_count(adjustment), 1);
    const nri_device *device = nri_adjustment_device_at(adjustment, 0, &removed);
    assert_false(removed);
    assert_string_equal(nri_device_path(device), path);
    assert_int_equal(nri_device_major(device), told->major);
    assert_int_equal(nri_device_minor(device), told->minor);
    assert_true(nri_device_file_mode(device, &mode) && nri_device_uid(device, &uid) &&
                nri_device_gid(device, &gid));
    assert_int_equal(mode, told->mode);
    assert_int_equal(uid, told->uid);
    assert_int_equal(gid, told->gid);
}

static void check_rule(const nri_adjustment *adjustment, const char *type, const struct told *told)
{
    int64_t major = -1, minor = -1;
    const nri_resources *resources = nri_adjustment_resources(adjustment);
    assert_int_equal(nri_resources_device_rule_count(resources), 1);
    const nri_device_rule *rule = nri_resources_device_rule_at(resources, 0);
    assert_true(nri_device_rule_allow(rule));
    assert_string_equal(nri_device_rule_type(rule), type);
    assert_true(nri_device_rule_major(rule, &major) && nri_device_rule_minor(rule, &minor));
    assert_int_equal(major, told->major);
    assert_int_equal(minor, told->minor);
    assert_string_equal(nri_device_rule_access(rule), "rwm");
}

static void inject_character(struct place *place, const char *path)
{
    struct told told;
    ask_stat(path, &told);
    assert_string_equal(told.kind, "character special file");
    assert_int_equal(nri_adjustment_inject_device(place->adjustment, path, NULL, NULL), 0);
    check_node(place->adjustment, path, &told);
    assert_string_equal(nri_device_type(nri_adjustment_device_at(place->adjustment, 0, NULL)), "c");
    check_rule(place->adjustment, "c", &told);
}

static void test_dev_null(void **state)
{
    inject_character(*state, "/dev/null");
}

static void test_dev_full(void **state)
{
    inject_character(*state, "/dev/full");
}

static void test_symbolic_link(void **state)
{
    struct place *place = *state;
    assert_int_equal(symlink("/dev/null", place->path), 0);
    inject_character(place, place->path);
}

static void test_fifo(void **state)
{
    struct place *place = *state;
    struct told told;
    assert_int_equal(mkfifo(place->path, 0640), 0);
    ask_stat(place->path, &told);
    assert_string_equal(told.kind, "fifo");
    assert_int_equal(nri_adjustment_inject_device(place->adjustment, place->path, "/p", NULL), 0);
    check_node(place->adjustment, "/p", &told);
    assert_string_equal(nri_device_type(nri_adjustment_device_at(place->adjustment, 0, NULL)), "p");
    assert_false(nri_resources_is_present(nri_adjustment_resources(place->adjustment)));
}

/* The mode and owner that the node is to have, in place of the system's. */
static void test_mode_and_owner(void **state)
{
    const uint32_t mode = 0604, uid = 4242, gid = 0;
    struct place *place = *state;
    struct told told;
    ask_stat("/dev/full", &told);
    assert_int_equal(nri_adjustment_inject_device_as(place->adjustment, "/dev/full", "/dev/x",
                                                     "rwm", &mode, &uid, NULL),
                     0);
    told.mode = mode;
    told.uid = uid;
    check_node(place->adjustment, "/dev/x", &told);
    ask_stat("/dev/full", &told);
    assert_int_equal(nri_adjustment_inject_device_as(place->adjustment, "/dev/full", "/dev/x", NULL,
                                                     NULL, NULL, &gid),
                     0);
    told.gid = gid;
    check_node(place->adjustment, "/dev/x", &told);
    check_rule(place->adjustment, "c", &told);
}

/* The first one's rule is not left behind. */
static void test_another_device_at_the_same_path(void **state)
{
    struct place *place = *state;
    struct told told;
    assert_int_equal(nri_adjustment_inject_device(place->adjustment, "/dev/null", "/dev/x", NULL),
                     0);
    assert_int_equal(nri_adjustment_inject_device(place->adjustment, "/dev/full", "/dev/x", NULL),
                     0);
    ask_stat("/dev/full", &told);
    check_node(place->adjustment, "/dev/x", &told);
    check_rule(place->adjustment, "c", &told);
    assert_int_equal(nri_adjustment_remove_device(place->adjustment, "/dev/x"), 0);
    assert_false(nri_resources_is_present(nri_adjustment_resources(place->adjustment)));
}

static void refuse(struct place *place, const char *path, int code, const char *rule)
{
    char text[256];
    assert_int_equal(nri_adjustment_inject_device(place->adjustment, path, NULL, NULL), code);
    snprintf(text, sizeof text, "host device \"%s\": %s", path, rule);
    assert_string_equal(nri_adjustment_error_text(place->adjustment), text);
    assert_true(nri_adjustment_is_empty(place->adjustment));
}

static void test_no_device(void **state)
{
    struct place *place = *state;
    int fd = open(place->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    refuse(place, place->path, NRI_E_INVALID,
           "must be a character device, a block device or a FIFO");
    nri_adjustment_clear_error(place->adjustment);
    refuse(place, place->directory, NRI_E_INVALID,
           "must be a character device, a block device or a FIFO");
}

static void test_nothing_there(void **state)
{
    struct place *place = *state;
    refuse(place, place->path, NRI_E_NOT_FOUND, "is not there");
    nri_adjustment_clear_error(place->adjustment);
    refuse(place, "/dev/null/x", NRI_E_NOT_FOUND, "is not there");
}

/* A link that leads to itself is no permission and no missing file. */
static void test_endless_link(void **state)
{
    struct place *place = *state;
    assert_int_equal(symlink(place->path, place->path), 0);
    refuse(place, place->path, NRI_E_IO, "cannot be looked at");
}

/* Somebody else's directory that only its owner may search: 0 when the refusal is right. Root may
 * search every directory, and so becomes somebody else for good, in a process of its own. */
static int refused_as_another(struct place *place)
{
    static const uid_t nobody = 65534;
    if (geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0))
        return 2;
    int code = nri_adjustment_inject_device(place->adjustment, place->path, NULL, NULL);
    const char *text = nri_adjustment_error_text(place->adjustment);
    if (code != NRI_E_PERMISSION ||
        strstr(text, "must be in a directory that this process may search") == NULL) {
        fprintf(stderr, "%d: %s\n", code, text);
        return 1;
    }
    return 0;
}

static void test_no_permission(void **state)
{
    struct place *place = *state;
    int status;
    assert_int_equal(mkfifo(place->path, 0600), 0);
    assert_int_equal(chmod(place->directory, geteuid() == 0 ? 0700 : 0), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(refused_as_another(place));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The adjustment's own life: every allocation fails once, and nothing stays. */
static void test_new_and_free(void **state)
{
    struct fail_alloc memory;
    struct nri_allocator allocator;
    size_t n = 0;
    (void)state;
    fail_alloc_init(&memory, &allocator);
    do {
        nri_adjustment *adjustment = NULL;
        fail_alloc_arm(&memory, ++n);
        int code = nri_adjustment_new(&adjustment, &allocator);
        if (code == 0)
            code = nri_adjustment_inject_device(adjustment, "/dev/null", NULL, NULL);
        assert_int_equal(code, memory.fired ? NRI_E_NOMEM : 0);
        assert_null(nri_adjustment_free(adjustment));
        assert_int_equal(memory.live_blocks, 0);
    } while (memory.fired);
    assert_true(n > 2);
    nri_adjustment *adjustment = (void *)&memory;
    allocator.release = NULL;
    assert_int_equal(nri_adjustment_new(&adjustment, &allocator), NRI_E_INVALID);
    assert_null(adjustment);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_dev_null),
        IN_PLACE(test_dev_full),
        IN_PLACE(test_symbolic_link),
        IN_PLACE(test_fifo),
        IN_PLACE(test_mode_and_owner),
        IN_PLACE(test_another_device_at_the_same_path),
        IN_PLACE(test_no_device),
        IN_PLACE(test_nothing_there),
        IN_PLACE(test_endless_link),
        IN_PLACE(test_no_permission),
        cmocka_unit_test(test_new_and_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
