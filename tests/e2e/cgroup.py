# SPDX-License-Identifier: Apache-2.0
"""What the kernel was told about a container: its cgroup files, in either version of the cgroup file system."""

import os

ROOT = "/sys/fs/cgroup"
UNIFIED = os.path.exists(ROOT + "/cgroup.controllers")


def _read(controller, path, name):
    base = ROOT if UNIFIED else os.path.join(ROOT, controller)
    with open(base + path + "/" + name, encoding="ascii") as file:
        return file.read().strip()


def cpu_quota(path):
    """Microseconds of CPU time a period, -1 without a limit."""
    if UNIFIED:
        quota = _read("cpu", path, "cpu.max").split()[0]
        return -1 if quota == "max" else int(quota)
    return int(_read("cpu", path, "cpu.cfs_quota_us"))


def memory_limit(path):
    """Bytes."""
    value = _read("memory", path, "memory.max" if UNIFIED else "memory.limit_in_bytes")
    return -1 if value == "max" else int(value)


def cpu_weight(path):
    """cpu.shares, or cpu.weight, whose relation to shares differs from runc to runc: compare by has_shares()."""
    return int(_read("cpu", path, "cpu.weight" if UNIFIED else "cpu.shares"))


def has_shares(path, shares):
    """Whether the cgroup carries SHARES (exactly, or as one of the two conversions to a weight that runc has had)."""
    weight = cpu_weight(path)
    if not UNIFIED:
        return weight == shares
    import math

    log = math.log2(shares)
    linear = 1 + (shares - 2) * 9999 // 262142
    curved = math.ceil(10 ** ((log * log + 125 * log) / 612.0 - 7.0 / 34.0))
    return weight in (linear, curved)


def cpus(path):
    """The CPUs that are set for it, as a list such as "0-3,7"; "" for none."""
    return _read("cpuset", path, "cpuset.cpus")


def cpus_file(path):
    """The file that they are written to; a write by anybody is an event of inotify."""
    return (ROOT if UNIFIED else ROOT + "/cpuset") + path + "/cpuset.cpus"


def set_cpus(path, text):
    """Sets them, behind everybody's back."""
    with open(cpus_file(path), "w", encoding="ascii") as file:
        file.write(text)
