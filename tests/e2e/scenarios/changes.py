# SPDX-License-Identifier: Apache-2.0
"""What a plugin changes is what the container has."""

import signal

import cgroup
from harness import scenario
from node import Node
from plugin import Plugin


@scenario
def adjusted(run):
    """env, annotation, mount, CPU and memory limits of a CreateContainer reply are in the container and its cgroup"""
    node = Node(run)
    Plugin(
        run,
        run.program,
        *("--add-env", "FROM_PLUGIN=a value with = and blanks"),
        *("--add-annotation", "e2e.nri/note=added"),
        *("--add-mount", "/etc/hostname:/from-plugin"),
        *("--cpu-shares", "333", "--cpu-quota", "30000", "--memory-limit", str(48 << 20)),
    )
    container = node.run_pod("pod-e").start("c0")
    run.equal("env inside", container.env().get("FROM_PLUGIN"), "a value with = and blanks")
    run.equal("env of the CRI request is still there", container.env().get("FROM_CRI"), "yes")
    with open("/etc/hostname", encoding="utf-8") as file:
        run.equal("the mounted file inside", container.execute("cat", "/from-plugin"), file.read())
    spec = container.spec()
    run.equal("annotation in the OCI spec", spec["annotations"].get("e2e.nri/note"), "added")
    path = container.cgroup()
    run.check("CPU shares 333 in the cgroup", cgroup.has_shares(path, 333), cgroup.cpu_weight(path))
    run.equal("CPU quota in the cgroup", cgroup.cpu_quota(path), 30000)
    run.equal("memory limit in the cgroup", cgroup.memory_limit(path), 48 << 20)


@scenario
def arguments(run):
    """a plugin replaces the arguments of a container (containerd knows this since NRI 0.10, in 2.2)"""
    node = Node(run)
    Plugin(run, run.program, *("--arg", "sh", "--arg", "-c", "--arg", "exit 3"))
    container = node.run_pod("pod-f").create("c0")
    args = container.spec()["process"]["args"]
    if run.version >= (2, 2):
        run.equal("arguments in the OCI spec", args, ["sh", "-c", "exit 3"])
    else:
        run.check("an older runtime ignores them", args != ["sh", "-c", "exit 3"], args)


@scenario
def env_removed(run):
    """removing an env variable: alone, and replacing it"""
    node = Node(run)
    first = Plugin(run, run.program, "--remove-env", "FROM_CRI")
    pod = node.run_pod("pod-g")
    env = pod.start("c0").env()
    run.note(
        "removing a variable of the CRI request alone %s"
        % ("is IGNORED by this runtime" if "FROM_CRI" in env else "takes effect")
    )
    run.check("the rest of the env is untouched", "PATH" in env, env)
    first.signal(signal.SIGTERM)
    first.ended()
    Plugin(run, run.program, "--replace-env", "FROM_CRI=plugin")
    run.equal("replaced", pod.start("c1").env().get("FROM_CRI"), "plugin")


@scenario
def update_overridden(run):
    """the plugin's reply to UpdateContainer is what reaches the cgroup"""
    node = Node(run)
    plugin = Plugin(run, run.program, "--update-cpu-shares", "777")
    container = node.run_pod("pod-h").start("c0")
    path = container.cgroup()
    run.check("shares at first", cgroup.has_shares(path, 512), cgroup.cpu_weight(path))
    container.update(cpu_shares=256, memory_limit_in_bytes=40 << 20)
    run.equal("shares that the plugin was asked about", plugin.wait("UpdateContainer")["cpu_shares"], 256)
    run.check("shares 777 in the cgroup", cgroup.has_shares(path, 777), cgroup.cpu_weight(path))
    run.equal("what the plugin left alone is as requested: memory", cgroup.memory_limit(path), 40 << 20)


@scenario
def unsolicited(run):
    """an update that nobody asked for changes the cgroup of a running container"""
    node = Node(run)
    plugin = Plugin(run, run.program, "--update-cpu-shares", "444", "--update-cpu-quota", "25000")
    container = node.run_pod("pod-i").start("c0")
    plugin.wait("PostStartContainer")
    path = container.cgroup()
    run.equal("quota at first", cgroup.cpu_quota(path), 50000)
    plugin.signal(signal.SIGUSR1)
    outcome = plugin.wait("UpdateContainers")
    run.equal("error of the call", outcome["error"], "")
    run.equal("updates that failed", outcome["failed"], 0)
    run.check("shares 444 in the cgroup", cgroup.has_shares(path, 444), cgroup.cpu_weight(path))
    run.equal("quota in the cgroup", cgroup.cpu_quota(path), 25000)


@scenario
def answered_later(run):
    """a handler may answer after it has returned; the runtime waits for it"""
    node = Node(run)
    plugin = Plugin(run, run.program, "--later", "CreateContainer=300", "--add-env", "FROM_PLUGIN=late")
    container = node.run_pod("pod-j").start("c0")
    events = plugin.events()
    created = next(e for e in events if e["event"] == "CreateContainer")
    after = next(e for e in events if e["event"] == "PostCreateContainer")
    waited = (after["t"] - created["t"]) / 1e6
    run.check("the creation waited 300 ms for the answer", waited >= 300, "%.0f ms" % waited)
    run.equal("env inside", container.env().get("FROM_PLUGIN"), "late")
