# SPDX-License-Identifier: Apache-2.0
"""The example programs as they are shipped, each once on a real containerd."""

import os
import signal
import time

from harness import scenario
from node import Node
from plugin import Plugin
from scenarios.life import live


@scenario
def template(run):
    """nri-template: registers, lets everything pass, ends on SIGTERM"""
    if run.examples is None:
        run.note("not played: no build directory was given")
        return
    node = Node(run)
    plugin = Plugin(run, os.path.join(run.examples, "template", "nri-template"), ready=None)
    live(node, "pod-u")
    run.equal("it is still there after a whole pod's life", plugin.process.poll(), None)
    _ends(run, plugin)


@scenario
def logger(run):
    """nri-logger: a JSON line an event, and what it is told to add is in the container"""
    if run.examples is None:
        run.note("not played: no build directory was given")
        return
    node = Node(run)
    plugin = Plugin(
        run,
        os.path.join(run.examples, "logger", "nri-logger"),
        *("--add-env", "FROM_LOGGER=1", "--add-annotation", "logger=was here"),
        ready=None,
    )
    # Registered when a pod's events reach it; until then pods pass it by.
    end = time.monotonic() + 10
    number = 0
    while not any(r.get("event") == "RemovePodSandbox" for r in plugin.lines.all()) and time.monotonic() < end:
        env = live(node, "pod-v%d" % number)
        number += 1
    run.equal("env inside", env.get("FROM_LOGGER"), "1")
    kinds = {record.get("event") for record in plugin.lines.all()}
    run.check("every line is JSON", "not JSON" not in kinds, plugin.lines.all()[:5])
    _ends(run, plugin)


def _ends(run, plugin):
    began = time.monotonic()
    plugin.signal(signal.SIGTERM)
    run.equal("exit status on SIGTERM", plugin.ended(), 0)
    took = time.monotonic() - began
    run.check("within a second", took < 1, "%.2f s" % took)
