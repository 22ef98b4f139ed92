# SPDX-License-Identifier: Apache-2.0
"""What a device node gives and what rules of the device cgroup change about that: what doc/model.md says of it."""

import json

import cri
from harness import scenario
from node import Node
from plugin import Plugin

# The kernel's log: anybody who may open it may write, and no container has it by default.
PATH, MAJOR, MINOR = "/dev/probe", 1, 11
RULES_SINCE = (2, 2)


def _adjust(run, index, kind, *rules):
    """A plugin that adds the node, with rules (allow, access) behind it."""
    node = {"path": PATH, "type": kind, "major": 0 if kind == "p" else MAJOR, "minor": 0 if kind == "p" else MINOR}
    devices = [
        {"allow": allow, "type": "c", "major": MAJOR, "minor": MINOR, "access": access} for allow, access in rules
    ]
    text = json.dumps({"linux": {"devices": [node], "resources": {"devices": devices}}})
    return Plugin(run, run.program, "--adjust", text, idx=index)


def _opens(container, path):
    """Whether the file can be opened for writing inside."""
    return container.execute("sh", "-c", "(exec 3>>%s) 2>/dev/null && echo yes; true" % path).strip() == "yes"


@scenario
def device_access(run):
    """a node of a plugin can be read and written, whatever rule the plugin adds to allow less"""
    node = Node(run)
    Plugin(run, run.program, "--inject-device", "/dev/kmsg:r")
    container = node.run_pod("pod-injected").start("c0")
    rules = container.spec()["linux"]["resources"]["devices"]
    own = {"allow": True, "type": "c", "major": MAJOR, "minor": MINOR, "access": "rw"}
    run.check("the runtime's own rule allows rw", own in rules, rules)
    run.equal('injected with "r", it opens for writing', _opens(container, "/dev/kmsg"), True)
    # The loop control device.
    made = "/bin/busybox mknod /tmp/made c 10 237 && (exec 3>>/tmp/made) 2>&1; true"
    refused = container.execute("sh", "-c", made)
    run.check("a device that no plugin added does not open", "not permitted" in refused, refused)


@scenario
def device_denied(run):
    """a rule that denies takes the node's access away only where rules are known, since NRI 0.10"""
    node = Node(run)
    _adjust(run, "10", "c", (False, "w"))
    container = node.run_pod("pod-denied").start("c0")
    run.equal("it opens for writing", _opens(container, PATH), run.version < RULES_SINCE)


@scenario
def device_types(run):
    """a FIFO and a device of type "u" keep a container from starting: the runtime adds a rule that runc does not know"""
    node = Node(run)
    for index, kind in (("10", "p"), ("11", "u")):
        plugin = _adjust(run, index, kind)
        container = node.run_pod("pod-type-" + kind).create("c0")
        run.equal("type in the OCI spec", container.spec()["linux"]["devices"][0]["type"], kind)
        try:
            container.start()
            run.check("type %s: the container does not start" % kind, False)
        except cri.Error as error:
            text = error.details()
            run.check("runc's error", 'invalid cgroup device type "%s"' % kind in text, text)
        plugin.signal(9)
        plugin.ended()
