# SPDX-License-Identifier: Apache-2.0
"""nri-cpu-pinner: the CPUs that the kernel has for containers, before and after a kill of either side."""

import os
import signal

import cgroup
import cri
from events import until
from harness import PATIENCE, scenario
from node import Node
from plugin import Plugin

PROGRAM = "nri-cpu-pinner"
KEY = "exclusive-cpus.cpu-pinner.nri.io/container."
CHECKPOINT = "/run/nri-e2e-pinner"
X = {KEY + "x": "1"}


def numbers(text):
    """The CPUs of a list such as "0-3,7"."""
    found = set()
    for part in text.split(","):
        if part:
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
    return found


def pins(function):
    """A scenario, where the plugin was built and there are two CPUs to share."""

    def play(run):
        with open("/sys/devices/system/cpu/online", encoding="ascii") as file:
            run.online = numbers(file.read().strip())
        if not os.path.exists(os.path.join(run.examples, PROGRAM)):
            run.note("%s was not built" % PROGRAM)
        elif len(run.online) < 2:
            run.note("this machine has one CPU, and nothing to give")
        else:
            function(run)

    play.__name__, play.__doc__ = function.__name__, function.__doc__
    return scenario(play)


def _plugin(run, *options):
    return Plugin(run, os.path.join(run.examples, PROGRAM), "--checkpoint", CHECKPOINT, *options)


def _start_over(run, *options):
    """A node, and a plugin that knows nothing."""
    if os.path.exists(CHECKPOINT):
        os.unlink(CHECKPOINT)
    node = Node(run)
    return node, _plugin(run, *options)


def _cpus(container):
    return numbers(cgroup.cpus(container.cgroup()))


def _runs_anywhere(run, what, container):
    """Checks that no cpuset was set: cgroups of version 1 inherit that of their parent, others have none."""
    seen = _cpus(container)
    run.check("%s runs on any CPU" % what, seen in (run.online, set()), seen)


def _becomes(run, what, container, expected):
    """Checks CPUs that are set by an update that nobody waits for."""
    until(lambda: _cpus(container) == expected, cgroup.cpus_file(container.cgroup()), PATIENCE)
    run.equal(what, _cpus(container), expected)


def _kill(run, plugin):
    plugin.signal(signal.SIGKILL)
    run.equal("the plugin ends by SIGKILL", plugin.ended(), -signal.SIGKILL)


def _pair(run, node):
    """A container that shares, then one that has a CPU of its own: both, and what they run on."""
    pod = node.run_pod("pod-pinned", X)
    s = pod.start("s")
    run.equal("the CPUs of a container that shares", _cpus(s), run.online)
    x = pod.start("x")
    own = _cpus(x)
    run.equal("how many CPUs the one has that asks for one", len(own), 1)
    run.equal("the other one is off it", _cpus(s), run.online - own)
    return pod, s, x, own


@pins
def pinner_gives(run):
    """a container gets its CPU, the others leave it, and come back when it has ended"""
    node, plugin = _start_over(run)
    pod, s, x, own = _pair(run, node)
    seen = x.execute("sh", "-c", "/bin/busybox grep Cpus_allowed_list /proc/self/status").split()[-1]
    run.equal("what a process in it may run on", numbers(seen), own)
    try:
        node.run_pod("pod-greedy", {KEY + "y": str(len(run.online))}).create("y")
        run.check("a container that asks for too many fails", False)
    except cri.Error as error:
        text = error.details()
        run.check("the CRI error says why", "exclusive CPUs are wanted, and" in text, text)
    x.remove()
    run.equal("the CPUs of the one that shares, after the other has ended", _cpus(s), run.online)
    again = pod.start("x")
    run.equal("the CPU of the next attempt", _cpus(again), own)
    plugin.signal(signal.SIGTERM)
    run.equal("the plugin's exit status on SIGTERM", plugin.ended(), 0)


@pins
def pinner_update(run):
    """what an update of the CRI asks for does not move a pinned container"""
    node, _ = _start_over(run)
    _, s, x, own = _pair(run, node)
    everywhere = ",".join(str(cpu) for cpu in sorted(run.online))
    x.update(cpu_shares=700, cpuset_cpus=everywhere)
    s.update(cpu_shares=600, cpuset_cpus=everywhere)
    run.equal("the CPUs of the one that has its own", _cpus(x), own)
    run.equal("those of the one that shares", _cpus(s), run.online - own)
    run.check("what else it asks for is done", cgroup.has_shares(x.cgroup(), 700))


@pins
def pinner_limit(run):
    """an update of a container's CPU limit gives it CPUs of its own, is refused, and takes them back"""
    config = "/run/nri-e2e-pinner.yaml"
    with open(config, "w", encoding="ascii") as file:
        file.write("by-limit: true\n")
    node, _ = _start_over(run, "--config", config)
    pod = node.run_pod("pod-limited", {})
    s, x = pod.start("s"), pod.start("x")
    x.update(cpu_period=100000, cpu_quota=100000)
    own = _cpus(x)
    run.equal("how many CPUs the one has whose limit is one", len(own), 1)
    run.equal("the other one is off it", _cpus(s), run.online - own)
    try:
        x.update(cpu_period=100000, cpu_quota=100000 * len(run.online))
        run.check("a limit of all CPUs is refused", False)
    except cri.Error as error:
        text = error.details()
        run.check("the CRI error says why", "exclusive CPUs are wanted, and" in text, text)
    run.equal("it keeps its CPU", _cpus(x), own)
    x.update(cpu_period=100000, cpu_quota=50000)
    run.equal("the CPUs of one whose limit is half of one", _cpus(x), run.online)
    run.equal("those of the other one", _cpus(s), run.online)


@pins
def pinner_plugin_killed(run):
    """SIGKILL of the plugin: the cpusets stay, and those made and gone meanwhile are made good"""
    node, plugin = _start_over(run)
    pod, s, x, own = _pair(run, node)
    _kill(run, plugin)
    run.equal("without a plugin: the one that shares", _cpus(s), run.online - own)
    run.equal("and the one that has its own", _cpus(x), own)
    plugin = _plugin(run)
    run.equal("after a restart: the one that shares", _cpus(s), run.online - own)
    run.equal("and the one that has its own", _cpus(x), own)
    _kill(run, plugin)
    os.unlink(CHECKPOINT)
    plugin = _plugin(run)
    run.equal("without the checkpoint: the one that shares", _cpus(s), run.online - own)
    run.equal("and the one that has its own", _cpus(x), own)
    _kill(run, plugin)
    new = pod.start("new")
    _runs_anywhere(run, "a container made without the plugin", new)
    plugin = _plugin(run)
    _becomes(run, "and shares when it is back", new, run.online - own)
    _kill(run, plugin)
    x.remove()
    _plugin(run)
    _becomes(run, "its CPU is shared when it has ended meanwhile", s, run.online)
    _becomes(run, "by all", new, run.online)


@pins
def pinner_runtime_killed(run):
    """SIGKILL of containerd: the cpusets stay, and the plugin goes on when it is back"""
    node, plugin = _start_over(run)
    pod, s, x, own = _pair(run, node)
    node.kill()
    for restart in range(2):
        node.start()
        node.wait_connected("10-e2e")
        run.equal("after a restart: the one that shares", _cpus(s), run.online - own)
        run.equal("and the one that has its own", _cpus(x), own)
        if restart == 0:
            node.kill()
    x.remove()
    run.equal("its CPU comes back", _cpus(s), run.online)
    again = pod.start("x")
    run.equal("and can be given again", _cpus(again), own)
    node.kill()
    _kill(run, plugin)
    node.start()
    _plugin(run)
    run.equal("after a kill of both: the one that shares", _cpus(s), run.online - own)
    run.equal("and the one that has its own", _cpus(again), own)


@pins
def pinner_audit(run):
    """the audit finds a container that somebody has moved, and moves it back"""
    path = "/run/nri-e2e-pinner.yaml"
    with open(path, "w", encoding="utf-8") as file:
        file.write("audit-interval: 100ms\n")
    node, plugin = _start_over(run, "--config", path)
    _, s, x, own = _pair(run, node)
    everywhere = ",".join(str(cpu) for cpu in sorted(run.online))
    cgroup.set_cpus(s.cgroup(), everywhere)
    _becomes(run, "the one that shares", s, run.online - own)
    cgroup.set_cpus(x.cgroup(), everywhere)
    _becomes(run, "the one that has its own", x, own)
    plugin.signal(signal.SIGTERM)
    run.equal("the plugin's exit status on SIGTERM", plugin.ended(), 0)
    told = [line for line in plugin.log() if "audit: container" in line]
    run.equal("how often the log tells of it", len(told), 2)


@pins
def pinner_dry_run(run):
    """in a dry run nothing is changed"""
    node = Node(run)
    plugin = _plugin(run, "--dry-run")
    pod = node.run_pod("pod-dry", X)
    s, x = pod.start("s"), pod.start("x")
    _runs_anywhere(run, "the one that would share", s)
    _runs_anywhere(run, "the one that would have its own", x)
    plugin.signal(signal.SIGTERM)
    run.equal("the plugin's exit status on SIGTERM", plugin.ended(), 0)
    log = plugin.log()
    run.check("the log tells what would be done", any("has, exclusively, the CPUs" in line for line in log), log)
