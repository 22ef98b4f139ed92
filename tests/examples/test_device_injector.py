#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_device_injector.py PROGRAM: what each annotation puts into a container, which one of several
counts, and how what cannot be done is refused."""
import json
import os
import stat
import sys
import unittest

from case import Case
from protobuf import field, fields, last, pairs, text_pairs
from runtime import CLASSIC, Refusal, mask

PROGRAM = os.path.abspath(sys.argv.pop(1))

MOUNTS, LINUX, CDI_DEVICES = 3, 6, 8
DEVICES, RESOURCES, IO_PRIORITY, SYSCTL, NET_DEVICES, SCHEDULER, MEMORY_POLICY = 1, 2, 5, 8, 9, 10, 12
DEVICE_RULES = 7
SCHED_FIFO, SCHED_BATCH, SCHED_DEADLINE = 2, 4, 7
MPOL_BIND = 2
IOPRIO_CLASS_BE = 2

NULL = "- {path: /dev/injected, type: c, major: 1, minor: 3}"


def signed(number):
    """An int32 or int64 of the wire."""
    return number - (1 << 64) if number >= 1 << 63 else number


def wrapped(message, number):
    """The value of an optional wrapper; None when it is absent."""
    return last(fields(last(message, number)), 1, 0) if number in message else None


def devices(linux):
    """(path, type, major, minor, mode, uid, gid) of each device."""
    parsed = [fields(device) for device in linux.get(DEVICES, [])]
    return [
        (last(d, 1).decode(), last(d, 2).decode(), last(d, 3, 0), last(d, 4, 0))
        + (wrapped(d, 5), wrapped(d, 6), wrapped(d, 7))
        for d in parsed
    ]


def rules(linux):
    """(allow, type, major, minor, access) of each rule of the device cgroup."""
    parsed = [fields(rule) for rule in fields(last(linux, RESOURCES)).get(DEVICE_RULES, [])]
    return [
        (last(r, 1, 0), last(r, 2).decode(), wrapped(r, 3), wrapped(r, 4), last(r, 5).decode())
        for r in parsed
    ]


def mounts(adjust):
    """(destination, type, source, options) of each mount."""
    parsed = [fields(mount) for mount in adjust.get(MOUNTS, [])]
    return [
        (last(m, 1).decode(), last(m, 2).decode(), last(m, 3).decode(), [o.decode() for o in m.get(4, [])])
        for m in parsed
    ]


class Injector(Case):
    program = PROGRAM

    def start(self, *arguments, **configuration):
        self.running, self.connection = self.connected(*arguments)
        return self.connection.start(**configuration)

    def create(self, annotations, name="c0"):
        """The adjustment of a container in a pod with these annotations."""
        if not hasattr(self, "connection"):
            self.start()
        pod = field(1, "pod0") + field(2, "web") + field(4, "shop") + pairs(6, annotations)
        container = field(1, "ctr0") + field(2, "pod0") + field(3, name)
        return fields(last(self.connection.event("CreateContainer", pod, container), 1))

    def linux(self, annotations, name="c0"):
        return fields(last(self.create(annotations, name), LINUX))

    def refusal(self, annotations, name="c0"):
        with self.assertRaises(Refusal) as refused:
            self.create(annotations, name)
        return str(refused.exception)

    def refused(self, key, text, where, reason):
        """The annotation is refused with a text that names it, the place, and the reason; the next
        container is not affected."""
        error = self.refusal({key: text})
        self.assertTrue(error.startswith(f"10-test: annotation {key}{where}: "), error)
        self.assertIn(reason, error)
        self.assertEqual(self.create({}), {})


class Events(Injector):
    def test_only_create_container(self):
        self.assertEqual(self.start(), mask("CreateContainer"))

    def test_nothing_asked_for(self):
        self.assertEqual(self.create({"pod-says": "hello"}), {})
        self.assertEqual(self.running.err(), "")

    def test_all_at_once(self):
        adjust = self.create(
            {
                "devices.noderesource.dev": NULL,
                "cdi-devices.noderesource.dev": "[v.com/dev=0]",
                "mounts.noderesource.dev": "- {destination: /a, source: /b, type: bind}",
                "io-priority.noderesource.dev": "class: IOPRIO_CLASS_BE",
                "scheduling-policy.noderesource.dev": "policy: SCHED_BATCH",
                "network-devices.noderesource.dev": "- hostIf: eth1",
                "sysctl.noderesource.dev": "kernel.msgmax: 1",
                "memory-policy.noderesource.dev": "mode: MPOL_DEFAULT",
            }
        )
        self.assertEqual(set(adjust), {MOUNTS, LINUX, CDI_DEVICES})
        self.assertEqual(
            set(fields(last(adjust, LINUX))),
            {DEVICES, RESOURCES, IO_PRIORITY, SYSCTL, NET_DEVICES, SCHEDULER, MEMORY_POLICY},
        )
        self.assertEqual(self.running.err(), "")


class Devices(Injector):
    key = "devices.noderesource.dev"

    def test_given(self):
        text = """
- path: /dev/one
  type: c
  major: 10
  minor: 200
  file_mode: 432
  uid: 1000
  gid: 44
- path: /dev/two
  type: b
  major: 7
  minor: 0
"""
        linux = self.linux({self.key: text})
        self.assertEqual(
            devices(linux),
            [("/dev/one", "c", 10, 200, 0o660, 1000, 44), ("/dev/two", "b", 7, 0, None, None, None)],
        )
        self.assertEqual(rules(linux), [(1, "c", 10, 200, "rwm"), (1, "b", 7, 0, "rwm")])

    def test_json(self):
        value = [{"path": "/dev/one", "type": "c", "major": 4095, "minor": 1048575, "file_mode": 511, "uid": 4294967295}]
        linux = self.linux({self.key: json.dumps(value)})
        self.assertEqual(devices(linux), [("/dev/one", "c", 4095, 1048575, 0o777, 4294967295, None)])

    def test_numbers_as_yaml_writes_them(self):
        for text, mode in (("0660", 0o660), ("0o660", 0o660), ("0x1b0", 0o660), ("0b110", 6), ("+432", 0o660)):
            with self.subTest(text):
                linux = self.linux({self.key: NULL[:-1] + ", file_mode: " + text + "}"})
                self.assertEqual(devices(linux)[0][4], mode)

    def test_unbuffered_character_device(self):
        linux = self.linux({self.key: "- {path: /dev/u, type: u, major: 1, minor: 3}"})
        self.assertEqual(devices(linux), [("/dev/u", "u", 1, 3, None, None, None)])
        self.assertEqual(rules(linux), [(1, "c", 1, 3, "rwm")])

    def test_fifo_has_no_rule(self):
        linux = self.linux({self.key: "- {path: /run/fifo, type: p, file_mode: 0600}"})
        self.assertEqual(devices(linux), [("/run/fifo", "p", 0, 0, 0o600, None, None)])
        self.assertEqual(rules(linux), [])

    def test_mode_0_and_null_are_not_given(self):
        for text in ("0", "", "~", "null"):
            with self.subTest(text):
                linux = self.linux({self.key: NULL[:-1] + ", file_mode: " + text + ", uid: 0, gid: ~}"})
                self.assertEqual(devices(linux), [("/dev/injected", "c", 1, 3, None, 0, None)])

    def test_from_the_host(self):
        host = os.stat("/dev/null")
        major, minor = os.major(host.st_rdev), os.minor(host.st_rdev)
        linux = self.linux({self.key: "- path: /dev/null"})
        mode = stat.S_IMODE(host.st_mode)
        self.assertEqual(devices(linux), [("/dev/null", "c", major, minor, mode, host.st_uid, host.st_gid)])
        self.assertEqual(rules(linux), [(1, "c", major, minor, "rwm")])

    def test_from_the_host_with_another_mode_and_owner(self):
        host = os.stat("/dev/null")
        numbers = (os.major(host.st_rdev), os.minor(host.st_rdev))
        linux = self.linux({self.key: "- {path: /dev/null, file_mode: 0600, uid: 5}"})
        self.assertEqual(devices(linux), [("/dev/null", "c", *numbers, 0o600, 5, host.st_gid)])
        self.assertEqual(rules(linux), [(1, "c", *numbers, "rwm")])

    def test_from_the_host_where_none_is(self):
        missing = os.path.join(self.directory, "missing")
        self.refused(self.key, f"- path: {missing}", ":1:3", missing)

    def test_from_the_host_what_is_no_device(self):
        self.refused(self.key, f"- path: {self.directory}", ":1:3", self.directory)

    def test_repeated_path(self):
        """The last one counts. A runtime would call it a conflict of the plugin with itself."""
        text = "- {path: /dev/x, type: c, major: 1, minor: 3}\n- {path: /dev/y, type: c, major: 1, minor: 5}\n"
        text += "- {path: /dev/x, type: c, major: 1, minor: 7}\n"
        linux = self.linux({self.key: text})
        self.assertEqual(sorted(d[:4] for d in devices(linux)), [("/dev/x", "c", 1, 7), ("/dev/y", "c", 1, 5)])
        self.assertEqual(sorted(rules(linux)), [(1, "c", 1, 5, "rwm"), (1, "c", 1, 7, "rwm")])
        self.assertEqual(self.running.err().count("\n"), 1, self.running.err())
        self.assertIn(f'web/c0: annotation {self.key}:1:3: path "/dev/x"', self.running.err())
        self.assertIn("line 3", self.running.err())

    def test_half_given(self):
        for half in ("type: c", "type: c, major: 1", "major: 1, minor: 3", "type: b, minor: 0"):
            with self.subTest(half):
                self.refused(self.key, f"- {{path: /dev/null, {half}}}", ":1:3", "all of them, or none")

    def test_bad_values(self):
        for text, where, reason in (
            ("- {type: c, major: 1, minor: 3}", ":1:3", "path is missing"),
            ("- {path: dev/x, type: c, major: 1, minor: 3}", ":1:3", "dev/x"),
            ("- {path: -/dev/x, type: c, major: 1, minor: 3}", ":1:3", "-/dev/x"),
            ("- {path: /dev/x, type: x, major: 1, minor: 3}", ":1:3", '"x"'),
            ("- {path: /dev/x, type: c, major: -1, minor: 3}", ":1:34", "from 0 to 4095"),
            ("- {path: /dev/x, type: c, major: 4096, minor: 3}", ":1:34", "from 0 to 4095"),
            ("- {path: /dev/x, type: c, major: 1, minor: 1048576}", ":1:44", "from 0 to 1048575"),
            ("- {path: /dev/x, type: c, major: 1.5, minor: 3}", ":1:34", '"1.5"'),
            ("- {path: /dev/x, type: c, major: one, minor: 3}", ":1:34", '"one"'),
            ("- {path: /dev/x, type: c, major: ' 1', minor: 3}", ":1:34", '" 1"'),
            ("- {path: /dev/x, type: c, major: 18446744073709551617, minor: 3}", ":1:34", "4095"),
            (NULL[:-1] + ", file_mode: 010000}", ":1:65", "from 0 to 4095"),
            (NULL[:-1] + ", file_mode: 0668}", ":1:65", '"0668"'),
            (NULL[:-1] + ", uid: 4294967296}", ":1:59", "4294967295"),
            (NULL[:-1] + ", uid: -1}", ":1:59", '"-1"'),
            (NULL[:-1] + ", mode: 0666}", ":1:54", "file_mode"),
            (NULL[:-1] + ", path: /dev/y}", ":1:54", "twice"),
            (NULL[:-1] + ", PATH: /dev/y}", ":1:54", "twice"),
            (NULL + "\n- /dev/null", ":2:3", "mapping"),
            (NULL + "\n-", ":1:1", "entry 2"),
            ("- {path: [/dev/x], type: c, major: 1, minor: 3}", ":1:10", "text"),
            ("- {? [path] : /dev/x}", ":1:6", "text"),
            ('- {path: "/dev/a\\0b", type: c, major: 1, minor: 3}', ":1:10", "NUL"),
            ("path: /dev/null", ":1:1", "list"),
            ("/dev/null", ":1:1", "list"),
        ):
            with self.subTest(text):
                self.refused(self.key, text, where, reason)


class Text(Injector):
    """What is wrong with a text as such."""

    key = "devices.noderesource.dev"

    def test_nothing(self):
        for text in ("", "  \n", "# nothing", "~", "null", "[]", "---"):
            with self.subTest(text):
                self.assertEqual(self.create({self.key: text}), {})

    def test_not_yaml(self):
        for text, where in (
            ("- path: /dev/null\n  type: [c\n", ":3:1"),
            ("- path: /dev/null\n\ttype: c", ":2:1"),
            ("{", ":2:1"),
            ("- path: *unknown", ":1:9"),
            ("- 'path", ":1:8"),
            ("- path: /dev/null\n  a\0b: c", ":2:4"),
            ("- path: /dev/null\n- \x01", ":2:3"),
        ):
            with self.subTest(text):
                self.refused(self.key, text, where, "not YAML")

    def test_two_documents(self):
        self.refused(self.key, NULL + "\n---\n" + NULL, ":3:1", "second document")

    def test_too_long(self):
        text = NULL + " #" + "x" * (64 * 1024 - len(NULL) - 2)
        self.assertEqual(len(self.linux({self.key: text})[DEVICES]), 1)
        self.refused(self.key, text + "x", "", "65537 bytes")

    def test_too_many(self):
        text = "\n".join(["- {path: /dev/x%d, type: p}" % i for i in range(1024)])
        self.assertEqual(len(self.linux({self.key: text})[DEVICES]), 1024)
        self.refused(self.key, text + "\n- {path: /y, type: p}", ":1:1", "1025 entries")

    def test_alias(self):
        text = "- &one {path: /dev/x, type: c, major: 1, minor: 3}\n- *one"
        self.assertEqual(devices(self.linux({self.key: text}))[0][:4], ("/dev/x", "c", 1, 3))

    def test_alias_of_itself(self):
        self.refused(self.key, "&all [*all]", ":1:1", "mapping")

    def test_depth(self):
        self.refused(self.key, "[" * 16 + "]" * 16, ":1:2", "must be a mapping")
        reason = "17 lists and mappings in one another: at most 16 are taken"
        for opener, where in (("[", ":1:17"), ("- ", ":1:33"), ("{a: ", ":1:65"), ("? ", ":1:33"), ("[{", ":1:17")):
            with self.subTest(opener):
                self.refused(self.key, opener * (65000 // len(opener)), where, reason)

    def test_too_many_values(self):
        text = "\n[" + "a,a,a,a,a,a,a,a\n," * 2048
        self.refused(self.key, text + "]", ":2049:16", "more than 16384 values: at most that many are taken")
        self.refused(self.key, "[&a a" + ",*a" * 16384 + "]", ":1:49153", "more than 16384 values")
        self.refused(self.key, "[" + "a," * 16383 + "]", ":1:1", "16383 entries: at most 1024 are taken")

    def test_too_many_anchors(self):
        anchors = ",".join("&a%d a" % i for i in range(1024))
        self.refused(self.key, f"[{anchors}]", ":1:2", "must be a mapping")
        where = f":1:{len(anchors) + 3}"
        self.refused(self.key, f"[{anchors},&z [a]]", where, "more than 1024 anchors: at most that many are taken")

    def test_nul(self):
        self.refused(self.key, '- {path: "/a\\0b"}', ":1:10", "must not contain a NUL")

    def test_many_aliases_of_much(self):
        """Every entry is looked at before any is compared with another."""
        head = ",".join("{destination: /%d}" % i for i in range(480))
        many = "{" + "a," * 7000 + "}"
        text = f"[{head},\n&b {many}" + ",*b" * 500 + "]"
        self.refused("mounts.noderesource.dev", text, ":2:1", "7000 entries: at most 1024 are taken")

    def test_all_entries_are_checked_first(self):
        text = "- {destination: relative}\n- {destination: /a, other: 1}"
        self.refused("mounts.noderesource.dev", text, ":2:21", "unknown member")

    def test_all_kinds_are_refused_alike(self):
        for kind in ("devices cdi-devices mounts io-priority scheduling-policy network-devices sysctl memory-policy").split():
            with self.subTest(kind):
                self.refused(kind + ".noderesource.dev", "\n- [", ":3:1", "not YAML")


class Precedence(Injector):
    ORDER = [
        "devices.noderesource.dev/container.c0",
        "devices.nri.io/container.c0",
        "devices.noderesource.dev/pod",
        "devices.nri.io/pod",
        "devices.noderesource.dev",
        "devices.nri.io",
    ]

    def test_order(self):
        """Each counts before all that come after it."""
        for first in range(len(self.ORDER)):
            with self.subTest(self.ORDER[first]):
                annotations = {key: NULL.replace("injected", f"x{i}") for i, key in enumerate(self.ORDER) if i >= first}
                self.assertEqual([d[0] for d in devices(self.linux(annotations))], [f"/dev/x{first}"])

    def test_other_container(self):
        annotations = {"devices.noderesource.dev/container.c1": NULL}
        self.assertEqual(self.create(annotations), {})
        self.assertEqual(len(self.linux(annotations, "c1")[DEVICES]), 1)

    def test_only_what_counts_is_read(self):
        annotations = {"devices.noderesource.dev/container.c0": NULL, "devices.noderesource.dev/pod": "{"}
        self.assertEqual(len(self.linux(annotations)[DEVICES]), 1)
        self.assertIn("devices.noderesource.dev/pod", self.refusal(annotations, "c1"))

    def test_empty_for_a_container_overrides(self):
        self.assertEqual(self.create({"devices.noderesource.dev/container.c0": "", "devices.noderesource.dev": NULL}), {})

    def test_sysctl_has_no_old_key(self):
        self.assertEqual(self.create({"sysctl.nri.io": "kernel.msgmax: 1"}), {})

    def test_container_named_pod(self):
        annotations = {"devices.noderesource.dev/pod": "{", "devices.nri.io/container.pod": NULL}
        self.assertEqual(len(self.linux(annotations, "pod")[DEVICES]), 1)


class CdiDevices(Injector):
    key = "cdi-devices.noderesource.dev/pod"

    def names(self, text):
        return [last(fields(device), 1).decode() for device in self.create({self.key: text})[CDI_DEVICES]]

    def test_names(self):
        self.assertEqual(self.names("- vendor0.com/device=null\n- vendor1.com/device=dev0\n"),
                         ["vendor0.com/device=null", "vendor1.com/device=dev0"])  # fmt: skip

    def test_old_key(self):
        self.key = "cdi-devices.nri.io/container.c0"
        self.assertEqual(self.names('["v.com/dev=all"]'), ["v.com/dev=all"])

    def test_repeated(self):
        self.assertEqual(self.names("[v.com/dev=0, v.com/dev=1, v.com/dev=0]"), ["v.com/dev=0", "v.com/dev=1"])

    def test_bad_values(self):
        for text, where, reason in (
            ("- nonsense", ":1:3", "nonsense"),
            ("- v.com/dev=0\n- - v.com/dev=1", ":2:3", "text"),
            ("- v.com/dev=0\n-", ":1:1", "CDI device"),
            ("v.com/dev=0", ":1:1", "list"),
        ):
            with self.subTest(text):
                self.refused(self.key, text, where, reason)


class Mounts(Injector):
    key = "mounts.noderesource.dev"

    def test_mounts(self):
        text = """
- source: /srv/data
  destination: /data
  type: bind
  options:
    - rbind
    - ro
- destination: /scratch
  type: tmpfs
  source: tmpfs
"""
        self.assertEqual(
            mounts(self.create({self.key: text})),
            [("/data", "bind", "/srv/data", ["rbind", "ro"]), ("/scratch", "tmpfs", "tmpfs", [])],
        )

    def test_scalars_are_texts(self):
        text = "- {source: 5, destination: /on, type: yes, options: [size=1, 0x10, true]}"
        self.assertEqual(mounts(self.create({self.key: text})), [("/on", "yes", "5", ["size=1", "0x10", "true"])])

    def test_repeated_destination(self):
        text = "- {destination: /a, source: /x}\n- {destination: /a, source: /y}"
        self.assertEqual(mounts(self.create({self.key: text})), [("/a", "", "/y", [])])
        self.assertIn('destination "/a"', self.running.err())

    def test_bad_values(self):
        for text, where, reason in (
            ("- {source: /x}", ":1:3", "destination"),
            ("- {source: /x, destination: data}", ":1:3", '"data"'),
            ("- {source: /x, destination: -/data}", ":1:3", '"-/data"'),
            ("- {destination: /a, options: ro}", ":1:30", "list"),
            ("- {destination: /a, option: [ro]}", ":1:21", "options"),
            ("- {destination: /a, options: [ro, [rw]]}", ":1:35", "text"),
        ):
            with self.subTest(text):
                self.refused(self.key, text, where, reason)


class NetDevices(Injector):
    key = "network-devices.noderesource.dev"

    def devices(self, text):
        entries = [fields(entry) for entry in self.linux({self.key: text})[NET_DEVICES]]
        return {last(e, 1).decode(): last(fields(last(e, 2)), 1).decode() for e in entries}

    def test_devices(self):
        self.assertEqual(self.devices("- hostIf: ens2.100\n  name: netdev0\n- hostIf: ens3\n"),
                         {"ens2.100": "netdev0", "ens3": ""})  # fmt: skip

    def test_case_of_members_does_not_count(self):
        self.assertEqual(self.devices("- hostIf: ens2.100\n  Name: netdev0"), {"ens2.100": "netdev0"})
        self.assertEqual(self.devices("- HOSTIF: ens2.100"), {"ens2.100": ""})

    def test_repeated(self):
        self.assertEqual(self.devices("- {hostIf: a, name: x}\n- {hostIf: a, name: y}"), {"a": "y"})

    def test_bad_values(self):
        for text, where, reason in (
            ("- name: x", ":1:3", "net device"),
            ("- hostIf: this-name-is-too-long", ":1:3", "too-long"),
            ("- {hostIf: a, name: x/y}", ":1:3", "x/y"),
            ("- {host_if: a}", ":1:4", "hostIf"),
        ):
            with self.subTest(text):
                self.refused(self.key, text, where, reason)


class IoPriority(Injector):
    key = "io-priority.noderesource.dev"

    def priority(self, text):
        message = fields(last(self.linux({self.key: text}), IO_PRIORITY))
        return last(message, 1, 0), last(message, 2, 0)

    def test_priority(self):
        self.assertEqual(self.priority("class: IOPRIO_CLASS_BE\npriority: 7"), (IOPRIO_CLASS_BE, 7))
        self.assertEqual(self.priority("class: IOPRIO_CLASS_BE"), (IOPRIO_CLASS_BE, 0))

    def test_bad_values(self):
        for text, where, reason in (
            ("class: IOPRIO_CLASS_TURBO", ":1:8", "IOPRIO_CLASS_TURBO"),
            ("priority: 1", ":1:1", "class is missing"),
            ("class: IOPRIO_CLASS_BE\npriority: 8", ":2:11", "from 0 to 7"),
            ("IOPRIO_CLASS_BE", ":1:1", "mapping"),
        ):
            with self.subTest(text):
                self.refused(self.key, text, where, reason)


class SchedulingPolicy(Injector):
    key = "scheduling-policy.noderesource.dev"

    def scheduler(self, text):
        message = fields(last(self.linux({self.key: text}), SCHEDULER))
        flags = list(last(message, 4))
        return [last(message, 1, 0), signed(last(message, 2, 0)), last(message, 3, 0), flags] + [
            last(message, number, 0) for number in (5, 6, 7)
        ]

    def test_policies(self):
        self.assertEqual(
            self.scheduler("policy: SCHED_FIFO\npriority: 99\nflags: [SCHED_FLAG_RESET_ON_FORK, SCHED_FLAG_KEEP_PARAMS]"),
            [SCHED_FIFO, 0, 99, [0, 4], 0, 0, 0],
        )
        self.assertEqual(self.scheduler("{policy: SCHED_BATCH, nice: -20}"), [SCHED_BATCH, -20, 0, [], 0, 0, 0])
        self.assertEqual(
            self.scheduler("{policy: SCHED_DEADLINE, runtime: 1024, deadline: 20000000000, period: 20000000000}"),
            [SCHED_DEADLINE, 0, 0, [], 1024, 20000000000, 20000000000],
        )

    def test_bad_values(self):
        for text, where, reason in (
            ("policy: FIFO", ":1:9", "FIFO"),
            ("priority: 1", ":1:1", "policy is missing"),
            ("policy: SCHED_FIFO", ":1:1", "priority"),
            ("{policy: SCHED_BATCH, nice: 20}", ":1:1", "nice"),
            ("{policy: SCHED_BATCH, nice: 2147483648}", ":1:29", "2147483647"),
            ("{policy: SCHED_BATCH, flags: [SCHED_FLAG_X]}", ":1:31", "SCHED_FLAG_X"),
            ("{policy: SCHED_BATCH, flags: [~]}", ":1:30", "flag"),
            ("{policy: SCHED_BATCH, flags: %s}" % (["x"] * 33), ":1:30", "33 flags"),
            ("{policy: SCHED_DEADLINE, runtime: -1}", ":1:35", '"-1"'),
            ("{policy: SCHED_DEADLINE, runtime: 18446744073709551616}", ":1:35", "18446744073709551615"),
        ):
            with self.subTest(text):
                self.refused(self.key, text, where, reason)


class Sysctls(Injector):
    key = "sysctl.noderesource.dev"

    def test_values(self):
        text = 'net.core.somaxconn: "1024"\nkernel.msgmax: 0010\nnet.ipv4.ip_local_port_range: 1024 65535\nkernel.sem: ""'
        self.assertEqual(
            dict(text_pairs(self.linux({self.key: text})[SYSCTL])),
            {"net.core.somaxconn": "1024", "kernel.msgmax": "0010", "net.ipv4.ip_local_port_range": "1024 65535",
             "kernel.sem": ""},
        )  # fmt: skip

    def test_bad_values(self):
        for text, where, reason in (
            ("kernel.msgmax: 1\n-kernel.sem: 1", ":2:14", "-kernel.sem"),
            ("net/core/somaxconn: 1", ":1:21", "net/core/somaxconn"),
            ("kernel.msgmax:", ":1:1", "kernel.msgmax"),
            ("kernel.msgmax: [1]", ":1:16", "text"),
            ("kernel.msgmax: 1\nkernel.msgmax: 2", ":2:1", "twice"),
            ("- kernel.msgmax", ":1:1", "mapping"),
        ):
            with self.subTest(text):
                self.refused(self.key, text, where, reason)


class MemoryPolicy(Injector):
    key = "memory-policy.noderesource.dev/container.c0"

    def test_policy(self):
        message = fields(
            last(self.linux({self.key: 'mode: MPOL_BIND\nnodes: "0,3"\nflags: [ MPOL_F_STATIC_NODES ]\n'}), MEMORY_POLICY)
        )
        self.assertEqual((last(message, 1), last(message, 2), list(last(message, 3))), (MPOL_BIND, b"0,3", [0]))

    def test_nodes_that_look_like_a_number(self):
        message = fields(last(self.linux({self.key: "{mode: MPOL_BIND, nodes: 0}"}), MEMORY_POLICY))
        self.assertEqual(last(message, 2), b"0")

    def test_bad_values(self):
        for text, where, reason in (
            ("mode: MPOL_NONE", ":1:7", "MPOL_NONE"),
            ("nodes: 0", ":1:1", "mode is missing"),
            ("mode: MPOL_BIND", ":1:1", "nodes"),
            ("{mode: MPOL_BIND, nodes: 0-}", ":1:1", "0-"),
            ("{mode: MPOL_BIND, nodes: 0, flags: [STATIC]}", ":1:37", "STATIC"),
        ):
            with self.subTest(text):
                self.refused(self.key, text, where, reason)


class Log(Injector):
    def test_what_the_runtime_ignores(self):
        """NRI 0.8 carries devices, mounts and CDI devices, and nothing else of all this."""
        self.assertEqual(self.start(version="2.1.9", nri=""), CLASSIC & mask("CreateContainer"))
        self.create({"devices.noderesource.dev": NULL, "mounts.noderesource.dev": "- destination: /a",
                     "cdi-devices.noderesource.dev": "[v.com/dev=0]"})  # fmt: skip
        self.assertEqual(self.running.err(), "")
        self.create({"io-priority.noderesource.dev": "class: IOPRIO_CLASS_BE",
                     "sysctl.noderesource.dev": "kernel.msgmax: 1"})  # fmt: skip
        told = [line for line in self.running.err().splitlines() if "web/c0" in line]
        self.assertEqual(len(told), 2, self.running.err())
        for line, feature in zip(told, ("io-priority", "sysctl")):
            self.assertIn(f"containerd 2.1.9 ignores {feature}", line)

    def test_verbose(self):
        self.start("--verbose")
        self.create({"devices.noderesource.dev": NULL})
        self.assertRegex(self.running.err(), r"(?m) info [\w-]+: web/c0: device /dev/injected$")

    def test_json(self):
        self.start("--verbose", "--log-format", "json")
        self.create({"devices.noderesource.dev": NULL})
        messages = [json.loads(line)["message"] for line in self.running.err().splitlines()]
        self.assertIn("web/c0: device /dev/injected", messages)

    def test_it_comes_back(self):
        """A runtime that starts again finds it there."""
        self.start()
        self.connection.close()
        self.connection = self.listener.accept()
        self.connection.start()
        self.assertEqual(set(self.create({"devices.noderesource.dev": NULL})), {LINUX})


if __name__ == "__main__":
    unittest.main()
