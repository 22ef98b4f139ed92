#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py HOST PLUGIN [SCENARIO...]: plugins that do wrong to an nri_runtime, beside two that are as they should be."""

import os
import random
import signal
import socket
import struct
import sys
import threading
import time

from hosting import PATIENCE, Host, Process, Unmet, play

HOST, PLUGIN = (os.path.realpath(path) for path in sys.argv[1:3])
# The time-outs of scenarios in which they are reached. A good plugin has as long to answer.
REQUEST_TIMEOUT, REGISTRATION_TIMEOUT = 4.0, 8.0
EVENTS = 0x1fff
SEED = 20240611


# ---- a plugin by hand: mux frames, ttRPC messages, protobuf fields ----

def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(connection, stream, kind, data):
    return struct.pack(">IIIIBB", connection, len(data) + 10, len(data), stream, kind, 0) + data


def request(stream, method, payload):
    return message(2, stream, 1, field(1, b"nri.pkg.api.v1alpha1.Runtime") + field(2, method) + field(3, payload))


def reply(stream, payload):
    return message(1, stream, 2, field(2, payload))


def registration(name):
    return request(1, b"RegisterPlugin", field(1, name.encode()) + field(2, b"50"))


UPDATE = field(1, field(1, b"elsewhere"))


class Raw:
    """A connection that does as it is told."""

    def __init__(self, host, name="raw"):
        self.name, self.have = name, b""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(host.socket)

    def send(self, data):
        try:
            self.socket.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def take(self, count):
        while len(self.have) < count:
            got = self.socket.recv(1 << 16)
            if not got:
                return None
            self.have += got
        taken, self.have = self.have[:count], self.have[count:]
        return taken

    def call(self):
        """The stream of the runtime's next call; None at the end. Replies to this side's calls are passed over."""
        while True:
            header = self.take(18)
            if header is None or self.take(struct.unpack(">I", header[8:12])[0]) is None:
                return None
            if header[16] == 1:
                return struct.unpack(">I", header[12:16])[0]

    def join(self, host):
        """The whole handshake."""
        self.send(registration(self.name))
        self.send(reply(self.call(), field(2, EVENTS)))
        self.send(reply(self.call(), b""))
        host.connected("50-" + self.name)
        return self

    def ended(self):
        """Waits for the runtime's end of the connection."""
        try:
            while self.socket.recv(1 << 16):
                pass
        except ConnectionResetError:
            pass
        except socket.timeout as why:
            raise Unmet("the runtime does not close the connection") from why
        self.close()

    def close(self):
        self.socket.close()

    kill = close


# ---- what is there beside ----

def start(test, **timeouts):
    """A runtime with a plugin in front and one behind."""
    host = test.start(Host(HOST, test.directory.name, **timeouts))
    good = []
    for index, name in (("10", "front"), ("90", "back")):
        good.append(test.start(Process([PLUGIN, "--name", name, "--idx", index, "--socket", host.socket, "--events", "all",
                                        "--add-env", "BY_%s=yes" % name.upper()])))
        host.connected("%s-%s" % (index, name))
    host.before, host.good, host.created = host.descriptors(), good, []
    return host


def creates(test, host, name, what):
    """A container is created with the good plugins' adjustments, long before any time-out that is not reached."""
    outcome = host.call("CreateContainer", name)
    host.created.append(name)
    seen = [entry["key"] for entry in outcome.get("adjust", {}).get("env", [])]
    test.check("%s: a container is created by both others" % what,
               outcome["code"] == "" and seen == ["BY_FRONT", "BY_BACK"], (outcome["text"], seen))


def unharmed(test, host):
    """The good plugins saw all, none of them is lost, and nothing is left of the others."""
    creates(test, host, "last", "after it")
    for plugin in host.good:
        plugin.wait(event="CreateContainer", container="last")
        test.equal("containers that %s saw" % plugin.argv[2],
                   [one["container"] for one in plugin.all(event="CreateContainer")], host.created)
    test.equal("good plugins that were lost",
               [one for one in host.all(what="lost") if one["plugin"] in ("10-front", "90-back")], [])
    deadline = time.monotonic() + PATIENCE
    while host.descriptors() != host.before and time.monotonic() < deadline:
        host.call("RunPodSandbox", "tick")
    test.equal("descriptors", host.descriptors(), host.before)
    test.equal("the host's end", host.quit(), 0)


# ---- scenarios ----

def killed(test):
    """a plugin is killed while it is asked"""
    host = start(test)
    victim = test.start(Process([PLUGIN, "--name", "victim", "--idx", "50", "--socket", host.socket,
                                 "--later", "CreateContainer=60000"]))
    host.connected("50-victim")
    host.tell("call", "CreateContainer", "one")
    victim.wait(event="CreateContainer")
    victim.signal(signal.SIGKILL)
    outcome = host.wait(what="outcome", name="one")
    host.created.append("one")
    test.equal("the creation goes on without the time-out", outcome["text"], "")
    test.equal("it is lost for", host.lost("50-victim")["code"], "NRI_E_CLOSED")
    unharmed(test, host)


def stopped(test):
    """a plugin is stopped by SIGSTOP, and goes on much later"""
    host = start(test, request=REQUEST_TIMEOUT)
    victim = test.start(Process([PLUGIN, "--name", "victim", "--idx", "50", "--socket", host.socket]))
    host.connected("50-victim")
    victim.signal(signal.SIGSTOP)
    creates(test, host, "one", "with a stopped plugin")
    test.equal("it is lost for", host.lost("50-victim")["code"], "NRI_E_TIMEOUT")
    creates(test, host, "two", "without it")
    victim.signal(signal.SIGCONT)
    victim.wait(event="Disconnected")
    unharmed(test, host)


def stalled(test):
    """the embedder is busy for longer than the request time-out: a reply that is there by then is in time"""
    host = start(test, request=REQUEST_TIMEOUT)
    late = test.start(Process([PLUGIN, "--name", "late", "--idx", "50", "--socket", host.socket,
                               "--later", "CreateContainer=500"]))
    host.connected("50-late")
    host.tell("call", "CreateContainer", "one")
    late.wait(event="CreateContainer")
    host.tell("stall", int(1000 * REQUEST_TIMEOUT) + 1000)
    outcome = host.wait(what="outcome", event="CreateContainer", name="one")
    host.created.append("one")
    test.equal("variables", [entry["key"] for entry in outcome["adjust"]["env"]], ["BY_FRONT", "BY_BACK"])
    test.equal("lost", host.all(what="lost"), [])
    late.kill()
    host.lost("50-late")
    unharmed(test, host)


def silent(test):
    """connections that say nothing, or nothing after they registered"""
    host = start(test, request=REQUEST_TIMEOUT, registration=REGISTRATION_TIMEOUT)
    raws = [test.start(Raw(host)) for _ in range(20)]
    half = test.start(Raw(host, "half"))
    half.send(registration("half"))
    unsynchronised = test.start(Raw(host, "unsynchronised"))
    unsynchronised.send(registration("unsynchronised"))
    unsynchronised.send(reply(unsynchronised.call(), field(2, EVENTS)))
    unsynchronised.call()
    creates(test, host, "one", "while they are silent")
    for raw in raws + [half, unsynchronised]:
        raw.ended()
    unharmed(test, host)


def garbage(test):
    """random bytes instead of a handshake, and instead of replies"""
    host = start(test, request=REQUEST_TIMEOUT)
    chance = random.Random(SEED)
    for _ in range(200):
        raw = Raw(host)
        raw.send(chance.randbytes(chance.randrange(1, 300)))
        raw.socket.shutdown(socket.SHUT_WR)
        raw.ended()
    creates(test, host, "one", "after random handshakes")
    answers = {
        "random bytes": lambda stream: b"\xff" + chance.randbytes(200),
        "a random payload": lambda stream: message(1, stream, 2, b"\xff" + chance.randbytes(100)),
        "a random reply": lambda stream: reply(stream, b"\xff" + chance.randbytes(100)),
        "the largest length": lambda stream: struct.pack(">II", 1, 0xffffffff),
        "a message longer than its frame": lambda stream: struct.pack(">IIIIBB", 1, 10, 0x7fffffff, stream, 2, 0),
        "a reply to nothing": lambda stream: reply(stream + 1000, b""),
        "an unknown kind": lambda stream: message(1, stream, 77, b""),
        "a connection that there is not": lambda stream: message(99, stream, 2, b""),
        "nested messages": lambda stream: reply(stream, nested(200)),
    }
    for number, (what, answer) in enumerate(answers.items()):
        raw = test.start(Raw(host, "raw%d" % number).join(host))
        name = "answered-%d" % number
        host.tell("call", "CreateContainer", name)
        raw.send(answer(raw.call()))
        outcome = host.wait(what="outcome", event="CreateContainer", name=name)
        host.created.append(name)
        test.equal("%s: the creation goes on" % what, [e["key"] for e in outcome.get("adjust", {}).get("env", [])],
                   ["BY_FRONT", "BY_BACK"])
        raw.close()
        host.lost("50-raw%d" % number)
    unharmed(test, host)


def nested(depth):
    data = b""
    for _ in range(depth):
        data = field(1, data)
    return data


def cut(test):
    """a plugin closes at every byte of the handshake"""
    host = start(test)
    first, configured, synchronised = registration("cut"), len(reply(1, field(2, EVENTS))), len(reply(1, b""))
    whole = len(first) + configured + synchronised
    for length in range(whole):
        raw = Raw(host, "cut")
        raw.send(first[:length])
        if length > len(first):
            raw.send(reply(raw.call(), field(2, EVENTS))[:length - len(first)])
        if length > len(first) + configured:
            raw.send(reply(raw.call(), b"")[:length - len(first) - configured])
        raw.close()
    test.check("cut at %d places" % whole, whole > 100, whole)
    test.equal("none of them counted as connected", host.all(what="connected", plugin="50-cut"), [])
    creates(test, host, "one", "after that")
    test.start(Raw(host, "cut").join(host)).close()
    host.lost("50-cut")
    unharmed(test, host)


def flood(test):
    """a plugin sends updates as fast as it can, and reads, or does not read, the answers"""
    host = start(test, request=REQUEST_TIMEOUT)
    for reads in (True, False):
        raw = test.start(Raw(host, "flood" + str(reads).lower()).join(host))
        enough = threading.Event()
        sent = [0]

        def pour(raw=raw, enough=enough, sent=sent):
            many = b"".join(request(3 + 2 * i, b"UpdateContainers", UPDATE) for i in range(1000))
            stream = 3
            while not enough.is_set() and raw.send(many):
                stream += 2000
                sent[0] += 1000
                many = b"".join(request(stream + 2 * i, b"UpdateContainers", UPDATE) for i in range(1000))

        def answer(raw=raw):
            try:
                while True:
                    stream = raw.call()
                    if stream is None:
                        return
                    raw.send(reply(stream, b""))
            except OSError:
                return

        threads = [threading.Thread(target=pour)] + ([threading.Thread(target=answer)] if reads else [])
        for thread in threads:
            thread.start()
        names = ["%s-%d" % (raw.name, i) for i in range(20)]
        for name in names:
            creates(test, host, name, "with %d updates" % sent[0])
        with open("/proc/%d/status" % host.pid, encoding="ascii") as file:
            peak = int([line for line in file if line.startswith("VmHWM")][0].split()[1])
        test.check("memory stays bounded (%d kB)" % peak, peak < 200 * 1024, peak)
        enough.set()
        raw.socket.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        raw.close()
        host.lost("50-" + raw.name)
    unharmed(test, host)


def unread(test):
    """a plugin that never reads, at its Synchronize of 20 MB and later"""
    host = start(test, request=REQUEST_TIMEOUT)
    later = test.start(Raw(host, "later").join(host))
    host.tell("node", 2000, 10 * 1024)
    raw = test.start(Raw(host, "unread"))
    raw.send(registration("unread"))
    raw.send(reply(raw.call(), field(2, EVENTS)))
    creates(test, host, "one", "while neither reads")
    test.equal("one of them is lost for", host.lost("50-later")["code"], "NRI_E_TIMEOUT")
    deadline = time.monotonic() + PATIENCE
    while not [one for one in host.all(what="log") if "50-unread" in one["text"]] and time.monotonic() < deadline:
        host.call("RunPodSandbox", "tick")
    creates(test, host, "two", "without them")
    raw.ended()
    later.ended()
    unharmed(test, host)


def crowd(test):
    """more connections than plugins may be, most of them idle, do not keep out the good ones that are there"""
    host = start(test)
    raws = []
    try:
        for _ in range(300):
            raws.append(test.start(Raw(host)))
    except BlockingIOError:
        pass  # the backlog is full
    test.check("there are more than plugins may be", len(raws) > 128, len(raws))
    creates(test, host, "one", "with %d connections" % len(raws))
    test.check("no more descriptors than 128 plugins may have", host.descriptors() < host.before + 128, host.descriptors())
    for raw in raws:
        raw.close()
    unharmed(test, host)


sys.exit(play([killed, stopped, stalled, silent, garbage, cut, flood, unread, crowd], sys.argv[3:]))
