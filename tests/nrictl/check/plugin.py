#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plugin.py [--socket PATH] [--name NAME] [--idx NN] [--once]: an NRI plugin by hand, in Python and nothing else.

It wants CreateContainer, StopContainer and the events of pod sandboxes, sets a variable in each container, keeps what it is
told of, and comes back when its runtime does (not with --once). It is what nrictl check is tried with beside libnri's and
Go's plugins: none of their code is in it.
"""
import argparse
import os
import selectors
import socket
import struct
import sys

MOST = 4 << 20
FRAME = (16 << 20) + 10
PLUGIN, RUNTIME = 1, 2
REQUEST, RESPONSE, DATA = 1, 2, 3
UNKNOWN, INVALID, EXHAUSTED, UNIMPLEMENTED = 2, 3, 8, 12
# RunPodSandbox, StopPodSandbox, RemovePodSandbox, CreateContainer, StopContainer, RemoveContainer.
EVENTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 9 | 1 << 10
EVENT_CALLS = ["RunPodSandbox", "UpdatePodSandbox", "PostUpdatePodSandbox", "StopPodSandbox", "RemovePodSandbox",
               "PostCreateContainer", "StartContainer", "PostStartContainer", "UpdateContainer", "PostUpdateContainer",
               "StopContainer", "RemoveContainer", "ValidateContainerAdjustment", "StateChange"]


class Malformed(Exception):
    pass


# ---- protobuf ----

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


def read_varint(data, at):
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise Malformed("a number that does not end")
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
    raise Malformed("a number of more than 64 bits")


def fields(data):
    """Pairs of number and value; values are numbers or bytes."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if key >> 3 == 0:
            raise Malformed("field 0")
        if kind == 0:
            value, at = read_varint(data, at)
        elif kind in (1, 2, 5):
            length = 8 if kind == 1 else 4
            if kind == 2:
                length, at = read_varint(data, at)
            if length > len(data) - at:
                raise Malformed("a length past the end")
            value, at = bytes(data[at:at + length]), at + length
        else:
            raise Malformed("a group")
        yield key >> 3, value


def text(value):
    if not isinstance(value, bytes):
        raise Malformed("a number for a text")
    try:
        return value.decode()
    except UnicodeDecodeError as why:
        raise Malformed("a text that is not UTF-8") from why


def first(data, number, default=b""):
    """The field that came last, as protobuf has it."""
    result = default
    for key, value in fields(data):
        if key == number:
            result = value
    return result


# ---- a connection ----

class Connection:
    def __init__(self, plugin, peer):
        self.plugin, self.peer = plugin, peer
        self.have = bytearray()
        self.streams = {PLUGIN: bytearray(), RUNTIME: bytearray()}
        self.skip = {PLUGIN: None, RUNTIME: None}
        self.last = 0

    def write(self, data):
        self.peer.sendall(data)

    def message(self, connection, stream, kind, data):
        head = struct.pack(">IIBB", len(data), stream, kind, 0)
        if len(head) + len(data) <= 4096:
            self.write(struct.pack(">II", connection, len(head) + len(data)) + head + data)
        else:
            self.write(struct.pack(">II", connection, len(head)) + head)
            self.write(struct.pack(">II", connection, len(data)) + data)

    def reply(self, stream, payload):
        data = field(2, payload) if payload else b""
        if len(data) > MOST:
            self.refuse(stream, EXHAUSTED, "too long an answer")
        else:
            self.message(PLUGIN, stream, RESPONSE, data)

    def refuse(self, stream, code, why):
        self.message(PLUGIN, stream, RESPONSE, field(1, field(1, code) + field(2, why.encode())))

    def register(self, name, index):
        payload = field(1, name.encode()) + field(2, index.encode()) + field(3, b"v0.12.0")
        self.message(RUNTIME, 1, REQUEST, field(1, b"nri.pkg.api.v1alpha1.Runtime") + field(2, b"RegisterPlugin") +
                     field(3, payload))

    def received(self, data):
        """Takes bytes in any cut. Malformed: this is no runtime."""
        self.have += data
        while len(self.have) >= 8:
            connection, length = struct.unpack(">II", self.have[:8])
            if length > FRAME:
                raise Malformed("a frame of %d bytes" % length)
            if len(self.have) < 8 + length:
                return
            frame = self.have[8:8 + length]
            del self.have[:8 + length]
            if connection in self.streams:
                self.streams[connection] += frame
                self.messages(connection)

    def messages(self, connection):
        data = self.streams[connection]
        while len(data) >= 10:
            length, stream, kind, flags = struct.unpack(">IIBB", data[:10])
            if length > FRAME:
                raise Malformed("a message of %d bytes" % length)
            if len(data) < 10 + length:
                return
            body = bytes(data[10:10 + length])
            del data[:10 + length]
            self.one(connection, stream, kind, flags, body)

    def one(self, connection, stream, kind, flags, body):
        if connection == RUNTIME:
            if kind == RESPONSE and stream == 1 and first(first(body, 1), 1, 0) != 0:
                raise Malformed("the registration was refused")
        elif kind == DATA:
            self.refuse(stream, INVALID, "no such stream")
        elif kind == REQUEST:
            self.request(stream, flags, body)

    def request(self, stream, flags, body):
        if stream % 2 == 0 or stream <= self.last:
            self.refuse(stream, INVALID, "a stream id that is not the next")
            return
        self.last = stream
        if len(body) > MOST:
            self.refuse(stream, EXHAUSTED, "a message of %d bytes" % len(body))
            return
        try:
            service, method, payload = (first(body, number) for number in (1, 2, 3))
            if service != b"nri.pkg.api.v1alpha1.Plugin" or flags != 0:
                self.refuse(stream, UNIMPLEMENTED, "no such service")
            else:
                self.call(stream, text(method), payload)
        except Malformed as why:
            self.refuse(stream, INVALID, str(why))

    def call(self, stream, method, payload):
        if method == "Configure":
            self.reply(stream, field(2, EVENTS))
        elif method == "Synchronize":
            self.reply(stream, self.plugin.synchronize(payload))
        elif method == "CreateContainer":
            self.reply(stream, self.plugin.create(payload))
        elif method == "Shutdown":
            self.reply(stream, b"")
        elif method in EVENT_CALLS:
            self.plugin.event(method, payload)
            self.reply(stream, b"")
        else:
            self.refuse(stream, UNIMPLEMENTED, "no method " + method)


# ---- the plugin ----

class Plugin:
    def __init__(self, options):
        self.options = options
        self.containers = set()
        self.parts = []

    def synchronize(self, payload):
        ids = [text(first(value, 1)) for key, value in fields(payload) if key == 2]
        self.parts += ids
        if first(payload, 3, 0):
            return field(2, 1)
        self.containers, self.parts = set(self.parts), []
        return b""

    def create(self, payload):
        container = first(payload, 2)
        if not isinstance(container, bytes):
            raise Malformed("a number for a container")
        self.containers.add(text(first(container, 1)))
        for _ in fields(first(payload, 1)):
            pass
        return field(1, field(4, field(1, b"BY_HAND") + field(2, b"yes")))

    def event(self, method, payload):
        for _ in fields(payload):
            pass
        if method == "RemoveContainer":
            self.containers.discard(text(first(first(payload, 2), 1)))
        elif method == "StateChange" and first(payload, 1, 0) == 11:
            self.containers.discard(text(first(first(payload, 3), 1)))

    def serve(self, peer):
        """Until the runtime closes."""
        self.parts = []
        connection = Connection(self, peer)
        try:
            connection.register(self.options.name, self.options.idx)
            while True:
                data = peer.recv(1 << 18)
                if not data:
                    return
                connection.received(data)
        except (Malformed, ConnectionError) as why:
            print("the connection ends:", why, file=sys.stderr, flush=True)
        finally:
            peer.close()


def wait_for(path, patience):
    """The socket, tried every tenth of a second."""
    with selectors.DefaultSelector() as nothing:
        while True:
            peer = socket.socket(socket.AF_UNIX)
            try:
                peer.connect(path)
                return peer
            except OSError:
                peer.close()
                if not patience:
                    raise
            nothing.select(0.1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--socket")
    parser.add_argument("--name", default=os.environ.get("NRI_PLUGIN_NAME", "by-hand"))
    parser.add_argument("--idx", default=os.environ.get("NRI_PLUGIN_IDX", "50"))
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()
    # SIGTERM ends it as it is: a handler in Python waits while a read that has just begun blocks.
    plugin = Plugin(options)
    given = os.environ.get("NRI_PLUGIN_SOCKET")
    if given is not None:
        plugin.serve(socket.socket(fileno=int(given)))
        return
    patience = False
    while True:
        plugin.serve(wait_for(options.socket, patience))
        if options.once:
            return
        patience = True


main()
