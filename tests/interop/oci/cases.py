#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cases.py COUNT: random documents and adjustments, always the same ones, a line each.

What Go leaves to chance or to its merging is left out: a key removed and set in one map, a device
set twice, and mounts whose order is the same.
"""
import collections
import json
import random
import sys

KEYS = ["a", "b", "c", "d", "e.f"]
LIMITS = ["RLIMIT_NOFILE", "RLIMIT_CORE", "RLIMIT_AS"]
NAMESPACES = ["pid", "network", "mount", "ipc", "uts", "user", "cgroup", "time"]
PATHS = ["/a", "/a/b", "/a/b/c", "/b", "/dev/x", "/", "/c/d/", "/a//e", "rel"]
NODES = ["/dev/a", "/dev/b", "/dev/c"]
SOURCES = ["/", "/proc", "/sys", "/dev/shm", "/no/such/path", "tmpfs"]
OPTIONS = ["rbind", "ro", "rprivate", "rshared", "rslave", "shared"]
HOOKS = {"prestart": "prestart", "create_runtime": "createRuntime",
         "create_container": "createContainer", "start_container": "startContainer",
         "poststart": "poststart", "poststop": "poststop"}

r = random.Random(20)
hits = collections.Counter()


def some(choices, most=3):
    return r.sample(choices, r.randint(0, min(most, len(choices))))


def number(*extra):
    return r.choice([0, 1, 2, 1024, 65536, 1 << 40, *extra])


def marked(keys, value):
    """A map of which some keys are removed."""
    return {("-" + key if r.random() < 0.3 else key): value() for key in some(keys)}


def maybe(chance=0.35):
    return r.random() < chance


def rule(names):
    found = {"allow": r.random() < 0.5, "type": r.choice("abc"), "access": r.choice(["r", "rw", "rwm"])}
    for name in names:
        if maybe():
            found[name] = number()
    return found


def document():
    spec = {"ociVersion": "1.2.0"}
    if maybe(0.9):
        process = spec["process"] = {"cwd": "/", "user": {"uid": 0, "gid": 0}}
        if maybe(0.7):
            process["env"] = [r.choice(KEYS) + r.choice(["=1", "=2", "=x=y", "", "="])
                              for _ in range(r.randint(0, 5))]
        if maybe():
            process["args"] = ["sh"]
        if maybe():
            process["rlimits"] = [{"type": t, "hard": number(), "soft": number()} for t in some(LIMITS)]
        if maybe():
            process["oomScoreAdj"] = r.randint(-1000, 1000)
        if maybe():
            process["ioPriority"] = {"class": "IOPRIO_CLASS_RT", "priority": 1}
        if maybe():
            process["scheduler"] = {"policy": "SCHED_FIFO", "priority": 3}
    if maybe(0.7):
        spec["annotations"] = {key: "old" for key in some(KEYS)}
    if maybe(0.7):
        spec["mounts"] = [{"destination": path, "type": "bind", "source": "/x"} for path in some(PATHS, 6)]
    if maybe():
        spec["hooks"] = {to: [{"path": "/old"}] for to in some(list(HOOKS.values()))}
    if maybe(0.9):
        spec["linux"] = linux_document()
    return spec


def linux_document():
    linux = {}
    if maybe():
        linux["rootfsPropagation"] = r.choice(["rprivate", "rslave", "rshared", "slave", "shared"])
    if maybe(0.6):
        linux["devices"] = [{"path": p, "type": r.choice("cb"), "major": number(), "minor": number()}
                            for p in some(NODES)]
    if maybe(0.6):
        linux["namespaces"] = [{"type": t} for t in some(NAMESPACES, 5)]
    if maybe():
        linux["sysctl"] = {key: "old" for key in some(KEYS)}
    if maybe():
        linux["netDevices"] = {key: {"name": "old"} for key in some(KEYS)}
    if maybe():
        linux["seccomp"] = {"defaultAction": "SCMP_ACT_KILL", "defaultErrnoRet": 3}
    if maybe():
        linux["intelRdt"] = {"closID": "old", "l3CacheSchema": "L3:0=1"}
    if maybe():
        linux["memoryPolicy"] = {"mode": "MPOL_LOCAL", "nodes": ""}
    if maybe():
        linux["cgroupsPath"] = "/old"
    if maybe(0.6):
        linux["resources"] = {
            "memory": {"limit": number(), "swap": number(-1), "reservation": 5},
            "cpu": {"shares": number(), "cpus": "0-1"},
            "pids": {"limit": number()},
            "unified": {key: "old" for key in some(KEYS)},
            "hugepageLimits": [{"pageSize": s, "limit": number()} for s in some(["2MB", "1GB"])],
            "devices": [rule(["major", "minor"]) for _ in range(r.randint(0, 2))],
            "blockIO": {"weight": 10},
        }
    return linux


def mount():
    return {"destination": r.choice(PATHS), "type": r.choice(["bind", ""]), "source": r.choice(SOURCES),
            "options": some(OPTIONS, 2)}


def mounts():
    found = {}
    for _ in range(r.randint(1, 4)):
        one = mount()
        # At the end it stands in one order alone.
        found.setdefault(one["destination"].rstrip("/").replace("//", "/"), one)
    if maybe():
        found["-"] = {"destination": "-" + r.choice(PATHS)}
    return sorted(found.values(), key=lambda one: one["destination"][0] != "-")


def devices():
    found = []
    for path in some(NODES):
        if maybe():
            found.append({"path": "-" + path})
            continue
        device = {"path": path, "type": r.choice("cbup"), "major": number(), "minor": number()}
        for name in ("file_mode", "uid", "gid"):
            if maybe():
                device[name] = r.choice([0, 0o444, 0o660])
        found.append(device)
    return found


def resources():
    found = {}
    if maybe(0.6):
        found["memory"] = {name: number(-1) for name in some(
            ["limit", "reservation", "swap", "kernel", "kernel_tcp"], 5)}
    if maybe(0.6):
        found["cpu"] = {name: number() for name in some(
            ["shares", "quota", "period", "realtime_runtime", "realtime_period"], 5)}
        found["cpu"].update({name: "1-2" for name in some(["cpus", "mems"])})
    if maybe():
        found["hugepage_limits"] = [{"page_size": s, "limit": number()} for s in some(["2MB", "1GB", "64KB"])]
    if maybe():
        found["unified"] = {key: "new" for key in some(KEYS + ["-a"])}
    if maybe():
        found["pids"] = {"limit": number(-1)}
    if maybe():
        found["devices"] = [rule(["major", "minor"]) for _ in range(r.randint(1, 3))]
    for name in some(["blockio_class", "rdt_class"]):
        found[name] = r.choice(["", "gold"])
    return found


def seccomp():
    policy = {"default_action": "SCMP_ACT_ERRNO"}
    if maybe():
        policy["default_errno"] = 38
    if maybe():
        policy["architectures"] = ["SCMP_ARCH_X86"]
    if maybe():
        policy.update(flags=["SECCOMP_FILTER_FLAG_LOG"], listener_path="/l", listener_metadata="m")
    policy["syscalls"] = [
        {"names": ["read"], "action": "SCMP_ACT_ALLOW",
         "args": [{"index": 1, "value": number(), "value_two": number(), "op": "SCMP_CMP_EQ"}]}
        for _ in range(r.randint(0, 2))]
    return policy


def rdt():
    found = {"remove": True} if maybe() else {}
    if maybe():
        found["clos_id"] = "new"
    if maybe():
        found["schemata"] = ["L3:0=f"][:r.randint(0, 1)]
    if maybe():
        found["enable_monitoring"] = r.random() < 0.5
    return found


LINUX = {
    "devices": devices,
    "resources": resources,
    "cgroups_path": lambda: "/new",
    "oom_score_adj": lambda: r.randint(-1000, 1000),
    "io_priority": lambda: {"class": r.randint(0, 3), "priority": r.randint(0, 7)},
    "seccomp_policy": seccomp,
    "namespaces": lambda: [{"type": ("-" if maybe() else "") + t, "path": r.choice(["", "/ns"])}
                           for t in some(NAMESPACES + ["wrong"] * (r.random() < 0.05))],
    "sysctl": lambda: marked(KEYS, lambda: "new"),
    "net_devices": lambda: marked(KEYS, lambda: {"name": r.choice(["", "new"])}),
    "scheduler": lambda: {"policy": r.randint(0, 7), "nice": r.randint(-20, 19), "flags": some([0, 1, 2, 3]),
                          "runtime": number()},
    "rdt": rdt,
    "memory_policy": lambda: {"mode": r.choice([0, 1, 2, 6, 77]), "nodes": r.choice(["", "0-1"]),
                              "flags": some([0, 1, 2])},
}
TOP = {
    "annotations": lambda: marked(KEYS, lambda: "new"),
    "mounts": mounts,
    "env": lambda: [{"key": ("-" if maybe() else "") + key, "value": r.choice(["", "new"])} for key in some(KEYS)],
    "hooks": lambda: {name: [{"path": "/new", "args": some(["x"]), "env": some(["A=1"])}] for name in some(list(HOOKS))},
    "rlimits": lambda: [{"type": t, "hard": number(), "soft": number()} for t in some(LIMITS)],
    "CDI_devices": lambda: [{"name": "vendor.com/class=1"}],
    "args": lambda: [["a"], ["", "a"], [""], ["a", "", "b"]][r.randint(0, 3)],
}


def pick(table):
    found = {name: make() for name, make in table.items() if maybe(0.3)}
    hits.update(found.keys())
    return found


def main():
    for _ in range(int(sys.argv[1])):
        adjustment = pick(TOP)
        linux = pick(LINUX)
        if linux:
            adjustment["linux"] = linux
        print(json.dumps(document()), json.dumps(adjustment), sep="\t")
    print(" ".join(f"{name} {hits[name]}" for name in [*TOP, *LINUX]), file=sys.stderr)
    return 0 if min(hits[name] for name in [*TOP, *LINUX]) >= 100 else 1


if __name__ == "__main__":
    sys.exit(main())
