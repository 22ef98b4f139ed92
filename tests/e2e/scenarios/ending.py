# SPDX-License-Identifier: Apache-2.0
"""How a plugin ends, and what its end means to others."""

import signal
import time

from harness import scenario
from node import Node
from plugin import Plugin


@scenario
def sigterm(run):
    """SIGTERM ends a plugin with status 0 within a second, and containerd goes on without it"""
    node = Node(run)
    plugin = Plugin(run, run.program, "--add-env", "FROM_PLUGIN=1")
    began = time.monotonic()
    plugin.signal(signal.SIGTERM)
    run.equal("exit status", plugin.ended(), 0)
    took = time.monotonic() - began
    run.check("within a second", took < 1, "%.2f s" % took)
    env = node.run_pod("pod-s").start("c0").env()
    run.check("a pod without the plugin", "FROM_PLUGIN" not in env, env)


@scenario
def runtime_killed(run):
    """containerd is killed under a plugin: one line in its log, a named error, exit status 1; a new one finds all"""
    node = Node(run)
    plugin = Plugin(run, run.program)
    node.run_pod("pod-t").start("c0")
    node.kill()
    run.equal("exit status", plugin.ended(), 1)
    end = plugin.wait("End")
    run.check("the error is named: %s" % end["error"], "CLOSED" in end["error"], end)
    run.equal("lines in the plugin's log", len(plugin.log()), 1)
    run.note("its log: %s" % " / ".join(plugin.log()))
    node.start()
    synchronized = Plugin(run, run.program).wait("Synchronize")
    run.equal("pods after the restart", synchronized["pods"], 1)
    run.equal("containers after the restart", synchronized["containers"], 1)
