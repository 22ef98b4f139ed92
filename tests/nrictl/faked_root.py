# SPDX-License-Identifier: Apache-2.0
"""Systems for nrictl doctor to look at: files below a directory, with ELF programs that are made byte by byte."""
import os
import socket
import struct

X86_64, AARCH64 = 62, 183
LOADER = "/lib64/ld-linux-x86-64.so.2"
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
LISTENS, CONNECTED = "00010000", "00000000"

CONFIGS = {
    "containerd": ("/etc/containerd/config.toml",
                   'version = 3\nimports = ["conf.d/*.toml"]\n\n[plugins."io.containerd.nri.v1.nri"]\n  disable = false\n'
                   '  plugin_request_timeout = "2s"\n'),
    "containerd 1.7": ("/etc/containerd/config.toml",
                       "version = 2\n[plugins]\n  [plugins.'io.containerd.nri.v1.nri']\n    disable = false\n"),
    "cri-o": ("/etc/crio/crio.conf.d/10-nri.conf",
              '[crio.nri]\nenable_nri = true\nnri_listen = "/var/run/nri/nri.sock"\n\n'
              '[crio.nri.default_validator]\nnri_enable_default_validator = false\n'),
    "docker": ("/etc/docker/daemon.json",
               '{"nri-opts": {"enable": true, "plugin-path": "/opt/nri/plugins", "plugin-config-path": "/etc/nri/conf.d",\n'
               '  "socket-path": "/var/run/nri/nri.sock"}}\n'),
}
PACKAGES = {"containerd": ("containerd.io", "2.3.0-1", "containerd"), "containerd 1.7": ("containerd", "1.7.24~ds1-6", "containerd"),
            "cri-o": ("cri-o", "1.34.2-1.1", "crio"), "docker": ("docker-ce", "5:29.5.0-1~debian.13~trixie", "dockerd")}


class Strings:
    def __init__(self):
        self.bytes = b"\0"

    def __call__(self, text):
        at = len(self.bytes)
        self.bytes += text.encode() + b"\0"
        return at


def elf(machine=X86_64, loader=None, needed=(), runpath=None, requires=(), defines=(), kind=3):
    """A little-endian ELF64 file that says so much; `requires` are (library, version), `defines` versions."""
    strings = Strings()
    entries = [(1, strings(name)) for name in needed]
    if runpath is not None:
        entries.append((29, strings(runpath)))
    headers = 3 if loader is not None else 2
    start = 64 + 56 * headers
    interpreter = b"" if loader is None else loader.encode() + b"\0"
    libraries = {}
    for library, version in requires:
        libraries.setdefault(library, []).append(version)
    verneed = b""
    for index, (library, versions) in enumerate(libraries.items()):
        last = index == len(libraries) - 1
        verneed += struct.pack("<HHIII", 1, len(versions), strings(library), 16, 0 if last else 16 + 16 * len(versions))
        for at, version in enumerate(versions):
            verneed += struct.pack("<IHHII", 0, 0, 2, strings(version), 0 if at == len(versions) - 1 else 16)
    verdef = b""
    for index, version in enumerate(defines):
        last = index == len(defines) - 1
        verdef += struct.pack("<HHHHIII", 1, 0, index + 1, 1, 0, 20, 0 if last else 28) + struct.pack("<II", strings(version), 0)
    count = len(entries) + 7
    dynamic_at = start + len(interpreter)
    verneed_at = dynamic_at + 16 * count
    verdef_at = verneed_at + len(verneed)
    strings_at = verdef_at + len(verdef)
    entries += [(5, strings_at), (10, len(strings.bytes))]
    if verneed:
        entries += [(0x6ffffffe, verneed_at), (0x6fffffff, len(libraries))]
    if verdef:
        entries += [(0x6ffffffc, verdef_at), (0x6ffffffd, len(defines))]
    entries += [(0, 0)] * (count - len(entries))
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    total = strings_at + len(strings.bytes)

    def header(type_, offset, size):
        return struct.pack("<IIQQQQQQ", type_, 5, offset, offset, offset, size, size, 8)
    programs = header(1, 0, total) + header(2, dynamic_at, len(dynamic))
    if loader is not None:
        programs += header(3, start, len(interpreter))
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    front = ident + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 64, 0, 0, 64, 56, headers, 64, 0, 0)
    return front + programs + interpreter + dynamic + verneed + verdef + strings.bytes


class Root:
    """A healthy system with a runtime, and what breaks it."""

    def __init__(self, directory, runtime="containerd"):
        self.directory = directory
        os.makedirs(directory, mode=0o755)
        self.runtime = runtime
        self.link("/var/run", "../run")
        self.file("/etc/passwd", "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
        self.file("/etc/group", "root:x:0:\nnogroup:x:65534:\n")
        self.program("/usr/bin/env", elf(loader=LOADER, needed=["libc.so.6"]))
        self.program("/bin/sh", elf(loader=LOADER, needed=["libc.so.6"]))
        self.program(LOADER, elf())
        self.file(LIBC, elf(defines=["GLIBC_2.2.5", "GLIBC_2.34"]))
        package, version, program = PACKAGES[runtime]
        self.program("/usr/bin/" + program, elf(loader=LOADER))
        self.file("/var/lib/dpkg/status", "Package: libc6\nStatus: install ok installed\nVersion: 2.36-9\n\nPackage: %s\n"
                  "Status: install ok installed\nVersion: %s\n\n" % (package, version))
        self.file(*CONFIGS[runtime])
        self.program("/opt/nri/plugins/10-logger", elf(loader=LOADER, needed=["libc.so.6"],
                                                       requires=[("libc.so.6", "GLIBC_2.34")]))
        self.program("/opt/nri/plugins/20-pinner", "#!/bin/sh\nexit 0\n")
        self.file("/opt/nri/plugins/README", "what is here\n")
        self.file("/etc/nri/conf.d/10-logger.conf", "events: all\n")
        self.file("/etc/nri/conf.d/pinner.conf", "cpus: 2-3\n")
        self.program("/usr/local/bin/nri-topology", elf(loader=LOADER))
        self.unit("RestrictAddressFamilies=AF_UNIX AF_INET", "PrivateTmp=yes", "ProtectHome=yes")
        self.file("/var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\nruntimeRequestTimeout: 0s\n")
        self.listen(program)

    def path(self, path):
        return self.directory + path

    def file(self, path, content, mode=0o644):
        self.remove(path)
        os.makedirs(os.path.dirname(self.path(path)), mode=0o755, exist_ok=True)
        with open(self.path(path), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(self.path(path), mode)

    def program(self, path, content):
        self.file(path, content, 0o755)

    def link(self, path, target):
        self.remove(path)
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        os.symlink(target, self.path(path))

    def remove(self, *paths):
        for path in paths:
            if os.path.lexists(self.path(path)):
                os.remove(self.path(path))

    def add(self, path, text):
        with open(self.path(path), "a", encoding="utf-8") as file:
            file.write(text)

    def replace(self, path, old, new):
        with open(self.path(path), encoding="utf-8") as file:
            text = file.read()
        assert old in text, (path, old)
        self.file(path, text.replace(old, new))

    def configure(self, old, new):
        self.replace(CONFIGS[self.runtime][0], old, new)

    def version(self, version):
        old = PACKAGES[self.runtime][1]
        self.replace("/var/lib/dpkg/status", old, version)

    def unit(self, *lines, name="nri-topology", program="/usr/local/bin/nri-topology"):
        self.file("/etc/systemd/system/%s.service" % name,
                  "[Unit]\nDescription=%s\n[Service]\nExecStart=%s --verbose\n%s\n" % (name, program, "\n".join(lines)))

    def socket(self, path="/run/nri/nri.sock", mode=0o600):
        self.remove(path)
        directory = os.path.dirname(self.path(path))
        os.makedirs(directory, mode=0o700, exist_ok=True)
        at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:  # a path of any length
            with socket.socket(socket.AF_UNIX) as made:
                made.bind("/proc/self/fd/%d/%s" % (at, os.path.basename(path)))
        finally:
            os.close(at)
        os.chmod(self.path(path), mode)

    def listen(self, program, path="/run/nri/nri.sock", state=LISTENS):
        self.socket(path)
        self.file("/proc/net/unix", "Num       RefCount Protocol Flags    Type St Inode Path\n"
                  "ffff000000000001: 00000002 00000000 00010000 0001 01 11111 /run/other.sock\n"
                  "ffff000000000002: 00000002 00000000 00000000 0002 01 11112\n"
                  "ffff000000000003: 00000002 00000000 %s 0001 01 12345 %s\n" % (state, path))
        self.file("/proc/1/comm", "init\n")
        self.file("/proc/4711/comm", program + "\n")
        self.link("/proc/4711/fd/0", "/dev/null")
        self.link("/proc/4711/fd/9", "socket:[12345]")
