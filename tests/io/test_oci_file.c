/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations from file to file: replaced at once with the mode and owner they had, left alone
 * by whatever fails; and mounts that are looked at: of a table, and of this system.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <nri/nri.h>

#include "fixture.h"
#include "io/mountinfo.h"

#define BEFORE "{ \"process\": {\"args\": [\"a\"]} }"
#define AFTER  "{\"process\":{\"args\":[\"b\"]}}"

struct place {
    char directory[96], path[128], other[128];
    nri_adjustment *adjustment;
    nri_error *error;
    int fds;
};

static void write_file(const char *path, const char *text, mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void check_file(const char *path, const char *text)
{
    char read_text[4096] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(read(fd, read_text, sizeof read_text - 1) >= 0);
    close(fd);
    assert_string_equal(read_text, text);
}

static int setup(void **state)
{
    static const char *const args[] = {"b"};
    struct place *place = calloc(1, sizeof *place);
    const char *base = getenv("TMPDIR");
    if (place == NULL)
        return -1;
    place->fds = fixture_count_fds();
    (void)snprintf(place->directory, sizeof place->directory, "%.40s/nri-oci-XXXXXX",
                   base != NULL && strlen(base) <= 40 ? base : "/tmp");
    if (mkdtemp(place->directory) == NULL)
        return -1;
    (void)snprintf(place->path, sizeof place->path, "%s/config.json", place->directory);
    (void)snprintf(place->other, sizeof place->other, "%s/other.json", place->directory);
    if (nri_adjustment_new(&place->adjustment, NULL) != 0 ||
        nri_adjustment_set_args(place->adjustment, args, 1) != 0)
        return -1;
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"config.json", "config.json.tmp", "other.json",
                                        "other.json.tmp", "link"};
    struct place *place = *state;
    char path[160];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", place->directory, names[i]);
        (void)unlink(path);
    }
    assert_int_equal(fixture_count_fds(), place->fds);
    nri_adjustment_free(place->adjustment);
    nri_error_free(place->error);
    const int code = rmdir(place->directory); /* nothing else is left */
    free(place);
    return code;
}

static int apply(struct place *place, const char *in, const char *out)
{
    place->error = nri_error_free(place->error);
    return nri_oci_apply_adjustment_file(in, out, place->adjustment, NULL, &place->error);
}

static void check_error(const struct place *place, const char *text)
{
    char wanted[512];
    (void)snprintf(wanted, sizeof wanted, text, place->path);
    assert_string_equal(nri_error_get_text(place->error), wanted);
}

static void test_in_place(void **state)
{
    struct place *place = *state;
    struct stat before, after;
    write_file(place->path, BEFORE, 0640);
    if (geteuid() == 0)
        assert_int_equal(chown(place->path, 12, 34), 0);
    assert_int_equal(stat(place->path, &before), 0);
    assert_int_equal(apply(place, place->path, place->path), 0);
    assert_null(place->error);
    check_file(place->path, AFTER);
    assert_int_equal(stat(place->path, &after), 0);
    assert_int_equal(after.st_mode, before.st_mode);
    assert_int_equal(after.st_uid, before.st_uid);
    assert_int_equal(after.st_gid, before.st_gid);
    assert_int_not_equal(after.st_ino, before.st_ino); /* a new one, and not the old one changed */
}

static void test_to_another(void **state)
{
    struct place *place = *state;
    struct stat status;
    write_file(place->path, BEFORE, 0604);
    write_file(place->other, "what was there", 0600);
    assert_int_equal(apply(place, place->path, place->other), 0);
    check_file(place->path, BEFORE);
    check_file(place->other, AFTER);
    assert_int_equal(stat(place->other, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0604);
}

static void test_update(void **state)
{
    struct place *place = *state;
    nri_updates *updates;
    write_file(place->path, "{}", 0600);
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    nri_update *update = nri_updates_container(updates, "c1");
    assert_int_equal(nri_update_set_cpu_shares(update, 512), 0);
    assert_int_equal(nri_oci_apply_update_file(place->path, place->path,
                                               nri_update_resources(update), NULL, &place->error),
                     0);
    check_file(place->path, "{\"linux\":{\"resources\":{\"cpu\":{\"shares\":512}}}}");
    nri_updates_free(updates);
}

/* Errors have the file's name, or the one that the options have. */
static void test_names(void **state)
{
    struct place *place = *state;
    struct nri_oci_options options;
    struct nri_json_options json;
    write_file(place->path, "{\n \"process\": 7}", 0600);
    assert_int_equal(apply(place, place->path, place->path), NRI_E_SYNTAX);
    check_error(place, "%s:2:13: process: must be an object, found a number");
    assert_int_equal(nri_error_line(place->error), 2);
    check_file(place->path, "{\n \"process\": 7}");
    nri_oci_options_init(&options, sizeof options);
    nri_json_options_init(&json, sizeof json);
    options.json = &json;
    json.name = "bundle";
    place->error = nri_error_free(place->error);
    assert_int_equal(nri_oci_apply_adjustment_file(place->path, place->path, place->adjustment,
                                                   &options, &place->error),
                     NRI_E_SYNTAX);
    check_error(place, "bundle:2:13: process: must be an object, found a number");
}

static void test_what_is_no_file(void **state)
{
    struct place *place = *state;
    char link[160], missing[200];
    assert_int_equal(apply(place, place->path, place->path), NRI_E_NOT_FOUND);
    check_error(place, "there is no configuration %s");
    (void)snprintf(missing, sizeof missing, "%s/none/config.json", place->directory);
    assert_int_equal(apply(place, missing, place->other), NRI_E_NOT_FOUND);
    assert_int_equal(apply(place, place->directory, place->other), NRI_E_IO);
    assert_int_equal(apply(place, "/", place->other), NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(place->error),
                        "in_path \"/\": must be the path of a file");
    write_file(place->path, BEFORE, 0600);
    assert_int_equal(apply(place, place->path, ".."), NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(place->error),
                        "out_path \"..\": must be the path of a file");
    assert_int_equal(apply(place, place->path, missing), NRI_E_NOT_FOUND);
    (void)snprintf(link, sizeof link, "%s/link", place->directory);
    assert_int_equal(symlink(place->path, link), 0);
    assert_int_equal(apply(place, link, place->other), NRI_E_IO);
    assert_non_null(strstr(nri_error_get_text(place->error), "is a symbolic link"));
    unlink(link);
    assert_int_equal(mkfifo(link, 0600), 0); /* with nobody at its other end */
    assert_int_equal(apply(place, link, place->other), NRI_E_IO);
    assert_non_null(strstr(nri_error_get_text(place->error), "is not a regular file"));
    check_file(place->path, BEFORE);
    assert_int_equal(access(place->other, F_OK), -1);
}

static void test_too_large(void **state)
{
    struct place *place = *state;
    struct nri_oci_options options;
    struct nri_json_options json;
    nri_oci_options_init(&options, sizeof options);
    nri_json_options_init(&json, sizeof json);
    options.json = &json;
    write_file(place->path, BEFORE, 0600);
    json.max_bytes = strlen(BEFORE);
    assert_int_equal(
        nri_oci_apply_adjustment_file(place->path, place->other, place->adjustment, &options, NULL),
        0);
    check_file(place->other, AFTER);
    json.max_bytes--;
    assert_int_equal(
        nri_oci_apply_adjustment_file(place->path, place->other, NULL, &options, &place->error),
        NRI_E_LIMIT);
    check_error(place, "%s: it is larger than 29 bytes (max_bytes)");
}

/* A disk without room for it: the old one stays, and nothing else. */
static void test_no_room(void **state)
{
    struct place *place = *state;
    struct rlimit limit, small;
    write_file(place->path, BEFORE, 0600);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 8, .rlim_max = limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int code = apply(place, place->path, place->path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(code, NRI_E_IO);
    check_file(place->path, BEFORE);
    char left[160];
    (void)snprintf(left, sizeof left, "%s.tmp", place->path);
    assert_int_equal(access(left, F_OK), -1);
}

/* What the system does not allow is no reason to fail: the owner where there is none to give, as in
 * a user namespace, and a directory that cannot be synchronised. */
static int chown_error, fsync_error; /* when not 0; fsync()'s of directories */

int __real_fchown(int fd, uid_t user, gid_t group);
int __wrap_fchown(int fd, uid_t user, gid_t group);
int __wrap_fchown(int fd, uid_t user, gid_t group)
{
    errno = chown_error;
    return chown_error != 0 ? -1 : __real_fchown(fd, user, group);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    struct stat status;
    if (fsync_error != 0 && fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = fsync_error;
        return -1;
    }
    return __real_fsync(fd);
}

static void test_what_is_not_allowed(void **state)
{
    struct place *place = *state;
    static const struct {
        int chown_error, fsync_error, code;
        const char *left;
    } rows[] = {
        {EPERM, 0, 0, AFTER},       {EINVAL, 0, 0, AFTER},
        {EIO, 0, NRI_E_IO, BEFORE}, {EROFS, 0, NRI_E_PERMISSION, BEFORE},
        {0, EINVAL, 0, AFTER},      {0, EIO, NRI_E_IO, AFTER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct stat status;
        write_file(place->path, BEFORE, 0640);
        chown_error = rows[i].chown_error;
        fsync_error = rows[i].fsync_error;
        const int code = apply(place, place->path, place->path);
        chown_error = fsync_error = 0;
        assert_int_equal(code, rows[i].code);
        check_file(place->path, rows[i].left);
        assert_int_equal(stat(place->path, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0640);
    }
}

/* A link where the new one goes is replaced, and what it points to stays. */
static void test_link_in_the_place(void **state)
{
    struct place *place = *state;
    char link[160];
    struct stat status;
    write_file(place->path, BEFORE, 0600);
    write_file(place->other, "elsewhere", 0600);
    (void)snprintf(link, sizeof link, "%s/link", place->directory);
    assert_int_equal(symlink(place->other, link), 0);
    assert_int_equal(apply(place, place->path, link), 0);
    check_file(link, AFTER);
    check_file(place->other, "elsewhere");
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISREG(status.st_mode));
}

/* ---- what plugins are told of it ---- */

static int read_container(struct place *place, const char *path, nri_container **container)
{
    place->error = nri_error_free(place->error);
    *container = (void *)place;
    return nri_container_from_oci_file(path, NULL, container, &place->error);
}

static void test_container(void **state)
{
    struct place *place = *state;
    struct nri_json_options json;
    nri_container *container;
    write_file(place->path, BEFORE, 0600);
    assert_int_equal(read_container(place, place->path, &container), 0);
    assert_null(place->error);
    assert_int_equal(nri_container_arg_count(container), 1);
    nri_container_free(container);
    assert_int_equal(read_container(place, place->other, &container), NRI_E_NOT_FOUND);
    assert_null(container);
    assert_int_equal(read_container(place, place->directory, &container), NRI_E_IO);
    assert_int_equal(read_container(place, "/", &container), NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(place->error), "path \"/\": must be the path of a file");
    nri_json_options_init(&json, sizeof json);
    json.max_bytes = strlen(BEFORE) - 1;
    place->error = nri_error_free(place->error);
    assert_int_equal(nri_container_from_oci_file(place->path, &json, &container, &place->error),
                     NRI_E_LIMIT);
    check_error(place, "%s: it is larger than 29 bytes (max_bytes)");
    write_file(place->path, "{\n \"process\": 7}", 0600);
    assert_int_equal(read_container(place, place->path, &container), NRI_E_SYNTAX);
    assert_null(container);
    check_error(place, "%s:2:13: process: must be an object, found a number");
    assert_int_equal(nri_container_from_oci_file(place->path, NULL, &container, NULL),
                     NRI_E_SYNTAX);
    place->error = nri_error_free(place->error);
    assert_int_equal(nri_container_from_oci_file(place->path, NULL, NULL, &place->error),
                     NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(place->error), "container: must not be NULL");
}

/* ---- mounts ---- */

static const char table[] = "21 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
                            "28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                            "40 28 8:2 / /srv rw shared:9 master:3 - ext4 /dev/sdb rw\n"
                            "41 28 8:2 / /slave rw master:3 propagate_from:2 - ext4 /dev/sdb rw\n"
                            "42 28 8:2 / /private rw - ext4 /dev/sdb rw,shared:99\n"
                            "43 28 8:2 / /with\\040blank rw unbindable - ext4 /dev/sdb rw\n"
                            "44 28 8:2 / /over rw shared:11 - ext4 /dev/sdb rw\n"
                            "45 44 8:3 / /over rw master:12 - ext4 /dev/sdc rw\n"
                            "46 28 8:3 / /private/inner rw shared:13 - ext4 /dev/sdd rw\n"
                            "nonsense\n"
                            "\n"
                            "47 28 8:3 / /cut";

struct lookup {
    const char *path;
    uint32_t propagation;
};

static const struct lookup lookups[] = {
    {"/", NRI_PROPAGATION_SHARED},
    {"/home/a", NRI_PROPAGATION_SHARED},
    {"/srv", NRI_PROPAGATION_SHARED},
    {"/srvx", NRI_PROPAGATION_SHARED},
    {"/slave/a", NRI_PROPAGATION_SLAVE},
    {"/slaves", NRI_PROPAGATION_SHARED},
    {"/private", NRI_PROPAGATION_PRIVATE},
    {"/private/x", NRI_PROPAGATION_PRIVATE},
    {"/private/inner/x", NRI_PROPAGATION_SHARED},
    {"/with blank/x", NRI_PROPAGATION_PRIVATE},
    {"/with", NRI_PROPAGATION_SHARED},
    {"/over/x", NRI_PROPAGATION_SLAVE}, /* what was mounted last is seen */
    {"/cut", NRI_PROPAGATION_SHARED},
};

static void test_table(void **state)
{
    (void)state;
    uint32_t propagation;
    for (size_t i = 0; i < sizeof lookups / sizeof lookups[0]; i++) {
        propagation = 77;
        if (!nri_mountinfo_find(table, sizeof table - 1, lookups[i].path, &propagation) ||
            propagation != lookups[i].propagation)
            fail_msg("%s: %u", lookups[i].path, propagation);
    }
    assert_false(nri_mountinfo_find(table, strcspn(table, "\n"), "/home", &propagation));
    assert_false(nri_mountinfo_find("", 0, "/", &propagation));
    /* Cut anywhere it is read no further. */
    for (size_t length = 0; length < sizeof table; length++) {
        char *cut = malloc(length + 1);
        assert_non_null(cut);
        memcpy(cut, table, length);
        (void)nri_mountinfo_find(cut, length, "/private/inner", &propagation);
        free(cut);
    }
}

/* In a namespace of mounts of its own: what the kernel says of a mount that changes. The exit
 * status is the step that failed. */
static int look_at_own(const char *directory)
{
    struct nri_alloc alloc;
    char sub[160], link[160];
    uint32_t found = 77;
    (void)snprintf(sub, sizeof sub, "%s/sub", directory);
    (void)snprintf(link, sizeof link, "%s/sub/link", directory);
    (void)nri_alloc_resolve(&alloc, NULL);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("t", directory, "tmpfs", 0, NULL) != 0 || mkdir(sub, 0700) != 0 ||
        symlink("/proc", link) != 0)
        return 1;
    if (nri_mountinfo_look(&alloc, sub, &found) != 0 || found != NRI_PROPAGATION_PRIVATE)
        return 2;
    if (mount(NULL, directory, NULL, MS_SHARED, NULL) != 0 ||
        nri_mountinfo_look(&alloc, sub, &found) != 0 || found != NRI_PROPAGATION_SHARED)
        return 3;
    /* Through a link it is another mount. */
    if (nri_mountinfo_look(&alloc, link, &found) != 0 || found != NRI_PROPAGATION_PRIVATE)
        return 4;
    if (mount(directory, sub, NULL, MS_BIND, NULL) != 0 ||
        mount(NULL, sub, NULL, MS_SLAVE, NULL) != 0 ||
        nri_mountinfo_look(&alloc, sub, &found) != 0 || found != NRI_PROPAGATION_SLAVE)
        return 5;
    return nri_mountinfo_look(&alloc, "/no/such/path", &found) == NRI_E_NOT_FOUND ? 0 : 6;
}

static void test_own_mounts(void **state)
{
    struct place *place = *state;
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (unshare(CLONE_NEWNS) != 0)
            _exit(77);
        _exit(look_at_own(place->directory));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_to_another, setup, teardown),
        cmocka_unit_test_setup_teardown(test_update, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_large, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_allowed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_link_in_the_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_container, setup, teardown),
        cmocka_unit_test(test_table),
        cmocka_unit_test_setup_teardown(test_own_mounts, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
