#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutant.py CHECK MUTANT INNER --directory DIR [--socket PATH] [--name NAME] [--idx NN]: a good plugin with one fault.

INNER, a plugin, is started as a runtime launches it, and stands behind this proxy, which is the plugin for nrictl check. In
CHECK alone, which the name of its directory tells, the proxy does what MUTANT says: RULE:MESSAGE, such as double:Configure,
or one of the behaviours below. What nrictl check is to see is in test_check.py's table.
"""
import argparse
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading

PLUGIN, RUNTIME = 1, 2
REQUEST, RESPONSE, DATA = 1, 2, 3
MOST, FRAME = 4 << 20, (16 << 20) + 10
EVENTS = 0x3fff


# ---- messages ----

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


def fields(data):
    """A dictionary of what came last; good messages only."""
    at, found = 0, {}

    def number():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            found[key >> 3] = number()
        else:
            length = number() if key & 7 == 2 else 8 if key & 7 == 1 else 4
            found[key >> 3], at = data[at:at + length], at + length
    return found


class Message:
    def __init__(self, connection, stream, kind, flags, data):
        self.connection, self.stream, self.kind, self.flags, self.data = connection, stream, kind, flags, data
        self.method, self.request = "", None  # of a request, or the one that this replies to

    def frames(self, most=None):
        head = struct.pack(">IIBB", len(self.data), self.stream, self.kind, self.flags)
        whole = head + self.data
        cuts = [whole] if len(whole) <= 4096 else [head, self.data]
        if most:
            cuts = [whole[at:at + most] for at in range(0, len(whole), most)]
        return b"".join(struct.pack(">II", self.connection, len(cut)) + cut for cut in cuts)

    def but(self, **changes):
        other = Message(self.connection, self.stream, self.kind, self.flags, self.data)
        other.method, other.request = self.method, self.request
        vars(other).update(changes)
        return other

    def answer(self, code=0, payload=b""):
        """A reply to this request."""
        data = field(1, field(1, code) + field(2, b"as a mutant does")) if code else field(2, payload) if payload else b""
        return Message(self.connection, self.stream, RESPONSE, 0, data)

    def with_payload(self, payload):
        return self.but(data=field(2, payload) if payload else b"")


class Wrong(Exception):
    """These are no bytes of a runtime's."""


class Parser:
    def __init__(self):
        self.have, self.streams = bytearray(), {PLUGIN: bytearray(), RUNTIME: bytearray()}

    def frames(self, data):
        self.have += data
        while len(self.have) >= 8:
            connection, length = struct.unpack(">II", self.have[:8])
            if length > FRAME:
                raise Wrong
            if len(self.have) < 8 + length:
                return
            frame = bytes(self.have[8:8 + length])
            del self.have[:8 + length]
            yield connection, frame

    def messages(self, data):
        for connection, frame in self.frames(data):
            if connection not in self.streams:
                continue
            have = self.streams[connection]
            have += frame
            while len(have) >= 10:
                length, stream, kind, flags = struct.unpack(">IIBB", have[:10])
                if length > FRAME:
                    raise Wrong
                if len(have) < 10 + length:
                    break
                body = bytes(have[10:10 + length])
                del have[:10 + length]
                yield Message(connection, stream, kind, flags, body)


# ---- the proxy ----

class Proxy:
    """One connection. What a mutant changes, it overrides."""
    reconnects = False
    apart = False  # signals for this process are none of the plugin behind it

    def __init__(self, options, up, count):
        self.options, self.up, self.count = options, up, count
        self.requests = {}  # of the runtime that are not answered
        self.from_up, self.from_down = Parser(), Parser()
        self.silent = False
        ours, its = socket.socketpair()
        self.down = ours
        name = options.name or os.environ.get("NRI_PLUGIN_NAME", "")
        idx = options.idx or os.environ.get("NRI_PLUGIN_IDX", "")
        self.process = subprocess.Popen([options.inner], pass_fds=[its.fileno()], stdin=subprocess.DEVNULL,
                                        start_new_session=self.apart, env={"NRI_PLUGIN_NAME": name, "NRI_PLUGIN_IDX": idx,
                                             "NRI_PLUGIN_SOCKET": str(its.fileno())})
        its.close()

    def raw(self, data):
        """Bytes of one read from the runtime."""
        for message in self.from_up.messages(data):
            if message.connection == PLUGIN and message.kind == REQUEST:
                try:
                    envelope = fields(message.data)
                    message.method = envelope.get(2, b"").decode()
                except (IndexError, UnicodeDecodeError, AttributeError) as why:
                    raise Wrong from why
                message.payload, message.timeout = envelope.get(3, b""), envelope.get(4)
                self.requests[message.stream] = message
            self.request(message)

    def request(self, message):
        self.to_plugin(message)

    def reply(self, message):
        """A message of the plugin, with the request that it answers."""
        self.to_runtime(message)

    def closed(self):
        """The runtime has closed. True: the plugin stays, and does nothing."""
        return False

    def wrong(self):
        """The runtime's bytes are none."""

    def to_plugin(self, message):
        self.down.sendall(message.frames())

    def to_runtime(self, message, most=None):
        self.up.sendall(message.frames(most))

    def from_plugin(self, data):
        for message in self.from_down.messages(data):
            if message.connection == RUNTIME and message.kind == REQUEST:
                message.method = fields(message.data)[2].decode()
            elif message.kind == RESPONSE:
                message.request = self.requests.pop(message.stream, None)
                message.method = message.request.method if message.request else ""
            if not self.silent:
                self.reply(message)

    def serve(self):
        with selectors.DefaultSelector() as ready:
            ready.register(self.up, selectors.EVENT_READ, self.raw)
            ready.register(self.down, selectors.EVENT_READ, self.from_plugin)
            try:
                while True:
                    for key, _ in ready.select():
                        data = key.fileobj.recv(1 << 20)
                        if not data:
                            return
                        key.data(data)
            except Wrong:
                self.wrong()
            except ConnectionError:
                pass

    def end(self):
        self.up.close()
        self.down.close()
        self.process.kill()
        self.process.wait()


# ---- mutants by rule: RULE:MESSAGE ----

CALLS = ("RegisterPlugin", "Configure", "Synchronize", "Shutdown")


class Rule(Proxy):
    def __init__(self, options, up, count):
        self.rule, self.of = options.mutant.split(":")
        self.held, self.seen = [], 0
        super().__init__(options, up, count)

    def is_meant(self, message):
        if self.of in ("each", "event", "first"):
            return message.kind == RESPONSE and message.method not in CALLS and message.method != "" and self.alive()
        if self.of == "unknown":
            return message.method == "PauseContainer"
        return message.method == self.of

    def alive(self):
        """Each event; that first one alone; or all but that one, so that one that was right is behind it."""
        self.seen += 1
        return {"each": True, "first": self.seen == 1, "event": self.seen > 1}[self.of]

    def request(self, message):
        for held in self.held:
            self.to_runtime(held)
        self.held = []
        self.to_plugin(message)

    def reply(self, message):
        if not self.is_meant(message):
            self.to_runtime(message)
            return
        if self.rule == "delay":
            self.held.append(message)
        elif self.rule == "double":
            self.to_runtime(message)
            self.to_runtime(message)
        elif self.rule == "wrong-id":
            self.to_runtime(message.but(stream=message.stream + 2))
        elif self.rule == "cut":
            frames = message.but(data=message.data + field(9, b"more")).frames()
            self.up.sendall(frames[:len(frames) - 3])
            self.silent = True
        elif self.rule == "oversized":
            self.to_runtime(message.but(data=message.data + field(9, bytes(MOST))))
        elif self.rule == "garbage":
            self.to_runtime(message.but(data=b"\xff" * 20))
        elif self.rule == "refused":
            self.to_runtime(message.but(data=field(1, field(1, 2) + field(2, b"no"))))
        elif self.rule != "drop":
            sys.exit("no rule " + self.rule)


# ---- mutants by behaviour ----

class Renamed(Proxy):
    def reply(self, message):
        if message.method == "RegisterPlugin":
            message = message.but(data=field(1, b"nri.pkg.api.v1alpha1.Runtime") + field(2, b"RegisterPlugin") +
                                  field(3, field(1, b"another") + field(2, b"42")))
        self.to_runtime(message)


class BadIndex(Proxy):
    def reply(self, message):
        if message.method == "RegisterPlugin":
            message = message.but(data=field(1, b"nri.pkg.api.v1alpha1.Runtime") + field(2, b"RegisterPlugin") +
                                  field(3, field(1, b"checked") + field(2, b"4")))
        self.to_runtime(message)


class Slow(Proxy):
    """What is waited for is the time itself: longer than runtimes wait."""

    def reply(self, message):
        if message.method == "RegisterPlugin":
            threading.Event().wait(5.5)
        self.to_runtime(message)


class WaitsForRegistration(Proxy):
    """Blocks in the call RegisterPlugin: nothing else is done until its reply is there."""
    METHODS = ("Configure", "Synchronize")

    def __init__(self, options, up, count):
        self.registered, self.waiting = False, []
        super().__init__(options, up, count)

    def request(self, message):
        if message.connection == RUNTIME:
            self.registered = True
        if not self.registered and message.method in self.METHODS:
            self.waiting.append(message)
            return
        self.to_plugin(message)
        while self.registered and self.waiting:
            self.to_plugin(self.waiting.pop(0))


class SynchronizesLater(WaitsForRegistration):
    METHODS = ("Synchronize",)


class NeedsSynchronize(Proxy):
    def __init__(self, options, up, count):
        self.synchronized = False
        super().__init__(options, up, count)

    def request(self, message):
        self.synchronized = self.synchronized or message.method == "Synchronize"
        if message.method in ("", "Configure") or self.synchronized:
            self.to_plugin(message)
        else:
            self.to_runtime(message.answer(9))


class OneRead(Proxy):
    """Takes each read for whole frames."""

    def raw(self, data):
        try:
            frames = list(Parser().frames(data))
        except Wrong:
            return
        if sum(len(frame) + 8 for _, frame in frames) == len(data):
            super().raw(data)


class FirstOfRead(Proxy):
    """Takes a read for one frame."""

    def raw(self, data):
        for connection, frame in Parser().frames(data):
            super().raw(struct.pack(">II", connection, len(frame)) + frame)
            return


class FrameIsMessage(Proxy):
    """Takes a mux frame for a message."""

    def __init__(self, options, up, count):
        self.cutter = Parser()
        super().__init__(options, up, count)

    def raw(self, data):
        for connection, frame in self.cutter.frames(data):
            if len(frame) >= 10 and struct.unpack(">I", frame[:4])[0] == len(frame) - 10:
                super().raw(struct.pack(">II", connection, len(frame)) + frame)


class Strict(Proxy):
    """Closes at a frame that is empty or of another connection."""

    def raw(self, data):
        for connection, frame in Parser().frames(data):
            if connection not in (PLUGIN, RUNTIME) or not frame:
                raise ConnectionError
        super().raw(data)


class NoMore(Proxy):
    def reply(self, message):
        if message.method == "Synchronize":
            message = message.with_payload(b"")
        self.to_runtime(message)


class AlwaysMore(Proxy):
    def reply(self, message):
        if message.method == "Synchronize":
            message = message.with_payload(field(2, 1))
        self.to_runtime(message)


class UpdatesPart(Proxy):
    def reply(self, message):
        if message.method == "Synchronize" and message.data:
            message = message.with_payload(field(1, field(1, b"ctr0")) + field(2, 1))
        self.to_runtime(message)


class Masks(Proxy):
    MASK = EVENTS

    def reply(self, message):
        if message.method == "Configure":
            message = message.with_payload(field(2, self.MASK))
        self.to_runtime(message)


class UnknownBit(Masks):
    MASK = EVENTS | 1 << 20


class CreatesOnly(Masks):
    """Wants one event, and refuses all others."""
    MASK = 1 << 3

    def request(self, message):
        if message.kind == REQUEST and message.method not in ("Configure", "Synchronize", "CreateContainer", "Shutdown"):
            self.to_runtime(message.answer(2))
        else:
            self.to_plugin(message)


class Classic(Proxy):
    """Knows no calls of their own."""

    def request(self, message):
        if message.method in ("RunPodSandbox", "PostCreateContainer", "StartContainer"):
            self.to_runtime(message.answer(12))
        else:
            self.to_plugin(message)


class Modern(Proxy):
    """Knows no StateChange."""

    def request(self, message):
        if message.method == "StateChange":
            self.to_runtime(message.answer(12))
        else:
            self.to_plugin(message)


class Refuses(Proxy):
    """refuses=HEX: whatever has these bytes."""

    def request(self, message):
        if message.kind == REQUEST and bytes.fromhex(self.options.value) in message.data:
            self.to_runtime(message.answer(13))
        else:
            self.to_plugin(message)


class Closes(Proxy):
    """closes=HEX: at whatever has these bytes."""

    def raw(self, data):
        if bytes.fromhex(self.options.value) in data:
            raise ConnectionError
        super().raw(data)


class Crashes(Proxy):
    """crashes=HEX"""

    def raw(self, data):
        if bytes.fromhex(self.options.value) in data:
            os.kill(os.getpid(), signal.SIGSEGV)
        super().raw(data)

    def wrong(self):
        os.kill(os.getpid(), signal.SIGSEGV)


class Agrees(Proxy):
    """Answers what it does not know with OK, and even streams, too."""

    def request(self, message):
        envelope = fields(message.data) if message.kind == REQUEST else {}
        known = envelope.get(1) == b"nri.pkg.api.v1alpha1.Plugin" and message.method != "PauseContainer"
        if message.kind == REQUEST and (not known or message.stream % 2 == 0):
            self.to_runtime(message.answer())
        else:
            self.to_plugin(message)


class OneAtATime(Proxy):
    """Forgets requests that come while it is busy."""

    def request(self, message):
        if message.kind == REQUEST and len(self.requests) > 1:
            del self.requests[message.stream]
        else:
            self.to_plugin(message)


class SmallStreams(Proxy):
    def request(self, message):
        if message.stream < 1 << 16:
            self.to_plugin(message)


class Types(Proxy):
    """Closes at a frame that is no request, and no reply to one of its own."""

    def request(self, message):
        if message.kind not in (REQUEST, RESPONSE):
            raise ConnectionError
        if message.kind == RESPONSE and message.stream != 1:
            raise ConnectionError
        self.to_plugin(message)


class NeedsTimeout(Proxy):
    def request(self, message):
        if message.kind == REQUEST and not message.timeout:
            self.to_runtime(message.answer(3))
        else:
            self.to_plugin(message)


class Deadlines(Proxy):
    """Closes at a deadline that is behind, or far away."""

    def request(self, message):
        if message.kind == REQUEST and (message.timeout is None or not 1e3 < message.timeout < 1e15):
            raise ConnectionError
        self.to_plugin(message)


class Late(Proxy):
    """Closes when it sees that it is late."""

    def request(self, message):
        if message.kind == REQUEST and message.timeout and message.timeout < 1e9:
            raise ConnectionError
        self.to_plugin(message)


class Stays(Proxy):
    def closed(self):
        return True


class Holds(Stays):
    """Keeps a connection that the runtime has closed."""

    def end(self):
        self.process.kill()
        self.process.wait()


class Spins(Proxy):
    reconnects = True

    def __init__(self, options, up, count):
        super().__init__(options, up, count)
        threading.Thread(target=self.spin, daemon=True).start()

    @staticmethod
    def spin():
        while True:
            pass


class Deaf(Stays):
    apart = True

    def __init__(self, options, up, count):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        super().__init__(options, up, count)


class BadStatus(Proxy):
    def __init__(self, options, up, count):
        signal.signal(signal.SIGTERM, lambda number, frame: os._exit(3))
        super().__init__(options, up, count)


class Back(Proxy):
    """Comes back, and has a fault from its second connection on."""
    reconnects = True

    def fault(self, message):
        return message

    def reply(self, message):
        self.to_runtime(self.fault(message) if self.count > 1 else message)


class BackRenamed(Back):
    def fault(self, message):
        if message.method == "RegisterPlugin":
            return message.but(data=field(1, b"nri.pkg.api.v1alpha1.Runtime") + field(2, b"RegisterPlugin") +
                               field(3, field(1, b"another") + field(2, b"42")))
        return message


class BackInPart(Back):
    def fault(self, message):
        return message.with_payload(field(2, 1)) if message.method == "Synchronize" else message


class BackWithMask(Back):
    def fault(self, message):
        return message.with_payload(field(2, EVENTS)) if message.method == "Configure" else message


class BackOnce(Back):
    """Gives up when it was refused."""

    def request(self, message):
        if message.kind == RESPONSE and message.data:
            sys.exit(1)
        self.to_plugin(message)


class BackTwice(Back):
    """A second connection beside the first."""

    def __init__(self, options, up, count):
        self.second = None
        super().__init__(options, up, count)

    def request(self, message):
        if self.count > 1 and self.second is None:
            self.second = socket.socket(socket.AF_UNIX)
            self.second.connect(self.options.socket)
        self.to_plugin(message)


class Small(Proxy):
    """Closes at what is longer than a mebibyte."""

    def request(self, message):
        if len(message.data) > 1 << 20:
            raise ConnectionError
        self.to_plugin(message)


class SmallFrames(Proxy):
    """Writes a long answer in frames of 64 KiB."""

    def reply(self, message):
        if message.method == "CreateContainer":
            message = message.with_payload(field(1, field(2, field(1, b"large") + field(2, b"x" * 100000))))
        self.to_runtime(message, 65536)


class Bombed(Proxy):
    def request(self, message):
        if len(message.data) > 1 << 20:
            os.kill(os.getpid(), signal.SIGSEGV)
        self.to_plugin(message)


class Flooded(Proxy):
    def __init__(self, options, up, count):
        self.total = 0
        super().__init__(options, up, count)

    def request(self, message):
        self.total += 1
        if self.total > 1000:
            os.kill(os.getpid(), signal.SIGSEGV)
        self.to_plugin(message)


class Mutilated(Proxy):
    """Trusts the pod sandbox's id."""

    def request(self, message):
        if message.method == "CreateContainer" and b"\x0a\x04pod0" not in message.data:
            os.kill(os.getpid(), signal.SIGSEGV)
        self.to_plugin(message)


class Leaks(Proxy):
    LEAKED = []

    def request(self, message):
        self.LEAKED.append(os.urandom(1 << 15))
        self.to_plugin(message)


class LeaksDescriptors(Proxy):
    def request(self, message):
        os.dup(0)
        self.to_plugin(message)


class LeaksConnections(Back):
    def __init__(self, options, up, count):
        os.dup(0)
        super().__init__(options, up, count)


def kind_of(name):
    if ":" in name:
        return Rule
    return {kind.__name__: kind for kind in everything(Proxy)}[name]


def everything(kind):
    for one in kind.__subclasses__():
        yield one
        yield from everything(one)


# ---- the plugin that is a mutant ----

def connect(path, nothing):
    while True:
        peer = socket.socket(socket.AF_UNIX)
        try:
            peer.connect(path)
            return peer
        except OSError:
            peer.close()
        nothing.select(0.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("check")
    parser.add_argument("mutant")
    parser.add_argument("inner")
    for name in ("directory", "socket", "name", "idx"):
        parser.add_argument("--" + name)
    options = parser.parse_args()
    options.mutant, _, options.value = options.mutant.partition("=")
    kind = kind_of(options.mutant)
    armed = os.path.basename(os.path.dirname(options.directory)) == options.check
    # As an unarmed one is, so that the first look says whether it comes back.
    reconnects = kind.reconnects
    launched = "NRI_PLUGIN_SOCKET" in os.environ
    count = 0
    with selectors.DefaultSelector() as nothing:
        while True:
            count += 1
            up = socket.socket(fileno=3) if launched else connect(options.socket, nothing)
            proxy = (kind if armed else Proxy)(options, up, count)
            proxy.serve()
            stays = proxy.closed()
            proxy.end()
            if stays:
                signal.pause()
            if not reconnects:
                return


main()
