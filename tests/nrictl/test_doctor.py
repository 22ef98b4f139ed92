#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_doctor.py NRICTL PROGRAMS LISTEN DOC: nrictl doctor finds each planted fault, and nothing else."""
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys

import case
import faked_root
from faked_root import Root, elf

LISTEN, DOC = sys.argv[1:3]
del sys.argv[1:3]

SECTION = '[plugins."io.containerd.nri.v1.nri"]'
CONFIG = "/etc/containerd/config.toml"
PLUGINS, DROPINS = "/opt/nri/plugins/", "/etc/nri/conf.d/"
LOGGER = PLUGINS + "10-logger"
# What is found in each healthy root beyond what is fine.
HEALTHY = {"containerd": set(), "containerd 1.7": {"runtime.old-nri", "runtime.no-sync"}, "cri-o": set(), "docker": set()}

FAULTS = {}


def fault(expected, *arguments, runtime="containerd", name=None):
    """Plants a fault that is found as `expected`, with such arguments."""
    def keep(plant):
        FAULTS[name or plant.__name__] = (runtime, plant, {expected}, arguments)
        return plant
    return keep


def without_runtime(root):
    root.remove("/usr/bin/containerd", CONFIG)


@fault("runtime.absent")
def no_runtime(root):
    without_runtime(root)
    shutil.rmtree(root.path("/opt"))
    shutil.rmtree(root.path("/etc/nri"))


@fault("runtime.absent", "--runtime", "docker")
def another_runtime(root):
    pass


@fault("runtime.no-nri")
def containerd_of_debian_12(root):
    root.version("1.6.20~ds1-1")


@fault("runtime.no-nri", runtime="docker")
def old_docker(root):
    root.version("5:29.1.5-1~debian")


@fault("runtime.no-nri", "--runtime", "cri-o@1.25.3", runtime="cri-o")
def old_crio(root):
    pass


@fault("runtime.version-unknown")
def no_packages(root):
    root.remove("/var/lib/dpkg/status")


@fault("runtime.version-unknown")
def package_is_removed(root):
    root.replace("/var/lib/dpkg/status", "ok installed\nVersion: 2.3", "ok not-installed\nVersion: 2.3")


@fault("runtime.old-nri")
def old_nri(root):
    root.version("2.1.9-1")


@fault("config.unreadable")
def config_is_a_pipe(root):
    root.remove(CONFIG)
    os.mkfifo(root.path(CONFIG))


@fault("config.unreadable")
def config_is_huge(root):
    with open(root.path(CONFIG), "r+b") as file:
        file.truncate(1 << 42)


@fault("config.unreadable", runtime="docker")
def config_is_a_directory(root):
    root.remove("/etc/docker/daemon.json")
    os.mkdir(root.path("/etc/docker/daemon.json"))


@fault("config.syntax")
def config_without_quotes(root):
    root.configure('"2s"', "2s")


@fault("config.syntax", runtime="docker")
def daemon_json_with_a_comma(root):
    root.configure("}}", "},}")


@fault("config.type")
def switch_in_quotes(root):
    root.configure("disable = false", 'disable = "false"')


@fault("config.type")
def relative_path(root):
    root.configure("disable = false", 'plugin_path = "opt/nri"')


@fault("config.unknown-key")
def misspelt_key(root):
    root.configure("disable = false", "disabled = false")


@fault("config.unknown-key", runtime="cri-o")
def old_key_of_crio(root):
    root.configure("nri_listen", "nri_socket_path")


@fault("config.version", runtime="containerd 1.7")
def no_version(root):
    root.configure("version = 2\n", "")


@fault("config.import-missing")
def missing_import(root):
    root.configure("conf.d/*.toml", "/etc/containerd/absent.toml")


@fault("config.import-version")
def newer_import(root):
    root.configure("version = 3", "version = 2")
    root.file("/etc/containerd/conf.d/50-new.toml", "version = 3\n")


@fault("config.not-imported")
def conf_d_without_import(root):
    root.configure('imports = ["conf.d/*.toml"]\n', "")
    root.file("/etc/containerd/conf.d/50-nri.toml", 'version = 3\n' + SECTION + '\nplugin_request_timeout = "4s"\n')


@fault("config.disabled-name")
def short_name(root):
    root.configure("version = 3", 'version = 3\ndisabled_plugins = ["cri"]')


@fault("config.syntax")
def broken_import(root):
    root.file("/etc/containerd/conf.d/50-new.toml", "version = \n")


@fault("config.nri-disabled")
def disabled(root):
    root.configure("disable = false", "disable = true")


@fault("config.nri-disabled", "--runtime", "containerd@2.4.0")
def disabled_plugin(root):
    root.configure("version = 3", 'version = 3\ndisabled_plugins = ["io.containerd.nri.v1.nri"]')


@fault("config.nri-disabled")
def disabled_in_import(root):
    root.file("/etc/containerd/conf.d/99-off.toml", "version = 3\n" + SECTION + "\ndisable = true\n")


@fault("config.nri-disabled", runtime="cri-o")
def disabled_in_crio(root):
    root.file("/etc/crio/crio.conf.d/99-off.conf", "[crio.nri]\nenable_nri = false\n")


@fault("config.nri-disabled", runtime="docker")
def disabled_in_docker(root):
    root.configure('"enable": true', '"enable": false')


@fault("config.cri-disabled")
def no_cri(root):
    root.configure("version = 3", 'version = 3\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]')


@fault("config.connections-disabled", "/usr/local/bin/nri-topology")
def no_connections(root):
    root.configure("disable = false", "disable_connections = true")


@fault("config.connections-disabled", "/usr/local/bin/nri-topology", runtime="docker")
def no_socket_in_docker(root):
    root.configure('/var/run/nri/nri.sock', "")


@fault("config.socket-path")
def socket_elsewhere(root):
    root.configure("disable = false", 'socket_path = "/run/containerd/nri.sock"')
    root.listen("containerd", "/run/containerd/nri.sock")
    os.chmod(root.path("/run/containerd"), 0o700)


@fault("config.shared-socket")
def two_runtimes(root):
    root.file(*faked_root.CONFIGS["cri-o"])
    root.add("/var/lib/dpkg/status", "Package: cri-o\nStatus: install ok installed\nVersion: 1.34.2\n\n")


@fault("socket.missing")
def no_socket(root):
    root.remove("/run/nri/nri.sock")


@fault("socket.not-socket")
def file_at_the_socket(root):
    root.file("/run/nri/nri.sock", "")


@fault("socket.stale")
def nobody_listens(root):
    root.listen("containerd", state=faked_root.CONNECTED)


@fault("socket.permission", "--user", "nobody")
def another_user(root):
    pass


@fault("socket.permission", "--user", "65534")
def socket_without_write(root):
    os.chmod(root.path("/run/nri"), 0o755)
    os.chmod(root.path("/run/nri/nri.sock"), 0o664)


@fault("socket.open")
def open_socket(root):
    os.chmod(root.path("/run/nri"), 0o755)
    os.chmod(root.path("/run/nri/nri.sock"), 0o666)


@fault("socket.other-listener")
def somebody_else(root):
    root.listen("socat")


@fault("socket.not-configured", "--socket", "/run/nri/nri2.sock")
def wrong_socket(root):
    pass


@fault("socket.path-too-long", "--socket", "/run/" + 30 * "long/" + "nri.sock")
def long_path(root):
    long = "/run/" + 30 * "long/" + "nri.sock"
    root.configure("disable = false", 'socket_path = "%s"' % long)


@fault("plugins.absent", "30-absent")
def absent_plugin(root):
    pass


@fault("plugins.directory")
def file_at_the_directory(root):
    shutil.rmtree(root.path("/opt/nri/plugins"))
    root.file("/opt/nri/plugins", "")
    shutil.rmtree(root.path("/etc/nri"))


@fault("plugins.directory-missing")
def no_directory(root):
    root.configure("disable = false", 'plugin_path = "/srv/plugins"')
    shutil.rmtree(root.path("/etc/nri"))


@fault("plugins.writable")
def writable_plugin(root):
    os.chmod(root.path(LOGGER), 0o777)


@fault("plugins.writable")
def writable_directory(root):
    os.chmod(root.path("/opt/nri/plugins"), 0o777)


@fault("plugins.name")
def misnamed_plugin(root):
    root.program(PLUGINS + "update.sh", "#!/bin/sh\n")


@fault("plugins.name")
def wrong_letter(root):
    root.program(PLUGINS + "30-my plugin", "#!/bin/sh\n")


@fault("plugins.mode")
def not_executable(root):
    root.file(PLUGINS + "30-new", "#!/bin/sh\n")


@fault("plugins.link")
def dangling_link(root):
    root.link(PLUGINS + "30-new", "/usr/lib/absent")


@fault("plugins.link")
def link_in_a_circle(root):
    root.link(PLUGINS + "30-new", "30-new")


@fault("plugins.kind")
def directory_as_plugin(root):
    os.mkdir(root.path(PLUGINS + "30-new"))


@fault("plugins.kind")
def pipe_as_plugin(root):
    os.mkfifo(root.path(PLUGINS + "30-new"), 0o755)


@fault("plugins.wasm")
def wasm(root):
    root.program(PLUGINS + "30-new", b"\0asm\1\0\0\0")


@fault("plugins.format")
def empty_plugin(root):
    root.program(PLUGINS + "30-new", "")


@fault("plugins.format")
def script_without_interpreter(root):
    root.program(PLUGINS + "30-new", "echo hello\n")


@fault("plugins.format")
def cut_off_program(root):
    root.program(PLUGINS + "30-new", elf()[:40])


@fault("plugins.format")
def object_file(root):
    root.program(PLUGINS + "30-new", elf(kind=1))


@fault("plugins.architecture")
def another_machine(root):
    root.program(PLUGINS + "30-new", elf(machine=faked_root.AARCH64))


@fault("plugins.loader")
def musl(root):
    root.program(PLUGINS + "30-new", elf(loader="/lib/ld-musl-x86_64.so.1", needed=["libc.musl-x86_64.so.1"]))


@fault("plugins.library")
def missing_library(root):
    root.program(PLUGINS + "30-new", elf(loader=faked_root.LOADER, needed=["libnri.so.0", "libc.so.6"]))


@fault("plugins.library")
def library_that_misses_one(root):
    root.program(PLUGINS + "30-new", elf(loader=faked_root.LOADER, needed=["libnri.so.0"], runpath="$ORIGIN/../lib"))
    root.file("/opt/nri/lib/libnri.so.0", elf(needed=["libuv.so.1"]))


@fault("plugins.library")
def library_of_another_machine(root):
    root.program(PLUGINS + "30-new", elf(loader=faked_root.LOADER, needed=["libnri.so.0"]))
    root.file("/usr/lib/libnri.so.0", elf(machine=faked_root.AARCH64))


@fault("plugins.library-version")
def newer_libc(root):
    root.program(PLUGINS + "30-new", elf(loader=faked_root.LOADER, needed=["libc.so.6"],
                                         requires=[("libc.so.6", "GLIBC_2.2.5"), ("libc.so.6", "GLIBC_2.38")]))


@fault("plugins.interpreter")
def no_interpreter(root):
    root.program(PLUGINS + "30-new", "#! /usr/bin/python3 -u\n")


@fault("plugins.interpreter")
def relative_interpreter(root):
    root.program(PLUGINS + "30-new", "#!sh\n")


@fault("plugins.line-end")
def windows(root):
    root.program(PLUGINS + "30-new", "#!/bin/sh\r\nexit 0\r\n")


@fault("plugins.search-path")
def env_elsewhere(root):
    root.program("/usr/local/bin/python3", elf())
    root.program(PLUGINS + "30-new", "#!/usr/bin/env -S A=1 python3 -u\n")


@fault("plugins.same-index")
def same_index(root):
    root.program(PLUGINS + "20-other", elf())


@fault("plugins.same-name")
def same_name(root):
    root.program(PLUGINS + "30-pinner", elf())
    root.file(DROPINS + "30-pinner.conf", "")  # pinner.conf is 20-pinner's still


@fault("dropins.unmatched")
def old_dropin(root):
    root.file(DROPINS + "30-gone.conf", "")


@fault("dropins.unmatched")
def dropin_with_another_index(root):
    root.remove(DROPINS + "10-logger.conf")
    root.file(DROPINS + "11-logger.conf", "")


@fault("dropins.shadowed")
def shadowed(root):
    root.file(DROPINS + "logger.conf", "")


@fault("dropins.suffix")
def yaml(root):
    root.file(DROPINS + "20-pinner.yaml", "")


@fault("dropins.suffix")
def no_suffix(root):
    root.file(DROPINS + "pinner", "")


@fault("dropins.unreadable")
def dropin_in_latin_1(root):
    root.file(DROPINS + "10-logger.conf", b"name: caf\xe9\n")


@fault("dropins.unreadable")
def dropin_is_a_pipe(root):
    root.remove(DROPINS + "10-logger.conf")
    os.mkfifo(root.path(DROPINS + "10-logger.conf"))


@fault("dropins.unreadable")
def dropin_is_a_link_to_nothing_that_is_a_file(root):
    root.link(DROPINS + "10-logger.conf", "/proc")


@fault("timeouts.invalid")
def no_duration(root):
    root.configure('"2s"', '"2 seconds"')


@fault("timeouts.invalid", runtime="cri-o")
def no_unit(root):
    root.configure("enable_nri = true", 'nri_plugin_registration_timeout = "5"')


@fault("timeouts.short")
def short(root):
    root.configure('"2s"', '"100ms"')


@fault("timeouts.long")
def long(root):
    root.configure('"2s"', '"2m30s"')


@fault("timeouts.long")
def as_long_as_configured(root):
    root.configure('"2s"', '"10s"')
    root.replace("/var/lib/kubelet/config.yaml", "0s", '"8s"  # short')


@fault("security.selinux")
def selinux(root):
    root.file("/sys/fs/selinux/enforce", "1")


@fault("security.apparmor")
def apparmor(root):
    root.file("/proc/4711/attr/current", "cri-containerd.apparmor.d (enforce)\n")


@fault("unit.address-families")
def no_unix_sockets(root):
    root.unit("RestrictAddressFamilies=AF_INET AF_INET6")


@fault("unit.address-families")
def no_unix_sockets_by_dropin(root):
    root.file("/etc/systemd/system/nri-topology.service.d/10.conf", "[Service]\nRestrictAddressFamilies=~AF_UNIX\n")


@fault("unit.hidden-socket")
def hidden_run(root):
    root.unit("TemporaryFileSystem=/run:ro")


@fault("unit.hidden-socket", "--socket", "/tmp/nri.sock")
def private_tmp(root):
    root.configure("disable = false", 'socket_path = "/tmp/nri.sock"')
    root.listen("containerd", "/tmp/nri.sock")
    os.chmod(root.path("/tmp"), 0o1777)


@fault("unit.hidden-socket", "nri-topology")
def own_root(root):
    root.remove("/etc/systemd/system/nri-topology.service")
    root.program("/usr/bin/nri-topology", elf())
    root.unit("RootDirectory=/srv/root", name="topology")
    root.program(PLUGINS + "40-nri-topology", elf())


@fault("unit.user")
def unit_of_nobody(root):
    root.unit("User=nobody")


@fault("unit.user")
def dynamic_user(root):
    root.unit("DynamicUser=yes")


@fault("unit.twice")
def twice(root):
    root.unit(name="logger", program=LOGGER)


@fault("environment.socket")
def socket_variable(root):
    root.file("/etc/environment", "NRI_PLUGIN_SOCKET=3\n")


@fault("environment.socket")
def socket_variable_in_unit(root):
    root.unit('Environment=A=1 \\', '  "NRI_PLUGIN_SOCKET=3"')


@fault("environment.identity")
def identity_in_unit(root):
    root.unit("Environment=NRI_PLUGIN_IDX=07")


class Doctor(case.Case):
    def root(self, runtime="containerd"):
        return Root(self.path("root"), runtime)

    def found(self, root, *arguments, expect=None):
        done = subprocess.run([case.NRICTL, "doctor", "--root", root.directory, "--output", "json", *arguments],
                              cwd=self.directory, env=self.environment(), capture_output=True, text=True,
                              timeout=case.PATIENCE, check=False)
        self.assertIn(done.returncode, (case.OK, case.FINDING) if expect is None else (expect,), done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        document = json.loads(done.stdout)
        problems = [each for each in document["findings"] if each["severity"] == "problem"]
        self.assertEqual(document["problems"], len(problems))
        if "--strict" not in arguments:
            self.assertEqual(done.returncode, case.FINDING if problems else case.OK)
        return document["findings"]

    def ids(self, findings):
        return {each["id"] for each in findings if each["severity"] != "fine"}

    def test_healthy_systems(self):
        for runtime, expected in HEALTHY.items():
            with self.subTest(runtime):
                self.setUp()
                findings = self.found(self.root(runtime))
                self.assertEqual(self.ids(findings), expected, findings)
                fine = {each["id"] for each in findings if each["severity"] == "fine"}
                self.assertLessEqual({"runtime.version", "config.read", "socket.listener", "plugins.ready", "dropins.read",
                                      "unit.read"}, fine)

    def test_each_fault_is_found_and_nothing_else(self):
        self.assertGreater(len(FAULTS), 60)
        for name, (runtime, plant, expected, arguments) in FAULTS.items():
            with self.subTest(name):
                self.setUp()
                root = self.root(runtime)
                plant(root)
                findings = self.found(root, *arguments)
                self.assertEqual(self.ids(findings) - HEALTHY[runtime], expected - HEALTHY[runtime], findings)
                self.assertLessEqual(expected, self.ids(findings))
                for each in findings:
                    self.assertTrue(each["what"])
                    if each["severity"] != "fine":
                        self.assertTrue(each["why"] and each["fix"], each)

    def test_all_that_can_be_found_is_planted(self):
        # What needs a system that runs is in the tests below.
        elsewhere = {"plugins.noexec", "plugins.unreadable", "runtime.no-sync", "socket.probe-failed"}
        kinds = {each["id"] for each in self.run_json("doctor", "--list") if each["severity"] != "fine"}
        planted = set().union(*(expected for _, _, expected, _ in FAULTS.values()))
        self.assertEqual(kinds - planted, elsewhere)

    # ---- forms of configuration

    def test_containerd_merges_imports_as_its_version_does(self):
        # 2.x merges the section by its keys; 1.7 replaces it, and then NRI is off by default.
        for runtime, version, expected in (("containerd", 3, set()), ("containerd 1.7", 2, {"config.nri-disabled"})):
            with self.subTest(runtime):
                self.setUp()
                root = self.root(runtime)
                if runtime == "containerd 1.7":
                    root.configure("version = 2", 'version = 2\nimports = ["conf.d/*.toml"]')
                root.file("/etc/containerd/conf.d/a.toml",
                          'version = %d\n%s\nplugin_registration_timeout = "6s"\n' % (version, SECTION))
                found = self.ids(self.found(root))
                self.assertEqual(found & {"config.nri-disabled"}, expected)

    def test_containerd_off_by_default(self):
        root = self.root("containerd 1.7")
        root.remove(CONFIG)
        findings = self.found(root)
        off = [each for each in findings if each["id"] == "config.nri-disabled"]
        self.assertEqual(len(off), 1)
        self.assertIn("by default", off[0]["what"])
        for line in ("version = 2", SECTION, "disable = false", "systemctl restart containerd"):
            self.assertIn(line, off[0]["fix"])

    def test_the_fix_of_disabled_is_a_fix(self):
        root = self.root("containerd 1.7")
        root.remove(CONFIG)
        fix = next(each["fix"] for each in self.found(root) if each["id"] == "config.nri-disabled")
        lines = [line for line in fix.splitlines() if not line.startswith(("in ", "sudo "))]
        root.file(CONFIG, "\n".join(lines) + "\n")
        self.assertEqual(self.ids(self.found(root)), HEALTHY["containerd 1.7"])

    def test_defaults_that_are_written_out(self):
        # As "containerd config default" does; without plugins of the runtime's own nothing is amiss.
        root = self.root()
        root.configure("disable = false", 'disable = false\nplugin_path = "/opt/nri/plugins"\n'
                       'plugin_config_path = "/etc/nri/conf.d"\nsocket_path = "/var/run/nri/nri.sock"')
        shutil.rmtree(root.path("/opt"))
        shutil.rmtree(root.path("/etc/nri"))
        self.assertEqual(self.ids(self.found(root)), set())

    def test_more_imports_than_are_read(self):
        root = self.root()
        for number in range(63):
            root.file("/etc/containerd/conf.d/%02d.toml" % number, "version = 3\n")
        self.assertEqual(self.ids(self.found(root)), set())
        for number in (63, 64):
            root.file("/etc/containerd/conf.d/%02d.toml" % number, "version = 3\n" + SECTION + "\ndisable = true\n")
        found = [each for each in self.found(root) if each["severity"] != "fine"]
        self.assertEqual([(each["id"], each["where"]) for each in found],
                         [("config.unreadable", "/etc/containerd/conf.d/63.toml")])

    def test_files_that_nobody_imports(self):
        # Of others than NRI's nothing is said, and what is not imported does not count.
        root = self.root()
        root.configure('imports = ["conf.d/*.toml"]\n', "")
        root.file("/etc/containerd/conf.d/10-mirror.toml", "version = 3\n[plugins.'io.containerd.grpc.v1.cri']\nx = 1\n")
        self.assertEqual(self.ids(self.found(root)), set())
        root.file("/etc/containerd/conf.d/99-off.toml", "version = 3\n\n" + SECTION + "\ndisable = true\n")
        found = [each for each in self.found(root) if each["severity"] != "fine"]
        self.assertEqual([each["id"] for each in found], ["config.not-imported"])
        self.assertEqual(found[0]["where"], "/etc/containerd/conf.d/99-off.toml:3")
        root.configure("version = 3", 'version = 3\n' + found[0]["fix"].splitlines()[0].split("   #")[0])
        self.assertEqual(self.ids(self.found(root)), {"config.nri-disabled"})

    def test_short_names_are_of_version_1(self):
        for runtime, version, expected in (("containerd 1.7", "", {"config.nri-disabled"}), ("containerd", "", set()),
                                           ("containerd 1.7", "version = 2\n", {"config.disabled-name"}),
                                           ("containerd", "version = 2\n", {"config.disabled-name"})):
            with self.subTest(runtime + version):
                self.setUp()
                root = self.root(runtime)
                nri = "nri" if version == "" and runtime == "containerd 1.7" else "io.containerd.nri.v1.nri"
                root.file(CONFIG, '%sdisabled_plugins = ["nri"]\n[plugins."%s"]\ndisable = false\n' % (version, nri))
                self.assertEqual(self.ids(self.found(root)) - HEALTHY[runtime], expected)

    def test_imports_in_a_circle(self):
        root = self.root()
        root.file("/etc/containerd/conf.d/a.toml", 'imports = ["../config.toml", "a.toml", "*.toml"]\nversion = 3\n')
        self.found(root, expect=case.OK)

    def test_docker_beside_containerd(self):
        # Docker's own containerd has no CRI, and needs none; a Docker without NRI is no fault of a Kubernetes node.
        root = self.root("docker")
        root.file(CONFIG, 'disabled_plugins = ["cri"]\n')
        self.assertEqual(self.ids(self.found(root, "--runtime", "containerd@2.3")), set())
        root = Root(self.path("other"))
        root.program("/usr/bin/dockerd", elf())
        root.add("/var/lib/dpkg/status", "Package: docker-ce\nStatus: install ok installed\nVersion: 5:29.5.0\n")
        findings = self.found(root)
        self.assertEqual(self.ids(findings), set())
        self.assertIn("config.other-disabled", {each["id"] for each in findings})

    def test_package_databases(self):
        for path, text in (("/lib/apk/db/installed", "C:Q1\nP:containerd\nV:2.1.4-r0\n\n"),
                           ("/var/lib/pacman/local/containerd-2.1.4-1/desc", "")):
            with self.subTest(path):
                self.setUp()
                root = self.root()
                root.remove("/var/lib/dpkg/status")
                root.file(path, text)
                version = next(each for each in self.found(root) if each["id"] == "runtime.version")
                self.assertIn("containerd 2.1.4", version["what"])
                self.assertIn("NRI 0.8.0", version["what"])

    # ---- options

    def test_directories_and_configuration_elsewhere(self):
        root = self.root()
        root.program("/srv/plugins/30-other", elf())
        root.file("/srv/conf/30-other.conf", "x")
        findings = self.found(root, "--plugin-dir", "/srv/plugins", "--config-dir", "/srv/conf")
        self.assertEqual(self.ids(findings), set())
        self.assertEqual([each["where"] for each in findings if each["id"] in ("plugins.ready", "dropins.read")],
                         ["/srv/plugins/30-other", "/srv/conf/30-other.conf"])
        root.remove(CONFIG)
        root.file("/srv/config.toml", SECTION + "\ndisable = true\n")
        self.assertEqual(self.ids(self.found(root, "--containerd-config", "/srv/config.toml")), {"config.nri-disabled"})

    def test_one_plugin(self):
        for asked in ("10-logger", "logger", LOGGER):
            with self.subTest(asked):
                self.setUp()
                root = self.root()
                root.program(PLUGINS + "30-other", "")
                findings = self.found(root, asked, expect=case.OK)
                self.assertEqual([each["where"] for each in findings if each["id"] == "plugins.ready"], [LOGGER])
        self.assertEqual(self.ids(self.found(root, "30-other")), {"plugins.format"})

    def test_external_plugin(self):
        root = self.root()
        findings = self.found(root, "/usr/local/bin/nri-topology", expect=case.OK)
        self.assertIn("/usr/local/bin/nri-topology", [each["where"] for each in findings if each["id"] == "plugins.ready"])
        root.program("/usr/local/bin/nri-topology", elf(loader=faked_root.LOADER, needed=["absent.so"]))
        self.assertEqual(self.ids(self.found(root, "/usr/local/bin/nri-topology")), {"plugins.library"})
        os.chmod(root.path("/usr/local/bin/nri-topology"), 0o644)
        self.assertEqual(self.ids(self.found(root, "/usr/local/bin/nri-topology")), {"plugins.mode"})

    def test_strict(self):
        root = self.root()
        self.found(root, "--strict", expect=case.OK)
        same_index(root)
        self.found(root, expect=case.OK)
        self.found(root, "--strict", expect=case.FINDING)

    def test_image_without_processes(self):
        root = self.root()
        shutil.rmtree(root.path("/proc"))
        no_socket(root)
        self.found(root, expect=case.OK)

    def test_text(self):
        root = self.root()
        misnamed_plugin(root)
        text = self.run_nrictl("doctor", "--root", root.directory, expect=case.FINDING).stdout
        self.assertRegex(text, r"(?m)^plugins\n  problem .*update\.sh may be executed.*\[plugins\.name\]\n    at:  .*\n    why: .*\n"
                               r"    fix: sudo mv .*\n         sudo chmod -x .*\n")
        self.assertNotIn("fine", text)
        self.assertTrue(text.endswith("1 problem, 0 warnings, 0 notes\n"))
        text = self.run_nrictl("doctor", "--root", root.directory, "--all", "--color", "always", expect=case.FINDING).stdout
        self.assertIn("\033[31mproblem", text)
        self.assertIn("\033[32mfine", text)

    def test_names_cannot_reach_the_terminal(self):
        root = self.root()
        root.program(PLUGINS + "30-\033[2J\nfine", elf())
        text = self.run_nrictl("doctor", "--root", root.directory, expect=case.FINDING).stdout
        self.assertNotIn("\033", text)
        self.assertIn("30-\\x1b[2J", text)
        root.program(PLUGINS + "30-latin", elf())
        os.rename(os.fsencode(root.path(PLUGINS + "30-latin")), os.fsencode(root.path(PLUGINS)) + b"30-\xff")
        self.assertIn("plugins.name", self.ids(self.found(root)))

    def test_usage(self):
        self.refused("doctor", "--root", "absent", says="--root absent: No such file")
        self.refused("doctor", "--root", "config.json", says="--root config.json: Not a directory")
        self.refused("doctor", "--runtime", "podman", says="containerd, cri-o or docker")
        self.refused("doctor", "--runtime", "containerd@new", says="not 'containerd@new'")
        self.refused("doctor", "--user", "no-such-user", says="there is no user 'no-such-user'")
        self.refused("doctor", "--root", ".", "--probe", says="not with --root")
        self.refused("doctor", "one", "two", says="one plugin at a time, not 2")
        for option in ("--root", "--socket", "--plugin-dir", "--config-dir", "--containerd-config", "--user"):
            self.refused("doctor", option, "", says=option + " needs a path")

    # ---- roots of an enemy

    def test_links_stay_inside(self):
        secret = self.write("secret.toml", "not toml at all")
        outside = os.path.join(self.directory, secret)
        for target in (outside, "../" * 40 + outside.lstrip("/")):
            with self.subTest(target):
                self.setUp()
                root = self.root()
                root.link(CONFIG, target)
                self.assertEqual(self.ids(self.found(root)), set())  # a link to nothing there: the defaults
        root = Root(self.path("inside"))
        os.rename(root.path(CONFIG), root.path("/srv.toml"))
        root.link(CONFIG, "/srv.toml")
        root.replace("/srv.toml", "disable = false", "disable = true")
        self.assertEqual(self.ids(self.found(root)), {"config.nri-disabled"})

    def test_pipes_devices_and_circles_everywhere(self):
        root = self.root()
        paths = ["/etc/passwd", "/etc/group", "/etc/environment", "/var/lib/dpkg/status", "/lib/apk/db/installed", CONFIG,
                 "/etc/crio/crio.conf", "/etc/docker/daemon.json", "/proc/net/unix", "/proc/4711/comm", LOGGER, "/bin/sh",
                 "/usr/bin/env", "/etc/ld.so.conf", faked_root.LIBC, DROPINS + "pinner.conf", "/var/lib/kubelet/config.yaml",
                 "/etc/systemd/system/nri-topology.service", "/sys/fs/selinux/enforce", "/run/nri/nri.sock"]

        def circle(path):
            os.symlink(os.path.basename(path), path)

        def zero(path):
            os.symlink("/dev/zero", path)
        os.makedirs(root.path("/dev"), exist_ok=True)
        try:
            os.mknod(root.path("/dev/zero"), stat.S_IFCHR | 0o666, os.makedev(1, 5))
        except PermissionError:
            os.mkfifo(root.path("/dev/zero"))
        for make in (os.mkfifo, os.mkdir, circle, zero):
            for path in paths:
                full = root.path(path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                if os.path.isdir(full) and not os.path.islink(full):
                    os.rmdir(full)
                root.remove(path)
                make(full)
            self.found(root, "--user", "0")

    def test_huge_lists(self):
        root = self.root()
        for number in range(5000):
            os.mkdir(root.path(PLUGINS + "d%d" % number))
        root.file("/etc/ld.so.conf", "include /etc/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*\n")
        for number in range(8):
            root.link("/etc/loop%d" % number, ".")
        self.found(root)

    def test_broken_programs(self):
        whole = elf(loader=faked_root.LOADER, needed=["libc.so.6"], requires=[("libc.so.6", "GLIBC_2.34")], defines=["A"])
        root = self.root()
        for at in range(4, len(whole)):
            broken = bytearray(whole)
            broken[at] ^= 0xff
            root.program(PLUGINS + "%02d-broken%d" % (at % 90 + 10, at), bytes(broken))
            root.program(PLUGINS + "%02d-cut%d" % (at % 90 + 10, at), whole[:at])
        self.assertIn("plugins.format", self.ids(self.found(root)))

    # ---- this system

    def test_real_programs(self):
        # A real plugin with real libraries, and the same with a library that is not there.
        directory = self.path("real-plugins")
        os.mkdir(directory)
        logger = os.path.join(case.PROGRAMS, "nri-logger")
        os.symlink(logger, os.path.join(directory, "10-logger"))
        with open(logger, "rb") as file:
            program = file.read()
        self.assertIn(b"\0libnri.so.", program)
        with open(os.path.join(directory, "20-broken"), "wb") as file:
            file.write(program.replace(b"\0libnri.so.", b"\0libnrj.so."))
        os.chmod(os.path.join(directory, "20-broken"), 0o755)
        done = self.run_json("doctor", "--plugin-dir", "real-plugins", "--config-dir", "absent", expect=case.FINDING)
        plugins = {os.path.basename(each["where"]): each["id"] for each in done["findings"]
                   if each["id"].startswith("plugins.")}
        self.assertEqual(plugins, {"10-logger": "plugins.ready", "20-broken": "plugins.library"}, done)

    def test_plugin_that_cannot_be_read(self):
        root = self.root()
        os.chmod(root.path(LOGGER), 0o711)
        os.chmod(root.path("/run/nri"), 0o711)
        command = [os.path.join(self.directory, "copied-nrictl"), "doctor", "--root", root.directory, "--output", "json"]
        shutil.copy(case.NRICTL, command[0])
        for directory in (os.path.dirname(self.directory), self.directory):
            os.chmod(directory, 0o755)
        own = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if not own:
            os.chmod(root.path(LOGGER), 0o111)
        done = subprocess.run(command, capture_output=True, text=True, timeout=case.PATIENCE, check=False, **own)
        found = self.ids(json.loads(done.stdout)["findings"])
        self.assertIn("plugins.unreadable", found, done.stdout + done.stderr)
        if own:  # who asks is not who made the socket
            self.assertEqual(found, {"plugins.unreadable", "socket.permission"})

    def test_noexec(self):
        script = ("mount -t tmpfs -o mode=755%s none mounted-noexec && install -m 755 /bin/true mounted-noexec/10-true && "
                  "exec '%s' doctor --plugin-dir mounted-noexec --config-dir absent")
        os.mkdir(self.path("mounted-noexec"))
        unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        if subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("no mount namespaces here")
        for option, found in ((",noexec", True), ("", False)):
            done = subprocess.run([*unshare, "sh", "-c", script % (option, case.NRICTL)], cwd=self.directory, check=False,
                                  capture_output=True, text=True, timeout=case.PATIENCE)
            self.assertEqual("[plugins.noexec]" in done.stdout, found, done.stdout + done.stderr)

    def start_runtime(self):
        path = self.path("nri.sock")
        process = subprocess.Popen([LISTEN, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process, path

    def live(self, *arguments):
        done = subprocess.run([case.NRICTL, "doctor", "-o", "json", *arguments], cwd=self.directory,
                              env=self.environment(), capture_output=True, text=True, timeout=case.PATIENCE, check=False)
        return {each["id"]: each["what"] for each in json.loads(done.stdout)["findings"]}

    def test_live_socket(self):
        process, path = self.start_runtime()
        found = self.live("--socket", path)
        # Its program's name is none of a runtime's.
        self.assertIn("listen (pid %d) listens on" % process.pid, found["socket.other-listener"])
        self.assertNotIn("socket.stale", found)
        self.assertNotIn("socket.probe", found)

    def test_probe(self):
        process, path = self.start_runtime()
        found = self.live("--socket", "nri.sock", "--probe")
        self.assertIn("pid %d answered as containerd 2.3.0" % process.pid, found["socket.probe"])
        out, _ = process.communicate()
        self.assertEqual(out, "0 synchronised\n")
        process.wait()

    def test_probe_of_what_is_no_runtime(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("nri.sock"))
            listener.listen(1)
            process = subprocess.Popen([case.NRICTL, "doctor", "--socket", "nri.sock", "--probe"], cwd=self.directory,
                                       stdout=subprocess.PIPE, text=True)
            with listener.accept()[0] as peer:
                self.assertIn(b"nrictl-doctor", peer.recv(65536))
            out, _ = process.communicate(timeout=case.PATIENCE)
        self.assertIn("[socket.probe-failed]", out)

    def test_left_over_socket(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("nri.sock"))
        self.assertIn("socket.stale", self.live("--socket", "nri.sock"))
        self.assertIn("socket.missing", self.live("--socket", "absent.sock"))

    def test_own_environment(self):
        done = subprocess.run([case.NRICTL, "doctor"], env={**self.environment(), "NRI_PLUGIN_SOCKET": "3"},
                              capture_output=True, text=True, timeout=case.PATIENCE, check=False)
        self.assertIn("this environment has NRI_PLUGIN_SOCKET=3", done.stdout)
        self.assertIn("fix: unset NRI_PLUGIN_SOCKET", done.stdout)

    def test_programs_below_a_root_are_never_run(self):
        root = self.root()
        for program in ("/usr/bin/containerd", "/usr/local/bin/containerd", LOGGER):
            root.program(program, "#!/bin/sh\ntouch %s\necho 'containerd example.org v2.0.1 abc'\n" % self.path("ran"))
        version = next(each for each in self.found(root) if each["id"] == "runtime.version")
        self.assertIn("containerd 2.3.0", version["what"])
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_version_of_this_systems_runtime(self):
        script = ("mount -t tmpfs none /usr/local/bin && printf '#!/bin/sh\\necho %s\\n' > /usr/local/bin/%s && "
                  "chmod 755 /usr/local/bin/%s && exec '%s' doctor --all %s")
        program = self.path("copied-nrictl")
        shutil.copy(case.NRICTL, program)
        root = self.root()
        root.program("/usr/local/bin/containerd", elf())
        unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        if subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("no mount namespaces here")
        for options, binary, text, expected in (
                ("--runtime containerd", "containerd", "containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7",
                 "containerd 2.1.4 with NRI 0.8.0"),
                # Below a root the one of this system says nothing.
                ("--root " + root.directory, "containerd", "containerd example.org v2.1.4", "containerd 2.3.0-1 with NRI 0.12.0"),
                ("--runtime cri-o", "crio", "crio version 1.34.0", "CRI-O 1.34.0 with NRI 0.10.0"),
                ("--runtime docker", "dockerd", "Docker version 29.5.0, build abc", "Docker 29.5.0 with NRI 0.12.0")):
            with self.subTest(options):
                done = subprocess.run([*unshare, "sh", "-c", script % (text, binary, binary, program, options)], check=False,
                                      capture_output=True, text=True, timeout=case.PATIENCE)
                self.assertIn(expected, done.stdout, done.stderr)

    # ---- the documentation

    def test_documentation_has_the_table(self):
        with open(DOC, encoding="utf-8") as file:
            text = file.read()
        rows = ["| `%s` | %s | %s | %s |" % (each["id"], each["severity"], each["what"], each["why"])
                for each in self.run_json("doctor", "--list") if each["severity"] != "fine"]
        documented = [line for line in text.splitlines() if re.match(r"\| `[a-z]+\.[a-z-]+` \|", line)]
        self.assertEqual(documented, rows)
        listed = self.run_nrictl("doctor", "--list").stdout
        self.assertIn("socket.stale", listed)


case.main()
