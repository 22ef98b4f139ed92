#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_bundle.py RUNTIME OCI_APPLY: an adjusted bundle is run by a real OCI runtime.

The configuration is the runtime's own (RUNTIME spec) with the host's programs mounted. A container
of it says what it sees before it is adjusted and after, and each change must be seen from inside.
77, with the reason, where the runtime is not installed or cannot run the bundle as it is.
"""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import uuid

TIMEOUT = 60

# What the container does: one line a fact, then it waits for its input to end.
SCRIPT = r"""
say() { echo "$1=$2"; }
say env "$ADDED,${REMOVED-none},$CHANGED"
say mount "$(cat /added/file 2>/dev/null)"
say write "$( (: >/added/file) 2>/dev/null && echo yes || echo no)"
say mqueue "$(grep -c ' /dev/mqueue ' /proc/self/mountinfo)"
say nested "$(cat /added/inner/file 2>/dev/null)"
say device "$(stat -c '%F %t:%T %a' /dev/mine 2>/dev/null)"
say device_read "$(head -c 1 /dev/mine 2>/dev/null | wc -c)"
say device_write "$( (echo x >/dev/mine) 2>/dev/null && echo yes || echo no)"
say nofile "$(ulimit -n)"
say oom "$(cat /proc/self/oom_score_adj)"
say mkdir "$(mkdir /tmp/x 2>/dev/null && echo yes || echo no)"
say sysctl "$(cat /proc/sys/kernel/shm_rmid_forced)"
say cgroup_ns "$(readlink /proc/self/ns/cgroup)"
say done ""
read -r line
"""


def skip(reason):
    print("SKIP: " + reason)
    sys.exit(77)


class Bundle:
    def __init__(self, runtime, apply, top):
        self.runtime, self.apply, self.top = runtime, apply, top
        self.before = []  # what runs the runtime
        self.config = os.path.join(top, "config.json")
        self.root = os.path.join(top, "rootfs")
        self.state = os.path.join(top, "state")
        os.mkdir(self.root)
        subprocess.run([runtime, "spec"], cwd=top, check=True, timeout=TIMEOUT)
        self.prepare()

    def prepare(self):
        with open(self.config, encoding="utf-8") as file:
            config = json.load(file)
        config["process"].update(terminal=False, args=["/bin/sh", "-c", "exit 3"])
        config["process"]["env"] += ["REMOVED=there", "CHANGED=before"]
        # In a user's own programs the paths are what they are here: links stay links.
        for name in ("bin", "sbin", "lib", "lib64", "usr"):
            path = os.path.join("/", name)
            if os.path.islink(path):
                os.symlink(os.readlink(path), os.path.join(self.root, name))
            elif os.path.isdir(path):
                os.mkdir(os.path.join(self.root, name))
                config["mounts"].append({"destination": path, "type": "bind", "source": path,
                                         "options": ["rbind", "ro"]})
        os.mkdir(os.path.join(self.root, "tmp"))
        config["root"]["readonly"] = False
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump(config, file)

    def change(self, adjustment):
        path = os.path.join(self.top, "adjustment.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(adjustment, file)
        subprocess.run([self.apply, self.config, path], check=True, timeout=TIMEOUT)

    def command(self, *args):
        return [*self.before, self.runtime, "--root", self.state, *args]

    def runs(self):
        """Whether the bundle runs as it is; and what the runtime says."""
        code, _, _, text = self.run()
        if code != 3 and os.path.basename(self.runtime) == "crun":
            # It refuses hosts that have both versions of cgroups: here it sees one.
            self.before = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                           'umount /sys/fs/cgroup/unified && exec "$@"', "sh"]
            code, _, _, text = self.run()
        return code == 3, text

    def run(self, look=None):
        """The facts that the container says, and what look() says while it runs."""
        name = "nri-" + uuid.uuid4().hex[:12]
        facts, seen, text = {}, None, []
        child = subprocess.Popen(self.command("run", "--bundle", self.top, name),
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        try:
            for line in child.stdout:
                text.append(line)
                key, _, value = line.rstrip("\n").partition("=")
                facts[key] = value
                if key == "done":
                    if look is not None:
                        state = subprocess.run(self.command("state", name), check=True,
                                               capture_output=True, text=True, timeout=TIMEOUT)
                        seen = look(json.loads(state.stdout)["pid"])
                    child.stdin.close()
            return child.wait(timeout=TIMEOUT), facts, seen, "".join(text)
        finally:
            if child.poll() is None:
                child.kill()
            subprocess.run(self.command("delete", "--force", name), check=False,
                           capture_output=True, timeout=TIMEOUT)


def cgroup_of(pid):
    """What the kernel has of the container's cgroup: of v1, or of v2 where that is all."""
    paths = {}
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            for controller in controllers.split(","):
                paths[controller] = path

    def value(controller, old, new):
        top = os.path.join("/sys/fs/cgroup", controller)
        if controller not in paths:
            top, controller, old = "/sys/fs/cgroup", "", new
        path = os.path.join(top, paths[controller].lstrip("/"), old)
        with open(path, encoding="utf-8") as file:
            return file.read().strip()

    return {
        "memory": value("memory", "memory.limit_in_bytes", "memory.max"),
        "pids": value("pids", "pids.max", "pids.max"),
        "shares": value("cpu", "cpu.shares", "cpu.weight"),
    }


def adjustment(top):
    return {
        "args": ["/bin/sh", "-c", SCRIPT],
        "env": [{"key": "-REMOVED"}, {"key": "ADDED", "value": "yes"},
                {"key": "-CHANGED"}, {"key": "CHANGED", "value": "after"}],
        # The inner one first: it is only seen when the outer one is mounted before it.
        "mounts": [
            {"destination": "/added/inner", "type": "bind", "source": top + "/inner",
             "options": ["rbind"]},
            {"destination": "/added", "type": "bind", "source": top + "/outer",
             "options": ["rbind", "ro"]},
            {"destination": "-/dev/mqueue"}],
        "hooks": {stage: [{"path": shutil.which("touch"), "args": ["touch", f"{top}/hook-{stage}"]}]
                  for stage in ("prestart", "create_runtime", "poststart", "poststop")},
        "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 512, "soft": 256}],
        "annotations": {"example.com/a": "b"},
        "linux": {
            # /dev/zero under another name, to be read only.
            "devices": [{"path": "/dev/mine", "type": "c", "major": 1, "minor": 5,
                         "file_mode": 0o444, "uid": 0, "gid": 0}],
            "oom_score_adj": 123,
            "cgroups_path": "/nri-test-" + uuid.uuid4().hex[:12],
            "resources": {"memory": {"limit": 64 << 20}, "cpu": {"shares": 512},
                          "pids": {"limit": 77}},
            "seccomp_policy": {
                "default_action": "SCMP_ACT_ALLOW",
                "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
                "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO",
                              "errno_ret": 1}]},
            "sysctl": {"kernel.shm_rmid_forced": "1"},
            "namespaces": [{"type": "cgroup"}],
            # Newer than many a runtime, which then ignores them.
            "scheduler": {"policy": "SCHED_BATCH", "nice": 5},
            "io_priority": {"class": "IOPRIO_CLASS_BE", "priority": 6},
        },
    }


def check(bundle):
    top = bundle.top
    for name in ("outer", "inner"):
        os.mkdir(os.path.join(top, name))
        with open(os.path.join(top, name, "file"), "w", encoding="utf-8") as file:
            file.write(name)
    os.mkdir(os.path.join(top, "outer", "inner"))
    bundle.change(adjustment(top))
    code, facts, cgroup, text = bundle.run(cgroup_of)
    wanted = {
        "env": "yes,none,after", "mount": "outer", "write": "no", "nested": "inner", "mqueue": "0",
        "device": "character special file 1:5 444", "device_read": "1", "device_write": "no",
        "nofile": "256", "oom": "123", "mkdir": "no", "sysctl": "1",
    }
    wrong = [f"{key}: {facts.get(key)!r}, not {value!r}" for key, value in wanted.items()
             if facts.get(key) != value]
    if "done" not in facts:
        wrong.append(f"the container did not come to its end ({code}): {text}")
    elif facts["cgroup_ns"] == os.readlink("/proc/self/ns/cgroup"):
        wrong.append("the namespace of cgroups is the host's")
    if cgroup is None:
        wrong.append("the cgroup was not looked at")
    else:
        if cgroup["memory"] != str(64 << 20) or cgroup["pids"] != "77":
            wrong.append(f"cgroup: {cgroup}")
        if cgroup["shares"] not in ("512", "20", "59"):
            wrong.append(f"cgroup: {cgroup}")
    for stage in ("prestart", "create_runtime", "poststart", "poststop"):
        if not os.path.exists(f"{top}/hook-{stage}"):
            wrong.append(f"the hook {stage} did not run")
    for line in wrong:
        print(line)
    print(f"{len(wanted)} facts from inside, 4 hooks, 3 of the cgroup: "
          f"{len(wrong)} wrong")
    return 1 if wrong else 0


def main():
    runtime, apply = shutil.which(sys.argv[1]), sys.argv[2]
    if runtime is None:
        skip(f"{sys.argv[1]} is not installed")
    if os.geteuid() != 0:
        skip("only root can run containers here")
    with tempfile.TemporaryDirectory(prefix="nri-oci-") as top:
        os.chmod(top, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
        bundle = Bundle(runtime, apply, top)
        can, text = bundle.runs()
        if not can:
            skip(f"{runtime} cannot run its own configuration here: {text.strip()}")
        return check(bundle)


if __name__ == "__main__":
    sys.exit(main())
