# SPDX-License-Identifier: Apache-2.0
"""Large messages, both ways: the frames that a real Go peer accepts."""

import signal

import cgroup
from harness import scenario
from node import Node
from plugin import Plugin, select

MIB = 1 << 20


@scenario
def large_reply(run):
    """a CreateContainer reply of 1 MiB is accepted, and the connection lives on"""
    node = Node(run)
    plugin = Plugin(run, run.program, "--fat-annotation", str(MIB))
    pod = node.run_pod("pod-p")
    container = pod.create("c0")
    run.equal("length of the annotation in the OCI spec", len(container.spec()["annotations"].get("fat", "")), MIB)
    container.remove()
    pod.remove()
    plugin.wait("RemovePodSandbox")  # the events after it carried the 1 MiB back
    plugin.stops_quietly(run)


@scenario
def large_update(run):
    """an unsolicited update of 3 MiB is accepted and answered, and its part for a real container takes effect"""
    node = Node(run)
    plugin = Plugin(run, run.program, "--fat-update", str(3 * MIB), "--update-cpu-quota", "25000")
    container = node.run_pod("pod-q").start("c0")
    plugin.wait("PostStartContainer")
    plugin.signal(signal.SIGUSR1)
    outcome = plugin.wait("UpdateContainers")
    run.equal("error of the call", outcome["error"], "")
    run.note("the update of a container that does not exist counts %d failed" % outcome["failed"])
    run.equal("quota in the cgroup", cgroup.cpu_quota(container.cgroup()), 25000)
    plugin.stops_quietly(run)


@scenario
def large_synchronize(run):
    """8 MB of containers: in parts from containerd 2, in one message from an early 1.7 (a Go plugin fails there)"""
    node = Node(run)
    pods = [node.run_pod("pod-r%d" % number) for number in range(12)]
    for number in range(40):
        pods[number % len(pods)].create("c%d" % number, annotations={"fat": "%02d" % number * 102400})
    plugin = Plugin(run, run.program)
    synchronized = plugin.wait("Synchronize")
    run.equal("pods", synchronized["pods"], 12)
    run.equal("containers", synchronized["containers"], 40)
    node.run_pod("pod-after")
    run.equal("events go on after it", plugin.wait("RunPodSandbox")["pod"], "pod-after")
    plugin.stops_quietly(run)

    # The same, each part handed out as it comes.
    plugin = Plugin(run, run.program, "--sync-parts", name="parts")
    plugin.wait("SynchronizePart", more=False)
    parts = select(plugin.records(), "SynchronizePart")
    run.equal("pods of all parts", sum(part["pods"] for part in parts), 13)
    run.equal("containers of all parts", sum(part["containers"] for part in parts), 40)
    run.note("Synchronize came in %d part(s)" % len(parts))
    if run.version >= (2,):
        run.check("containerd 2 splits it", len(parts) > 1, parts)
    plugin.stops_quietly(run)
