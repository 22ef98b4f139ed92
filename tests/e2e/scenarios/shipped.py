# SPDX-License-Identifier: Apache-2.0
"""The example programs as they are shipped, each once on a real containerd."""

import json
import os
import signal
import subprocess
import time

from harness import PATIENCE, Unmet, scenario
from node import NRI_SOCKET, Node
from plugin import CLASSIC_EVENTS, Plugin
from scenarios.life import live


@scenario
def template(run):
    """nri-template: registers, lets everything pass, ends on SIGTERM"""
    node = Node(run)
    plugin = Plugin(run, os.path.join(run.examples, "nri-template"))
    live(node, "pod-u")
    run.equal("it is still there after a whole pod's life", plugin.process.poll(), None)
    _ends(run, plugin)


@scenario
def logger(run):
    """nri-logger: a JSON line an event, and what it is told to add is in the container"""
    node = Node(run)
    plugin = Plugin(
        run,
        os.path.join(run.examples, "nri-logger"),
        *("--add-env", "FROM_LOGGER=1", "--add-annotation", "logger=was here"),
    )
    env = live(node, "pod-v")
    run.equal("env inside", env.get("FROM_LOGGER"), "1")
    plugin.wait("RemovePodSandbox")
    run.equal("the events", [record["event"] for record in plugin.events()], CLASSIC_EVENTS)
    kinds = {record.get("event") for record in plugin.records()}
    run.check("every line is JSON", "not JSON" not in kinds, plugin.records()[:5])
    _ends(run, plugin)


@scenario
def recorded(run):
    """nrictl: a session between containerd and nri-logger is recorded, decoded to the last byte, and replayed the same"""
    nrictl = os.path.join(os.path.dirname(run.examples), "tools", "nrictl", "nrictl")
    if not os.path.exists(nrictl):
        run.note("nrictl was not built")
        return
    logger = os.path.join(run.examples, "nri-logger")
    adds = ("--add-env", "FROM_LOGGER=1", "--add-annotation", "logger=was here")
    node = Node(run)
    recorder = _recorder(run, nrictl, "/run/recorded.sock", "/run/session.rec")
    plugin = Plugin(run, logger, "--socket", "/run/recorded.sock", *adds)
    env = live(node, "pod-w")
    run.equal("env inside", env.get("FROM_LOGGER"), "1")
    plugin.wait("RemovePodSandbox")
    _ends(run, plugin)
    recorder.send_signal(signal.SIGTERM)
    run.equal("the recorder's exit status", recorder.wait(PATIENCE), 0)
    decoded = subprocess.run([nrictl, "decode", "--output", "json", "/run/session.rec"], capture_output=True, text=True,
                             timeout=PATIENCE, check=False)
    run.equal("decode's exit status", (decoded.returncode, decoded.stderr), (0, ""))
    summary = json.loads(decoded.stdout.splitlines()[-1])
    run.check("all classic events, with their answers", summary["messages"] >= 2 * (3 + len(CLASSIC_EVENTS)), summary)
    run.equal("what was not decoded", {key: summary[key] for key in summary if key not in ("type", "messages", "shown")},
              {"connections": 1, "unanswered": 0, "payloads_not_decoded": 0, "unknown_fields": 0, "garbage": 0, "damage": 0})
    replayed = subprocess.run([nrictl, "replay", "/run/session.rec", "--", logger, *adds], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
    run.equal("replay's exit status", replayed.returncode, 0)
    run.check("no difference", replayed.stdout.endswith(", 0 differences\n"), replayed.stdout)
    other = subprocess.run([nrictl, "replay", "/run/session.rec", "--", logger], capture_output=True, text=True,
                           timeout=PATIENCE, check=False)
    run.equal("replay's exit status for a plugin that answers otherwise", other.returncode, 1)


@scenario
def explained(run):
    """nrictl explain on a runtime that runs: what all plugins made of a container, where the runtime tells no owners"""
    nrictl = os.path.join(os.path.dirname(run.examples), "tools", "nrictl", "nrictl")
    if not os.path.exists(nrictl):
        run.note("nrictl was not built")
        return
    node = Node(run)
    explain = subprocess.Popen([nrictl, "explain", "--socket", NRI_SOCKET, "-c", "c0", "-n", "1", "--output", "json"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    run.callback(explain.communicate)
    run.callback(explain.kill)  # the first of the two to be called
    told = explain.stderr.readline()
    run.check("it says what it cannot", "tells no owners" in told, told)
    Plugin(run, run.program, "--add-env", "FIRST=10", name="first", idx="10")
    Plugin(run, run.program, "--add-env", "SECOND=20", "--add-annotation", "by=second", name="second", idx="20")
    env = node.run_pod("pod-x").start("c0").env()
    run.equal("inside", (env.get("FIRST"), env.get("SECOND")), ("10", "20"))
    out, _ = explain.communicate(timeout=PATIENCE)
    run.equal("explain's exit status", explain.returncode, 0)
    (event,) = json.loads(out)["events"]
    run.equal("container, attributed", (event["name"], event["attributed"]), ("c0", False))
    changes = {change["path"]: change.get("after") for change in event["differences"]}
    run.equal("what was added", {path: changes.get(path) for path in ("process.env[FIRST]", "process.env[SECOND]", "annotations.by")},
              {"process.env[FIRST]": "FIRST=10", "process.env[SECOND]": "SECOND=20", "annotations.by": "second"})


def _recorder(run, nrictl, socket, file):
    """nrictl record, once plugins can connect."""
    recorder = subprocess.Popen([nrictl, "record", "--listen", socket, "--connect", NRI_SOCKET, "-f", file],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    run.callback(recorder.wait)
    run.callback(recorder.kill)  # the first of the two to be called
    limit = time.monotonic() + PATIENCE
    while not os.path.exists(socket):
        if recorder.poll() is not None or time.monotonic() > limit:
            raise Unmet("nrictl record does not listen")
        time.sleep(0.05)
    return recorder


def _ends(run, plugin):
    began = time.monotonic()
    plugin.signal(signal.SIGTERM)
    run.equal("exit status on SIGTERM", plugin.ended(), 0)
    took = time.monotonic() - began
    run.check("within a second", took < 1, "%.2f s" % took)
