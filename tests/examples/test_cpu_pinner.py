#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_cpu_pinner.py PROGRAM: the whole program with a runtime that is played: the CPUs in its replies
and in what it sends unasked, and what it knows after either side was killed."""
import os
import re
import signal
import socket
import sys
import time
import unittest

from case import Case, Program
from events import until
from protobuf import field, fields, last, pairs, text_pairs
from runtime import PATIENCE, REQUEST, RESPONSE, RUNTIME_SERVICE, Refusal

PROGRAM = os.path.abspath(sys.argv.pop(1))

KEY = "exclusive-cpus.cpu-pinner.nri.io"
MARK = "given.cpu-pinner.nri.io"
STOPPED = 4


def cpuset(resources):
    """(cpus, mems) of LinuxResources."""
    cpu = fields(last(fields(resources), 2))
    return last(cpu, 6).decode(), last(cpu, 7).decode()


def read_updates(messages):
    """{container: (cpus, mems)} of a list of ContainerUpdate, each of which may fail alone."""
    updates = {}
    for message in messages:
        update = fields(message)
        assert last(update, 3, 0) == 1, update
        updates[last(update, 1).decode()] = cpuset(last(fields(last(update, 2)), 1))
    return updates


class Pinner(Case):
    """A machine of 2 nodes with 2 cores each of 2 CPUs: 0,4 and 1,5; 2,6 and 3,7. CPU 0 is reserved."""

    program = PROGRAM
    config = 'reserved-cpus: "0"\naudit-interval: 0s\n'

    def setUp(self):
        super().setUp()
        self.sysfs = os.path.join(self.directory, "sys")
        self.put("sys/devices/system/cpu/online", "0-7")
        self.put("sys/devices/system/node/online", "0-1")
        self.put("sys/devices/system/node/node0/cpulist", "0-1,4-5")
        self.put("sys/devices/system/node/node1/cpulist", "2-3,6-7")
        for cpu in range(8):
            core = "%d,%d" % (cpu % 4, cpu % 4 + 4)
            self.put("sys/devices/system/cpu/cpu%d/topology/core_cpus_list" % cpu, core)
        self.configured = self.put("config.yaml", self.config)
        self.checkpoint = os.path.join(self.directory, "checkpoint")
        self.containers = {}  # what the runtime has: id -> (cpus, mems, marks, annotations of the pod, quota)

    def put(self, name, text):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(text + "\n")
        os.rename(path + ".new", path)
        return path

    def begin(self, *arguments):
        """Runs the program until it has seen the node."""
        self.running, self.connection = self.connected(
            "--config", self.configured, "--sysfs", self.sysfs, "--checkpoint", self.checkpoint, *arguments
        )
        self.connection.registration()
        self.connection.answer_registration()
        self.connection.configure()
        return self.synchronize()

    # What the runtime says

    def pod(self, annotations):
        return field(1, "pod0") + field(2, "web") + field(4, "shop") + pairs(6, annotations)

    def container(self, name, state=0):
        cpus, mems, marks, _, quota = self.containers.get(name, ("", "", {}, {}, 0))
        cpu = field(6, cpus) + field(7, mems)
        if quota:
            cpu += field(2, field(1, quota)) + field(3, field(1, 100000))
        linux = field(3, field(2, cpu)) + field(5, "/pod0/" + name)
        return (
            field(1, name) + field(2, "pod0") + field(3, name) + field(4, state) + pairs(6, marks) + field(11, linux)
        )

    def apply(self, updates):
        for name, (cpus, mems) in updates.items():
            if name in self.containers:
                before = self.containers[name]
                self.containers[name] = (cpus or before[0], mems or before[1], *before[2:])
        return updates

    def synchronize(self):
        """The updates that the plugin answers with."""
        pods = {str(i): annotations for i, (*_, annotations, _) in enumerate(self.containers.values())}
        merged = {key: value for annotations in pods.values() for key, value in annotations.items()}
        message = field(1, self.pod(merged))
        for name in self.containers:
            message += field(2, self.container(name))
        return self.apply(read_updates(self.connection.call("Synchronize", message).get(1, [])))

    def event(self, name, container, state=0):
        annotations = self.containers[container][3] if container in self.containers else {}
        return self.connection.event(name, self.pod(annotations), self.container(container, state))

    def create(self, name, annotations=None, cpus="", quota=0):
        """Creates and starts a container: its cpus and mems, and the updates that came with them."""
        self.containers[name] = (cpus, "", {}, annotations or {}, quota)
        try:
            reply = self.event("CreateContainer", name)
        except Refusal:
            del self.containers[name]
            raise
        adjust = fields(last(reply, 1))
        given = cpuset(last(fields(last(adjust, 6)), 2))
        marks = dict(text_pairs(adjust.get(2, [])))
        self.containers[name] = (given[0] or cpus, given[1], marks, annotations or {}, quota)
        for event in ("PostCreateContainer", "StartContainer", "PostStartContainer"):
            self.event(event, name)
        return given, self.apply(read_updates(reply.get(2, [])))

    def exclusive(self, name, count, **more):
        return self.create(name, {KEY + "/container." + name: str(count)}, **more)

    def refusal(self, *arguments, **more):
        with self.assertRaises(Refusal) as refused:
            self.create(*arguments, **more)
        return str(refused.exception)

    def stop(self, name):
        updates = read_updates(self.event("StopContainer", name, STOPPED).get(1, []))
        return self.apply(updates)

    def remove(self, name):
        self.event("RemoveContainer", name, STOPPED)
        del self.containers[name]

    def unasked(self, failed=()):
        """Waits for UpdateContainers, and answers it: the updates."""
        stream, kind, data = self.connection._receive(RUNTIME_SERVICE)
        request = fields(data)
        self.assertEqual((kind, last(request, 2)), (REQUEST, b"UpdateContainers"))
        messages = fields(last(request, 3)).get(1, [])
        answer = b"".join(field(1, m) for m in messages if last(fields(m), 1).decode() in failed)
        self.connection._send(RUNTIME_SERVICE, stream, RESPONSE, field(2, answer))
        updates = read_updates(messages)
        self.apply({name: cpus for name, cpus in updates.items() if name not in failed})
        return updates

    def said(self, text):
        """Waits for a text in the log."""
        self.assertTrue(until(lambda: text in self.running.err(), self.directory, PATIENCE), self.running.err())

    # What is killed

    def kill_plugin(self):
        self.assertEqual(self.running.end(signal.SIGKILL)[0], -signal.SIGKILL)
        self.connection.close()

    def restart_runtime(self):
        self.connection.close()
        self.connection = self.listener.accept()
        self.connection.registration()
        self.connection.answer_registration()
        self.connection.configure()
        return self.synchronize()


class Giving(Pinner):
    def test_exclusive_and_shared(self):
        self.begin()
        self.assertEqual(self.create("s"), (("1-7", ""), {}))
        self.assertEqual(self.containers["s"][2], {MARK: "shared"})
        self.assertEqual(self.exclusive("x", 2), (("1,5", ""), {"s": ("2-4,6-7", "")}))
        self.assertEqual(self.containers["x"][2], {MARK: "exclusive"})
        self.assertEqual(self.exclusive("y", 4), (("2-3,6-7", ""), {"s": ("4", "")}))
        self.assertEqual(self.create("t"), (("4", ""), {}))
        self.assertEqual(self.stop("y"), {"s": ("2-4,6-7", ""), "t": ("2-4,6-7", "")})
        self.remove("y")
        self.assertEqual(self.stop("x"), {"s": ("1-7", ""), "t": ("1-7", "")})
        self.remove("x")

    def test_removed_without_a_stop(self):
        self.begin()
        self.create("s")
        self.exclusive("x", 2)
        self.remove("x")
        self.assertEqual(self.unasked(), {"s": ("1-7", "")})

    def test_pod_removed(self):
        self.begin()
        self.create("s")
        self.exclusive("x", 2)
        self.event("RemovePodSandbox", "x")
        self.assertEqual(self.exclusive("y", 2)[0], ("1,5", ""))

    def test_annotations(self):
        self.begin()
        self.assertEqual(self.create("a", {KEY: "1"})[0], ("4", ""))
        self.assertEqual(self.create("b", {KEY + "/pod": "2", KEY: "1"})[0], ("1,5", ""))
        self.assertEqual(self.create("c", {KEY + "/container.c": "0", KEY + "/pod": "2"})[0], ("2-3,6-7", ""))
        error = self.refusal("d", {KEY + "/pod": "two"})
        self.assertTrue(error.startswith('10-test: container d: annotation "%s/pod": "two": ' % KEY), error)

    def test_refused(self):
        self.begin()
        self.exclusive("x", 4)
        error = self.refusal("y", {KEY: "3"})
        self.assertEqual(error, "10-test: container y: 3 exclusive CPUs are wanted, and 2 can be had")
        self.said("CreateContainer refused: " + error)
        self.assertEqual(self.create("y", {KEY: "2"})[0], ("1,5", ""))

    def test_next_attempt(self):
        """A creation fails behind the plugin's back."""
        self.begin()
        self.containers["x"] = ("", "", {}, {KEY: "5"}, 0)
        self.event("CreateContainer", "x")
        # The same name in the same pod, and another id.
        again = self.container("x").replace(field(1, "x"), field(1, "x2"), 1)
        reply = self.connection.event("CreateContainer", self.pod({KEY: "6"}), again)
        given = cpuset(last(fields(last(fields(last(reply, 1)), 6)), 2))
        self.assertEqual(given, ("1-3,5-7", ""))

    def test_update_is_overridden(self):
        self.begin()
        self.create("s")
        self.exclusive("x", 2)
        for name, cpus in (("x", "1,5"), ("s", "2-4,6-7")):
            message = field(1, self.pod({})) + field(2, self.container(name)) + field(3, field(2, field(6, "0-7")))
            reply = self.connection.call("UpdateContainer", message)
            self.assertEqual(read_updates(reply.get(1, [])), {name: (cpus, "")})
            message = field(1, self.pod({})) + field(2, self.container(name)) + field(3, field(2, field(6, cpus)))
            self.assertEqual(self.connection.call("UpdateContainer", message), {})

    def test_chosen_by_others(self):
        self.begin()
        self.exclusive("x", 2)
        self.assertEqual(self.create("k", cpus="1-3")[0], ("2-3", ""))
        self.assertEqual(self.containers["k"][2], {})
        self.assertEqual(self.exclusive("y", 2)[0], ("6-7", ""))
        self.assertIn("all CPUs of its cpuset 6 are exclusive", self.refusal("l", cpus="6"))


class Restarts(Pinner):
    def fill(self):
        self.begin()
        self.create("s")
        self.exclusive("x", 2)
        self.exclusive("y", 1)
        self.before = dict(self.containers)

    def unchanged(self):
        self.assertEqual(self.containers, self.before)
        # None is given twice, none is lost.
        self.assertEqual(self.exclusive("z", 3)[0], ("2-3,6", ""))

    def test_plugin_killed(self):
        self.fill()
        self.kill_plugin()
        for name in self.containers:  # the runtime tells no cpuset, and no mark
            self.containers[name] = ("", "", {}, *self.before[name][3:])
        self.assertEqual(self.begin(), {name: self.before[name][:2] for name in self.before})
        self.containers = dict(self.before)
        self.unchanged()

    def test_checkpoint_lost(self):
        self.fill()
        self.kill_plugin()
        os.unlink(self.checkpoint)
        self.assertEqual(self.begin(), {})
        self.unchanged()

    def test_checkpoint_damaged(self):
        self.fill()
        self.kill_plugin()
        with open(self.checkpoint, "r+b") as file:
            file.truncate(os.path.getsize(self.checkpoint) - 1)
        self.assertEqual(self.begin(), {})
        self.unchanged()
        self.assertTrue(os.path.exists(self.checkpoint + ".damaged"))

    def test_plugin_killed_and_containers_gone(self):
        self.fill()
        self.kill_plugin()
        del self.containers["x"]
        self.containers["new"] = ("", "", {}, {KEY + "/container.new": "1"}, 0)
        self.containers["other"] = ("7", "", {}, {}, 0)
        updates = self.begin()
        self.assertEqual(updates.keys(), {"s", "new"})
        taken = [self.containers[name][0] for name in ("y", "new")]
        self.assertEqual(len(set(taken)), 2, taken)
        self.assertNotIn("7", taken)
        self.assertEqual(self.containers["other"][0], "7")

    def test_runtime_killed(self):
        self.fill()
        self.assertEqual(self.restart_runtime(), {})
        self.unchanged()

    def test_runtime_killed_and_containers_gone(self):
        self.fill()
        del self.containers["x"]
        updates = self.restart_runtime()
        self.assertEqual(updates.keys(), {"s"})
        self.assertEqual(self.exclusive("z", 2)[0], self.before["x"][:2])

    def test_runtime_killed_during_a_call(self):
        self.fill()
        self.event("RemoveContainer", "x", STOPPED)
        del self.containers["x"]
        self.connection._receive(RUNTIME_SERVICE)
        self.assertEqual(self.restart_runtime().keys(), {"s"})

    def test_failed_update(self):
        self.fill()
        self.remove("x")
        shared = self.unasked(failed=["s"])["s"]
        self.assertNotEqual(self.containers["s"][:2], shared)
        self.assertEqual(self.create("t"), (shared, {"s": shared}))

    def test_failed_update_is_sent_again(self):
        """By itself: nothing happens, and nothing is audited."""
        self.fill()
        self.remove("x")
        shared = self.unasked(failed=["s"])["s"]
        began = time.monotonic()
        self.assertEqual(self.unasked(failed=["s"]), {"s": shared})  # after a second
        self.assertEqual(self.unasked(), {"s": shared})  # after two more
        self.assertGreater(time.monotonic() - began, 2.5)
        self.assertEqual(self.containers["s"][:2], shared)


class Auditing(Pinner):
    config = 'reserved-cpus: "0"\naudit-interval: 10ms\n'

    def test_drift(self):
        cgroups = os.path.join(self.directory, "cgroups")
        for name, cpus in (("s", "2-4,6-7"), ("x", "1-2,5")):
            self.put("cgroups/cpuset/pod0/%s/cpuset.cpus" % name, cpus)
        self.begin("--cgroup-root", cgroups)
        self.create("s")
        self.exclusive("x", 2)
        while "x" not in (updates := self.unasked()):
            pass  # s was on the CPUs of later on for a while
        self.assertEqual(updates["x"], ("1,5", ""))
        self.said('audit: container x has the CPUs "1-2,5" in its cgroup, and should not')


class Configured(Pinner):
    config = "by-limit: true\npin-memory: true\nunsatisfied: share\nminimum-shared: 3\naudit-interval: 0s\n"

    def test_limits_and_memory(self):
        self.begin()
        self.assertEqual(self.create("half", quota=150000)[0], ("0-7", ""))
        given, updates = self.create("two", quota=200000)
        self.assertEqual((given, updates), (("0,4", "0"), {"half": ("1-3,5-7", "")}))
        self.assertEqual(self.create("no", {KEY: "0"}, quota=200000)[0], ("1-3,5-7", ""))
        self.assertEqual(self.create("three", quota=300000)[0], ("2-3,6", "1"))
        self.assertEqual(self.create("four", quota=400000)[0], ("1,5,7", ""))
        self.said("container four (four) shares the CPUs 1,5,7: the exclusive ones")

    def update(self, name, quota, period=0, **more):
        """UpdateContainer with a new limit: the updates of the reply."""
        cpu = field(2, field(1, quota)) + (field(3, field(1, period)) if period else b"")
        message = field(1, self.pod(more)) + field(2, self.container(name)) + field(3, field(2, cpu))
        updates = self.apply(read_updates(self.connection.call("UpdateContainer", message).get(1, [])))
        self.containers[name] = (*self.containers[name][:4], quota)
        return updates

    def test_new_limit(self):
        self.begin()
        self.create("s")
        self.assertEqual(self.create("x", quota=200000)[0], ("0,4", "0"))
        self.assertEqual(self.update("x", 200000), {})
        self.assertEqual(self.update("x", 300000, 100000), {"x": ("0-1,4", "0"), "s": ("2-3,5-7", "")})
        self.assertEqual(self.update("x", 100000), {"x": ("1", "0"), "s": ("0,2-7", "")})
        self.kill_plugin()  # what it has is known after a restart
        self.assertEqual(self.begin(), {})
        self.assertEqual(self.update("x", 500000), {"x": ("0-2,4-5", "0-1"), "s": ("3,6-7", "")})
        self.assertEqual(self.update("x", 150000), {"x": ("0-7", "0-1"), "s": ("0-7", "")})
        self.assertEqual(self.update("s", 400000, 100000), {"s": ("0-1,4-5", "0"), "x": ("2-3,6-7", "0-1")})
        # More than can be had: it shares, as at its creation.
        self.assertEqual(self.update("s", 600000), {"s": ("0-7", "0-1"), "x": ("0-7", "0-1")})
        self.said("container s (s) shares the CPUs 0-7: the exclusive ones")
        # Annotations say how many, whatever the limit is.
        self.assertEqual(self.create("a", {KEY: "1"}, quota=200000)[0], ("0", "0"))
        self.assertEqual(self.update("a", 300000, **{KEY: "1"}), {})

    def test_new_limit_is_refused(self):
        self.put("config.yaml", self.config.replace("share\n", "refuse\n"))
        self.begin()
        self.create("x", quota=200000)
        with self.assertRaises(Refusal) as refusal:
            self.update("x", 600000)
        self.assertIn("container x: 6 exclusive CPUs are wanted, and 5 can be had", str(refusal.exception))
        self.assertEqual(self.update("x", 500000), {"x": ("0-2,4-5", "0-1")})

    def test_reload(self):
        self.begin()
        self.put("config.yaml", self.config.replace("share\n", "refuse\n"))
        self.running.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                self.create("many", {KEY: "6"})
                self.stop("many")
                self.remove("many")
            except Refusal:
                return
        self.fail("the new configuration does not count")

    def test_wrong(self):
        for text, error in (
            ('reserved-cpus: "0-7"', "with the CPUs 0-7 reserved 0 of those online are left to share"),
            ("minimum-shared: 0", "minimum-shared"),
            ("by-limits: true", "by-limit"),
        ):
            with self.subTest(text):
                path = self.put("wrong.yaml", text)
                program = self.run_program("--config", path, "--sysfs", self.sysfs, "--socket", self.listener.path)
                self.assertEqual(program.ended(), 2, program.err())
                self.assertIn(error, program.err())

    def test_no_machine(self):
        program = self.run_program("--sysfs", self.directory + "/none", "--socket", self.listener.path)
        self.assertEqual(program.ended(), 2)
        self.assertIn("/none/devices/system/cpu/online: No such file or directory", program.err())


class DryRun(Pinner):
    def test_nothing_changes(self):
        self.begin("--dry-run")
        self.create("s")
        self.assertEqual(self.exclusive("x", 2), (("", ""), {}))
        self.assertEqual(self.containers["x"][2], {})
        self.assertEqual(self.create("y", {KEY: "7"}), (("", ""), {}))
        self.said("dry run: container x (x) has, exclusively, the CPUs 1,5")
        self.said("dry run: container s runs on the shared CPUs 2-4,6-7")
        self.said("dry run: CreateContainer refused: 10-test: container y: 7 exclusive CPUs are wanted")
        self.assertEqual(self.stop("x"), {})
        self.remove("x")
        self.assertFalse(os.path.exists(self.checkpoint))


class Metrics(Pinner):
    def test_http(self):
        path = os.path.join(self.directory, "http")
        self.begin("--http", "unix:" + path)
        self.exclusive("x", 2)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            text = b"".join(iter(lambda: client.recv(65536), b"")).decode()
        self.assertIn('\nnri_cpu_pinner_cpus{set="exclusive"} 2\n', text)
        self.assertTrue(re.search(r"\nnri_cpu_pinner_allocations_total 1\n", text), text)
        self.assertTrue(text.endswith("# EOF\n"), text[-100:])


class Ending(Pinner):
    def test_terminated(self):
        self.begin()
        self.create("s")
        code, seconds = self.running.end()
        self.assertEqual(code, 0, self.running.err())
        self.assertLess(seconds, 10)


if __name__ == "__main__":
    unittest.main()
