#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layering.py ROOT: the rules of the house that a compiler does not know.

Prints one line a violation, FILE:LINE: RULE: TEXT, and exits with 1 when there is any.
selftest.py shows that each rule can fail.
"""
import os
import re
import sys

# A room includes itself and what stands before it.
ROOMS = ["base", "json", "wire", "proto", "rpc", "model", "plugin", "runtime", "oci", "io", "app"]
# These see libnri as its users do.
PUBLIC_ONLY = ("lib/app/", "examples/")
# nri-app is a library of its own, with dependencies of its own; libnri has neither.
APP_ONLY = ("microhttpd.h", "yaml.h")
APP_HEADER = "app.h"
MAX_LINES = 600

# A deadline or delay must not change when somebody sets the time of day. Only the log shows that.
TIMED = ("lib/", "examples/", "tests/plugins/")
WALL_CLOCK_ALLOWED = ("lib/app/log.c",)

# C library and system headers that mean a system call; <unistd.h> among them.
SYSTEM_HEADERS = {
    "dirent.h", "fcntl.h", "netdb.h", "poll.h", "spawn.h", "sys/epoll.h", "sys/eventfd.h",
    "sys/file.h", "sys/inotify.h", "sys/ioctl.h", "sys/mman.h", "sys/mount.h", "sys/random.h",
    "sys/select.h", "sys/sendfile.h", "sys/signalfd.h", "sys/socket.h", "sys/stat.h",
    "sys/syscall.h", "sys/timerfd.h", "sys/un.h", "sys/vfs.h", "sys/wait.h", "unistd.h",
}
SYSTEM_CALLS = """
    accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg
    recvmsg send sendmmsg sendmsg sendto setsockopt shutdown socket socketpair
    close creat dup dup2 dup3 fcntl ioctl lseek open open64 openat pipe pipe2 pread pwrite read
    readv write writev
    epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd poll ppoll pselect select
    signalfd timerfd_create timerfd_settime
    clone execl execle execlp execv execve execvp execvpe fork kill pidfd_open pidfd_send_signal
    posix_spawn posix_spawnp popen prctl syscall system vfork wait wait3 wait4 waitid waitpid
    access chmod chown faccessat fchmod fchown fstat fstatat fstatfs ftruncate getcwd link lstat
    mkdir mkdtemp mkstemp mount opendir readdir readlink realpath rename rmdir stat statfs statx
    symlink truncate unlink unlinkat umount
    fclose fdopen fflush fgets fopen fread freopen fscanf fwrite getdelim getline tmpfile
    clock clock_gettime clock_nanosleep gettimeofday nanosleep sleep time usleep
    getentropy getrandom rand random srand srandom
    getenv putenv secure_getenv setenv unsetenv
    getauxval getegid geteuid getgid gethostname getpid getppid gettid getuid
    alarm pause pthread_sigmask raise setitimer sigaction signal sigprocmask sigsuspend
    mmap munmap
""".split()
ALLOCATORS = """
    aligned_alloc alloca asprintf calloc malloc memalign open_memstream posix_memalign realloc
    reallocarray strdup strndup valloc vasprintf
""".split()
PRINTERS = """
    abort assert dprintf err errx exit fprintf fputc fputs perror printf psignal putchar puts
    quick_exit syslog verr verrx vdprintf vfprintf vprintf vsyslog vwarn warn warnx
    _exit _Exit __assert_fail __builtin_trap
""".split()

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def call_pattern(names):
    """A call of one of the functions, not of a structure's member of that name."""
    return re.compile(r"(?<![\w.])(?<!->)(" + "|".join(map(re.escape, names)) + r")\s*\(")


SYSTEM_CALL = call_pattern(SYSTEM_CALLS)
PRINTER = call_pattern(PRINTERS)
STREAM = re.compile(r"\b(stdin|stdout|stderr)\b")
WALL_CLOCK = re.compile(
    r"\b(CLOCK_REALTIME\w*|CLOCK_TAI|TIME_UTC)\b|" + call_pattern(
        ["time", "gettimeofday", "ftime", "sem_timedwait", "mtx_timedlock", "cnd_timedwait",
         "pthread_mutex_timedlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
         "mq_timedsend", "mq_timedreceive", "uv_clock_gettime", "uv_gettimeofday"]).pattern)
CONDITION_WAIT = call_pattern(["pthread_cond_timedwait"])
# Taking the address of malloc is using it; free is too common a member name for that.
ALLOCATION = re.compile(
    r"(?<![\w.])(?<!->)(?:(" + "|".join(ALLOCATORS) + r")\b|(free)\s*\()")


def code_of(text):
    """The text with comments, strings and characters blanked; lines stay where they are."""
    return NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def room_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "lib" else None


class Checker:
    def __init__(self, root):
        self.root = root
        self.violations = []

    def fail(self, path, line, rule, text):
        self.violations.append(f"{path}:{line}: {rule}: {text}")

    def files(self, *tops):
        for top in tops:
            for where, dirs, names in os.walk(os.path.join(self.root, top)):
                dirs.sort()
                for name in sorted(names):
                    yield os.path.relpath(os.path.join(where, name), self.root)

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def check_include(self, path, number, quote, target):
        room = room_of(path)
        public_only = path.startswith(PUBLIC_ONLY)
        own = target.split("/")[0] if "/" in target else None
        if target == "uv.h" or target.startswith("uv/"):
            if room not in ("io", "app"):
                self.fail(path, number, "uv", "uv.h outside lib/io and lib/app")
        elif target in APP_ONLY:
            if room != "app" and not path.startswith("examples/"):
                self.fail(path, number, "app", f"<{target}> outside lib/app")
        elif target == "nri/app.h" and room in ROOMS and room != "app":
            self.fail(path, number, "upward", f"lib/{room} must not know <{target}>")
        elif target.startswith("yajl/") or target.startswith("yajl_"):
            if room != "json" and not path.startswith("examples/"):
                self.fail(path, number, "yajl", "yajl outside lib/json")
        elif path.startswith("include/"):
            if not target.startswith("nri/") and target not in (
                    "stdbool.h", "stddef.h", "stdint.h"):
                self.fail(path, number, "public",
                          f"<{target}>: a public header includes public headers only")
        elif quote == '"':
            if public_only:
                if "/" in target:
                    self.fail(path, number, "public", f'"{target}": only <nri/...> is for users')
            elif own not in ROOMS:
                self.fail(path, number, "include",
                          f'"{target}": write the room, as in "base/arena.h"')
            elif room in ROOMS and ROOMS.index(own) > ROOMS.index(room):
                self.fail(path, number, "upward", f'lib/{room} must not know "{target}"')
        elif target.startswith("protobuf-c/"):
            if public_only or (room in ROOMS and ROOMS.index(room) < ROOMS.index("wire")):
                self.fail(path, number, "upward", f"lib/{room} must not know <{target}>")
        elif room in ROOMS and room not in ("io", "app") and target in SYSTEM_HEADERS:
            self.fail(path, number, "syscall", f"<{target}> outside lib/io")
        elif own in ROOMS:
            self.fail(path, number, "include", f"<{target}>: internal headers take quotes")

    def check_calls(self, path, code):
        room = room_of(path)
        if room in (None, "app"):
            return
        for number, line in enumerate(code.split("\n"), 1):
            for found in SYSTEM_CALL.finditer(line):
                if room != "io":
                    self.fail(path, number, "syscall", f"{found.group(1)}() outside lib/io")
            for found in ALLOCATION.finditer(line):
                if room != "base":
                    name = found.group(1) or found.group(2)
                    self.fail(path, number, "allocation", f"{name} outside lib/base")
            for found in PRINTER.finditer(line):
                self.fail(path, number, "print", f"{found.group(1)}() in a library")
            for found in STREAM.finditer(line):
                self.fail(path, number, "print", f"{found.group(1)} in a library")

    def has_monotonic_conditions(self, path):
        """Whether a file of the same directory makes condition variables whose clock nobody sets."""
        where = os.path.dirname(path)
        return any("pthread_condattr_setclock(" in self.read(other) and "CLOCK_MONOTONIC" in self.read(other)
                   for other in self.files(where) if other.endswith(".c"))

    def check_clock(self, path, code):
        if not path.startswith(TIMED) or path in WALL_CLOCK_ALLOWED:
            return
        for number, line in enumerate(code.split("\n"), 1):
            for found in WALL_CLOCK.finditer(line):
                if room_of(path) not in (None, "io", "app") and found.group(2) in SYSTEM_CALLS:
                    continue  # check_calls() has it
                self.fail(path, number, "clock", f"{found.group(1) or found.group(2)}: the time of day may jump")
            if CONDITION_WAIT.search(line) and not self.has_monotonic_conditions(path):
                self.fail(path, number, "clock", "pthread_cond_timedwait() without pthread_condattr_setclock()")

    def check_source(self, path):
        text = self.read(path)
        lines = text.split("\n")
        if "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
            self.fail(path, 1, "licence", "the first line has the SPDX identifier")
        if text.count("\n") > MAX_LINES:
            self.fail(path, MAX_LINES, "length", f"{text.count(chr(10))} lines, {MAX_LINES} allowed")
        if path.startswith(("lib/", "include/", "examples/")):
            code = code_of(text)
            for number, (line, bare) in enumerate(zip(lines, code.split("\n")), 1):
                found = INCLUDE.match(line)
                if found and bare.strip():
                    self.check_include(path, number, found.group(1), found.group(2))
            self.check_calls(path, code)
        self.check_clock(path, code_of(text))

    def check_rooms(self):
        lib = os.path.join(self.root, "lib")
        if not os.path.isdir(lib):
            return
        for name in sorted(os.listdir(lib)):
            if os.path.isdir(os.path.join(lib, name)) and name not in ROOMS:
                self.fail(f"lib/{name}", 0, "room", "not in the list of rooms")

    def check_public_headers(self):
        """Each public header is installed and part of <nri/nri.h>."""
        if not os.path.exists(os.path.join(self.root, "include/nri/meson.build")):
            return
        installed = set(re.findall(r"'([\w.]+\.h)'", self.read("include/nri/meson.build")))
        everything = self.read("include/nri/nri.h")
        for path in self.files("include/nri"):
            name = os.path.basename(path)
            if not name.endswith(".h"):
                continue
            if name not in installed:
                self.fail(path, 0, "public", "not in include/nri/meson.build")
            if name not in ("nri.h", APP_HEADER) and f"#include <nri/{name}>" not in everything:
                self.fail(path, 0, "public", "not included by <nri/nri.h>")

    def run(self):
        self.check_rooms()
        self.check_public_headers()
        count = 0
        for path in self.files("lib", "include", "tools", "examples", "tests"):
            if path.endswith((".c", ".h", ".h.in")):
                self.check_source(path)
                count += 1
        return count


def main():
    checker = Checker(sys.argv[1])
    count = checker.run()
    for violation in checker.violations:
        print(violation)
    if count == 0:
        print("no source file found")
        return 1
    print(f"{count} files, {len(checker.violations)} violations")
    return 1 if checker.violations else 0


if __name__ == "__main__":
    sys.exit(main())
