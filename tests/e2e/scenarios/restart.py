# SPDX-License-Identifier: Apache-2.0
"""containerd killed and started again, time after time, under a plugin that must be back each time."""

import socket
import threading
import time

import cri
from harness import PATIENCE, Run, scenario
from node import NRI_SOCKET, SOCKET, Node
from scripted import Scripted, is_built


class Load(threading.Thread):
    """Makes and removes pods as long as the runtime answers; keeps what it answered with success, by event and id."""

    def __init__(self, node, number):
        super().__init__(daemon=True)
        self._node = node
        self._number = number
        self._ending = threading.Event()
        self.done = []  # (event that the plugin must have seen, id, when the call began)

    def _note(self, event, identity, began):
        self.done.append((event, identity, began * 1000))

    def run(self):
        count = 0
        while not self._ending.is_set():
            name = "load-%d-%d" % (self._number, count)
            count += 1
            try:
                began = time.monotonic()
                pod = self._node.run_pod(name)
                self._note("RunPodSandbox", pod.id, began)
                began = time.monotonic()
                container = pod.create("c")
                self._note("CreateContainer", container.id, began)
                began = time.monotonic()
                container.start()
                self._note("StartContainer", container.id, began)
                began = time.monotonic()
                container.remove()
                self._note("RemoveContainer", container.id, began)
                began = time.monotonic()
                pod.remove()
                self._note("RemovePodSandbox", pod.id, began)
            except (cri.Error, ValueError):  # the runtime is gone, and perhaps the channel
                return

    def end(self):
        self._ending.set()
        self.join(PATIENCE)


class SocketWatch(threading.Thread):
    """When the NRI socket can be connected to again. (containerd refuses a connection that says nothing, later.)"""

    def __init__(self):
        super().__init__(daemon=True)
        self.at = None

    def run(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(NRI_SOCKET)
                    self.at = time.monotonic() * 1000
                    return
                except OSError:
                    time.sleep(0.001)


def _judge(run, number, plugin, loads, since):
    """Each success of the CRI client after the Synchronize is one event of the plugin, and not two."""
    seen = {}
    for line in plugin.lines("event"):
        key = (line["event"], line["container"] or line["pod"])
        seen[key] = seen.get(key, 0) + 1
    wanted = [(event, identity) for load in loads for event, identity, began in load.done if began > since]
    lost = [key for key in wanted if seen.get(key, 0) == 0]
    twice = [key for key in seen if key[1] and seen[key] > 1 and key[0] != "StopContainer"]
    run.check("round %d: none of %d events lost" % (number, len(wanted)), wanted and not lost, lost)
    run.check("round %d: none seen twice" % number, not twice, twice)
    return len(wanted)


@scenario
def restart(run):
    """containerd is killed and started again under load: the plugin is back within a second, and misses nothing"""
    if not is_built():
        run.note("nri-scripted was not built")
        return
    node = Node(run)
    plugin = Scripted(run, [])
    times, memory, descriptors, judged = [], [], [], 0
    synced = plugin.wait_line("event", event="Synchronize")["at_ms"]
    for number in range(1, Run.restarts + 1):
        loads = [Load(node, 10 * number + part) for part in range(2)]
        for load in loads:
            load.start()
        plugin.wait_line("event", 2 * number, event="RemovePodSandbox")  # some have gone all their way
        node.kill()
        for load in loads:
            load.end()
        judged += _judge(run, number, plugin, loads, synced)
        plugin.wait_line("close", number)
        watch = SocketWatch()
        watch.start()
        node.start()
        watch.join(PATIENCE)
        synced = plugin.wait_line("event", number + 1, event="Synchronize")["at_ms"]
        times.append(synced - watch.at)
        node.wait_connected("10-scripted")
        synced = time.monotonic() * 1000  # events reach the plugin from here on
        memory.append(plugin.rss_kb())
        descriptors.append(plugin.descriptors())
    run.note("back after, in ms: %s" % " ".join("%.0f" % one for one in times))
    run.note("RSS in kB: %s" % " ".join(map(str, memory)))
    run.note("descriptors: %s" % " ".join(map(str, descriptors)))
    run.note("%d events judged" % judged)
    run.check("each time within a second", max(times) < 1000, times)
    run.equal("descriptors, all alike", len(set(descriptors)), 1)
    run.check("memory does not grow", memory[-1] <= memory[min(2, len(memory) - 1)] + 512, memory)
    run.equal("connections lost", len(plugin.lines("close")), Run.restarts)
