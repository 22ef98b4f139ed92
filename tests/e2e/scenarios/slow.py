# SPDX-License-Identifier: Apache-2.0
"""Handlers that take longer than the runtime waits."""

import os

from harness import Run, scenario
from node import Node
from plugin import Plugin
from scripted import Scripted, is_built

GO_PLUGIN = "/build/tests/interop/go-plugin"
# The runtime waits for 2 s.
SLEEP_MS = 5000


def _play_go(run, node):
    """The same with the Go stub: how many of 4 creations it saw through before it was disconnected."""
    if not os.path.exists(GO_PLUGIN):
        run.note("no plugin with the Go stub was built; nothing to set beside")
        return
    plugin = Plugin(run, GO_PLUGIN, "--sleep", "%dms" % SLEEP_MS, name="go", idx="20")
    pod = node.run_pod("pod-go")
    marks = [pod.create("g%d" % number).spec()["annotations"].get("by") for number in range(4)]
    status = plugin.ended()  # disconnected, it ends; whether it has told so before is up to its threads
    run.equal("the Go plugin's mark on 4 containers", marks, ["go", None, None, None])
    run.note("it ended with status %d: %s" % (status, " / ".join(plugin.log()[-1:])))


@scenario
def slow(run):
    """one in two creations blocks the handler for 5 s: the guard lets it pass, the others are adjusted"""
    if not is_built():
        run.note("nri-scripted was not built")
        return
    count = Run.creates
    node = Node(run)
    adjust = {"annotations": {"by": "scripted"}}
    rules = []
    for _ in range(count // 2):
        rules.append({"event": "CreateContainer", "first": True, "adjust": adjust})
        rules.append({"event": "CreateContainer", "first": True, "sleep_ms": SLEEP_MS, "adjust": adjust})
    plugin = Scripted(run, rules)
    marks = []
    for number in range(count):
        # A pod for each pair, so that the load of one pod is not what is measured.
        if number % 2 == 0:
            pod = node.run_pod("pod-slow-%d" % number)
        container = pod.create("c%d" % number)
        marks.append(container.spec()["annotations"].get("by"))
        if number % 2 == 1:
            # The one thread of handlers is taken until then, and what comes before would wait with it: the event behind
            # the slow creation, PostCreateContainer, does, and so it is late as well.
            plugin.wait_line("late", (number + 1) // 2, event="PostCreateContainer")
            pod.remove()
            plugin.wait_line("event", (number + 1) // 2, event="RemovePodSandbox")
    expected = ["scripted", None] * (count // 2)
    run.equal("marks", marks.count("scripted"), count // 2)
    run.check("on each second container", marks == expected, marks)
    late = plugin.lines("late")
    for event in ("CreateContainer", "PostCreateContainer"):
        codes = [line["code"] for line in late if line["event"] == event]
        run.equal("late answers of %s" % event, codes, ["NRI_E_LATE"] * (count // 2))
    run.equal("late answers of all events", len(late), 2 * (count // 2))
    run.equal("creations seen", len(plugin.lines("event", event="CreateContainer")), count)
    run.equal("disconnections", plugin.lines("close"), [])
    _play_go(run, node)
    run.equal("disconnections after that", plugin.lines("close"), [])
