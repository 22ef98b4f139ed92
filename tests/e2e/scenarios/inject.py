# SPDX-License-Identifier: Apache-2.0
"""nri-device-injector: what a pod's annotations ask for, seen inside the container."""

import json
import os
import signal
import subprocess

import cri
from harness import scenario
from node import Node
from plugin import Plugin

PROGRAM = "nri-device-injector"
CDI_DIR = "/etc/cdi"
CDI_SPEC = {
    "cdiVersion": "0.6.0",
    "kind": "nri-e2e.example/thing",
    "devices": [
        {
            "name": "one",
            "containerEdits": {
                "env": ["FROM_CDI=one"],
                "deviceNodes": [{"path": "/dev/cdi-zero", "hostPath": "/dev/zero"}],
            },
        }
    ],
}


def injects(function):
    """A scenario, where libyaml was there to build the plugin. (Its own tests count as skipped where it was not.)"""

    def play(run):
        if os.path.exists(os.path.join(run.examples, PROGRAM)):
            function(run)
        else:
            run.note("%s was not built" % PROGRAM)

    play.__name__, play.__doc__ = function.__name__, function.__doc__
    return scenario(play)


def _plugin(run, *options):
    return Plugin(run, os.path.join(run.examples, PROGRAM), *options)


def _ends(run, plugin):
    """The plugin's log, once SIGTERM has ended it."""
    plugin.signal(signal.SIGTERM)
    run.equal("the plugin's exit status on SIGTERM", plugin.ended(), 0)
    return plugin.log()


def _attach(run, content):
    """A loop device with a file behind it: its path; None where this machine has none to give."""
    path = "/run/nri-e2e-loop"
    with open(path, "wb") as file:
        file.write(content.ljust(64 * 1024, b"\0"))
    try:
        command = ["losetup", "--find", "--show", "--read-only", path]
        device = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        run.note("no loop device here: %s" % (getattr(error, "stderr", "") or error))
        return None
    run.callback(subprocess.run, ["losetup", "--detach", device], check=False)
    return device


def _stat(container, path):
    return container.execute("/bin/busybox", "stat", "-c", "%F %t:%T %a %u:%g", path).strip()


@injects
def inject_device(run):
    """an injected device has its type, numbers, mode and owner, and can be opened and read"""
    node = Node(run)
    plugin = _plugin(run, "--verbose")
    text = "- {path: /dev/injected-zero, type: c, major: 1, minor: 5, file_mode: 0640, uid: 1000, gid: 44}\n"
    pod = node.run_pod("pod-devices", {"devices.noderesource.dev/container.c0": text})
    c0 = pod.start("c0")
    run.equal("the node", _stat(c0, "/dev/injected-zero"), "character special file 1:5 640 1000:44")
    read = c0.execute("sh", "-c", "/bin/busybox head -c 5 /dev/injected-zero | wc -c").strip()
    run.equal("bytes read", read, "5")
    there = pod.start("c1").execute("sh", "-c", "test -e /dev/injected-zero && echo there || echo not there")
    run.equal("in a container that was not annotated", there.strip(), "not there")
    log = _ends(run, plugin)
    run.check("the log tells of it", any("/c0: device /dev/injected-zero" in line for line in log), log)


@injects
def inject_host_device(run):
    """a device of the host, which the device cgroup keeps from other containers, can be read"""
    node = Node(run)
    device = _attach(run, b"from the loop device\n")
    if device is None:
        return
    plugin = _plugin(run)
    host = os.stat(device)
    major, minor = os.major(host.st_rdev), os.minor(host.st_rdev)
    pod = node.run_pod("pod-host-devices", {"devices.noderesource.dev/container.c0": "- path: " + device})
    c0 = pod.start("c0")
    run.equal(
        "the node",
        _stat(c0, device),
        "block special file %x:%x %o %d:%d" % (major, minor, host.st_mode & 0o7777, host.st_uid, host.st_gid),
    )
    read = "/bin/busybox head -c 21 "
    run.equal("what is read from it", c0.execute("sh", "-c", read + device), "from the loop device\n")
    # With the node alone the cgroup refuses: a container may make nodes, and not open them.
    made = "/bin/busybox mknod /tmp/made b %d %d && " % (major, minor) + read + "/tmp/made 2>&1; true"
    refused = pod.start("c1").execute("sh", "-c", made)
    run.check("a container that was not annotated cannot read it", "not permitted" in refused, refused)
    run.equal("the log", _ends(run, plugin), [])


@injects
def inject_mount(run):
    """an injected mount is there, with its options"""
    node = Node(run)
    plugin = _plugin(run)
    text = json.dumps([{"source": "/etc", "destination": "/injected", "type": "bind", "options": ["rbind", "ro"]}])
    container = node.run_pod("pod-mounts", {"mounts.noderesource.dev/pod": text}).start("c0")
    with open("/etc/hostname", encoding="utf-8") as file:
        run.equal("a file below it", container.execute("cat", "/injected/hostname"), file.read())
    wrote = container.execute("sh", "-c", "echo x 2>&1 >/injected/new || true")
    run.check("it is read-only", "Read-only" in wrote, wrote)
    run.equal("the log", _ends(run, plugin), [])


@injects
def inject_cdi_device(run):
    """a CDI device's edits are made (containerd does so for plugins since 2.1)"""
    os.makedirs(CDI_DIR, exist_ok=True)
    path = CDI_DIR + "/nri-e2e.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(CDI_SPEC, file)
    run.callback(os.unlink, path)
    node = Node(run)
    plugin = _plugin(run)
    pod = node.run_pod("pod-cdi", {"cdi-devices.noderesource.dev": "- nri-e2e.example/thing=one"})
    container = pod.start("c0")
    env = container.env()
    log = _ends(run, plugin)
    if run.version >= (2, 1):
        run.equal("env of the CDI spec", env.get("FROM_CDI"), "one")
        read = container.execute("sh", "-c", "/bin/busybox head -c 5 /dev/cdi-zero | wc -c").strip()
        run.equal("bytes read from its device", read, "5")
        run.equal("the log", log, [])
    else:
        run.check("an older runtime ignores it", "FROM_CDI" not in env, env)
        run.check("and the log says so", any("ignores cdi-devices" in line for line in log), log)


@injects
def inject_ignored(run):
    """what this containerd's NRI does not carry is warned of, and the container starts"""
    node = Node(run)
    plugin = _plugin(run)
    asked = {
        "io-priority.noderesource.dev": ("class: IOPRIO_CLASS_BE\npriority: 6", "io-priority", (2, 2)),
        "sysctl.noderesource.dev": ("net.core.somaxconn: 1234", "sysctl", (2, 3)),
        "scheduling-policy.noderesource.dev": ("policy: SCHED_BATCH\nnice: 5", "scheduler", (2, 3)),
    }
    pod = node.run_pod("pod-ignored", {key: text for key, (text, _, _) in asked.items()})
    pod.start("c0")
    log = _ends(run, plugin)
    for key, (_, feature, since) in asked.items():
        told = any("/c0: containerd" in line and "ignores %s" % feature in line for line in log)
        if run.version < since:
            run.check("%s is warned of" % key, told, log)
        else:
            run.note("this containerd may know %s: warned of: %s" % (key, told))


@injects
def inject_refused(run):
    """an annotation that cannot be parsed refuses the container, with the place in the CRI's error"""
    node = Node(run)
    plugin = _plugin(run)
    key = "devices.noderesource.dev/container.c0"
    pod = node.run_pod("pod-refused", {key: "- path: /dev/x\n  type: c\n  major: one\n"})
    try:
        pod.create("c0")
        run.check("the container fails", False)
    except cri.Error as error:
        text = error.details()
        run.check("the CRI error has annotation, line and column", "annotation %s:3:10: " % key in text, text)
        run.check("and the plugin's name", "10-e2e: " in text, text)
    pod.start("c1")
    run.equal("the log", _ends(run, plugin), [])
