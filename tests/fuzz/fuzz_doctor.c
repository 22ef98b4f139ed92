/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl doctor on a root one of whose files holds any bytes: it comes to an end, with findings or
 * without, and nothing that it prints is obeyed by a terminal. The first byte: which file.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "doctor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

static const struct planted {
    const char *path, *otherwise; /* what it holds while another one is planted; NULL: not there */
} planted[] = {
    {"etc/containerd/config.toml", "version = 3\nimports = [\"more.toml\"]\n"},
    {"etc/containerd/more.toml", NULL},
    {"etc/crio/crio.conf", "[crio.nri]\nenable_nri = true\n"},
    {"etc/crio/crio.conf.d/10-nri.conf", NULL},
    {"etc/docker/daemon.json", "{\"nri-opts\": {\"enable\": true}}"},
    {"etc/systemd/system/nri-one.service", "[Service]\nExecStart=/opt/nri/plugins/10-one\n"},
    {"etc/systemd/system/nri-one.service.d/more.conf", NULL},
    {"var/lib/dpkg/status",
     "Package: containerd\nStatus: install ok installed\nVersion: 2.1.0\n\n"},
    {"lib/apk/db/installed", NULL},
    {"etc/ld.so.conf", NULL},
    {"etc/passwd", "root:x:0:0::/root:/bin/sh\n"},
    {"etc/group", "root:x:0:\n"},
    {"proc/net/unix", "Num       RefCount Protocol Flags    Type St Inode Path\n"},
    {"opt/nri/plugins/10-one", "#!/bin/sh\n"},
    {"etc/nri/conf.d/10-one.conf", "any: thing\n"},
    {"var/lib/kubelet/config.yaml", "runtimeRequestTimeout: 2m\n"},
    {"etc/environment", NULL},
};
#define COUNT (sizeof planted / sizeof *planted)

/* ---- the root ---- */

static char root[64];

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static void remove_root(void)
{
    (void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void plant(const char *name, const void *bytes, size_t size)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

static void make_directories(const char *name)
{
    char path[256];
    const size_t begin = (size_t)snprintf(path, sizeof path, "%s/", root);
    (void)snprintf(path + begin, sizeof path - begin, "%s", name);
    for (char *slash = path + begin; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
}

static void reset(const struct planted *file)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", root, file->path);
    if (file->otherwise != NULL)
        plant(file->path, file->otherwise, strlen(file->otherwise));
    else
        CHECK(unlink(path) == 0 || errno == ENOENT);
}

static void make_root(void)
{
    const char *directory = getenv("TMPDIR");
    if (root[0] != '\0')
        return;
    const int length = snprintf(root, sizeof root, "%s/nrictl-fuzz-XXXXXX",
                                directory != NULL && strlen(directory) < 32 ? directory : "/tmp");
    CHECK(length > 0 && mkdtemp(root) != NULL && atexit(remove_root) == 0);
    make_directories("usr/bin/");
    plant("usr/bin/containerd", "", 0);
    plant("usr/bin/crio", "", 0);
    plant("usr/bin/dockerd", "", 0);
    for (size_t i = 0; i < COUNT; i++) {
        make_directories(planted[i].path);
        reset(&planted[i]);
    }
}

/* ---- what it says ---- */

static void check_clean(const char *text, size_t size)
{
    CHECK(nri_utf8_valid(text, size, NULL));
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        CHECK((byte >= 0x20 && byte != 0x7f) || byte == '\n');
        CHECK(byte != 0xc2 || (unsigned char)text[i + 1] >= 0xa0); /* no C1 control */
    }
}

static void look(bool json)
{
    char name[] = "doctor", option[] = "--all", flag[] = "--root", output[] = "--output";
    char form[5];
    char *argv[] = {name, option, flag, root, output, form, NULL};
    char *out = NULL, *err = NULL;
    size_t out_size = 0, err_size = 0;
    struct nrictl ctl = {.command = "doctor",
                         .out = open_memstream(&out, &out_size),
                         .err = open_memstream(&err, &err_size)};
    CHECK(ctl.out != NULL && ctl.err != NULL);
    (void)snprintf(form, sizeof form, "%s", json ? "json" : "text");
    const int code = nrictl_doctor.run(&ctl, &nrictl_doctor, 6, argv);
    CHECK(fclose(ctl.out) == 0 && fclose(ctl.err) == 0);
    CHECK(code == NRICTL_OK || code == NRICTL_FINDING || code == NRICTL_ENVIRONMENT);
    CHECK((code == NRICTL_ENVIRONMENT) == (err_size > 0));
    if (json)
        CHECK(nri_utf8_valid(out, out_size, NULL));
    else
        check_clean(out, out_size);
    check_clean(err, err_size);
    free(out);
    free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > (1 << 18))
        return 0;
    make_root();
    const struct planted *file = &planted[data[0] % COUNT];
    plant(file->path, data + 1, size - 1);
    look(data[0] >= 128);
    reset(file);
    return 0;
}
