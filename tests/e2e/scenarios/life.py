# SPDX-License-Identifier: Apache-2.0
"""Which events reach a plugin, and in which order."""

from harness import scenario
from node import Node
from plugin import CLASSIC_EVENTS, Installed, Plugin


def live(node, pod_name, container_name="c0"):
    """A whole life of a pod with one container that is updated once; returns the env seen inside."""
    pod = node.run_pod(pod_name)
    container = pod.start(container_name)
    env = container.env()
    container.update(cpu_shares=256)
    container.remove()
    pod.remove()
    return env


def names(events):
    return [record["event"] for record in events]


@scenario
def external(run):
    """a plugin that connects through the NRI socket gets all 11 classic events in order"""
    node = Node(run)
    plugin = Plugin(run, run.program, "--add-env", "FROM_PLUGIN=1")
    configured = plugin.wait("Configure")
    run.equal("the runtime's name", configured["runtime"], "containerd")
    wanted = ".".join(map(str, run.version))
    run.check("the runtime's version starts with %s" % wanted, configured["version"].startswith(wanted), configured)
    run.equal("pods at the start", plugin.wait("Synchronize")["pods"], 0)
    env = live(node, "pod-a")
    plugin.wait("RemovePodSandbox")
    run.equal("the events", names(plugin.events()), CLASSIC_EVENTS)
    run.check("each event names its pod", all(e["pod"] == "pod-a" for e in plugin.events()), plugin.events())
    run.check(
        "each container event names its container",
        all(e.get("container") == ("c0" if "Container" in e["event"] else None) for e in plugin.events()),
        plugin.events(),
    )
    run.equal("the env variable inside the container", env.get("FROM_PLUGIN"), "1")
    run.check(
        "the metadata of containerd's calls came along",
        plugin.wait("CreateContainer")["metadata"].get("containerd-namespace-ttrpc") == "k8s.io",
        plugin.wait("CreateContainer")["metadata"],
    )
    plugin.stops_quietly(run)


@scenario
def preinstalled(run):
    """plugins that containerd starts itself get their configuration and all 11 classic events"""
    first = Installed(run, run.program, "20-first", "add-env=FIRST=20")
    # A drop-in may also be named without the index.
    second = Installed(run, run.program, "30-second", "add-env=SECOND=30", config_name="second")
    node = Node(run)
    for plugin in (first, second):
        run.equal("the configuration", plugin.wait("Configure")["config"], plugin.config)
    env = live(node, "pod-b")
    for plugin in (first, second):
        plugin.wait("RemovePodSandbox")
        run.equal("the events", names(plugin.events()), CLASSIC_EVENTS)
        told = names(plugin.records())
        if "Synchronize" in told:
            run.check("Synchronize came before the first event", told.index("Synchronize") < told.index("RunPodSandbox"))
        else:
            run.check("containerd 1 alone never synchronises pre-installed plugins", run.version < (2,), told)
    run.equal("env of the first inside", env.get("FIRST"), "20")
    run.equal("env of the second inside", env.get("SECOND"), "30")
    run.equal("containerd's exit status on SIGTERM", node.stop(), 0)
    for plugin in (first, second):
        end = plugin.wait("End")
        run.check("the plugin ends when containerd goes: %s" % end.get("error"), "CLOSED" in end["error"], end)


@scenario
def late_start(run):
    """a plugin that starts late is told of the pods and containers there are"""
    node = Node(run)
    pod = node.run_pod("pod-c")
    pod.start("running")
    pod.create("created")
    plugin = Plugin(run, run.program)
    synchronized = plugin.wait("Synchronize")
    run.equal("pods", synchronized["pods"], 1)
    run.equal("containers", synchronized["containers"], 2)


@scenario
def own_exit(run):
    """a container that ends by itself is a StopContainer event with no CRI call"""
    node = Node(run)
    plugin = Plugin(run, run.program)
    pod = node.run_pod("pod-d")
    container = pod.start("short")
    # A container that ends while it is being started may be stopped before PostStartContainer; this one is past that.
    plugin.wait("PostStartContainer")
    container.execute("kill", "-TERM", "1")
    stopped = plugin.wait("StopContainer")
    run.equal("the stopped container", stopped["container"], "short")
    run.equal("the last event", names(plugin.events())[-1], "StopContainer")
    plugin.stops_quietly(run)
