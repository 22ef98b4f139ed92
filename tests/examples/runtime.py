# SPDX-License-Identifier: Apache-2.0
"""A runtime played by a test, byte by byte, over a socket in a directory of its own."""
import os
import socket
import struct

from protobuf import field, fields, last

PLUGIN_SERVICE, RUNTIME_SERVICE = 1, 2  # ids of the multiplexed connections
REQUEST, RESPONSE = 1, 2  # ttRPC message types
PATIENCE = 30  # seconds; only a test that fails waits that long

EVENTS = """
    RunPodSandbox StopPodSandbox RemovePodSandbox CreateContainer PostCreateContainer StartContainer
    PostStartContainer UpdateContainer PostUpdateContainer StopContainer RemoveContainer UpdatePodSandbox
    PostUpdatePodSandbox ValidateContainerAdjustment
""".split()  # in the order of their numbers, which begin with 1
POD_EVENTS = [event for event in EVENTS if "Pod" in event]
CLASSIC, ALL = 0x7FF, 0x3FFF


def mask(*events):
    return sum(1 << EVENTS.index(event) for event in events)


class Refusal(Exception):
    """What the plugin answered with a status."""


class Connection:
    """The runtime's end of the connection of one plugin."""

    def __init__(self, connection):
        self._socket = connection
        self._socket.settimeout(PATIENCE)
        self._buffers = {PLUGIN_SERVICE: b"", RUNTIME_SERVICE: b""}
        self._stream = -1

    def close(self):
        self._socket.close()

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            more = self._socket.recv(count - len(data))
            if not more:
                raise EOFError("the plugin closed the connection")
            data += more
        return data

    def _receive(self, service):
        """The next ttRPC message: (stream, type, data)."""
        while True:
            buffer = self._buffers[service]
            if len(buffer) >= 10:
                length, stream, kind, _ = struct.unpack(">IIBB", buffer[:10])
                if len(buffer) >= 10 + length:
                    self._buffers[service] = buffer[10 + length :]
                    return stream, kind, buffer[10 : 10 + length]
            where, length = struct.unpack(">II", self._exactly(8))
            self._buffers[where] += self._exactly(length)

    def _send(self, service, stream, kind, data):
        message = struct.pack(">IIBB", len(data), stream, kind, 0) + data
        self._socket.sendall(struct.pack(">II", service, len(message)) + message)

    def registration(self):
        """Waits for RegisterPlugin and doesn't answer it: (index, name)."""
        self._registration, kind, data = self._receive(RUNTIME_SERVICE)
        request = fields(data)
        assert (kind, last(request, 2)) == (REQUEST, b"RegisterPlugin"), request
        registered = fields(last(request, 3))
        return last(registered, 2).decode(), last(registered, 1).decode()

    def runtime_call(self, method):
        """Waits for a call of the plugin: the fields of its request, which is not answered."""
        _, kind, data = self._receive(RUNTIME_SERVICE)
        request = fields(data)
        assert (kind, last(request, 2)) == (REQUEST, method.encode()), request
        return fields(last(request, 3))

    def answer_registration(self, refusal=None):
        status = field(1, field(1, 2) + field(2, refusal)) if refusal else b""
        self._send(RUNTIME_SERVICE, self._registration, RESPONSE, status)

    def call(self, method, payload=b""):
        """Calls the plugin: the fields of its answer. Raises Refusal."""
        self._stream += 2
        request = field(1, "nri.pkg.api.v1alpha1.Plugin") + field(2, method) + field(3, payload)
        self._send(PLUGIN_SERVICE, self._stream, REQUEST, request)
        stream, kind, data = self._receive(PLUGIN_SERVICE)
        assert (stream, kind) == (self._stream, RESPONSE), (stream, kind)
        response = fields(data)
        if 1 in response:
            raise Refusal(last(fields(response[1][-1]), 2).decode())
        return fields(last(response, 2))

    def configure(self, version="2.4.0", nri="v0.12.2", config=""):
        """The event mask that the plugin answers with."""
        message = field(1, config) + field(2, "containerd") + field(3, version)
        if nri:
            message += field(6, nri)
        return last(self.call("Configure", message), 2, 0)

    def start(self, **configuration):
        """Everything up to the first event: the event mask."""
        self.registration()
        self.answer_registration()
        events = self.configure(**configuration)
        self.call("Synchronize")
        return events

    def event(self, name, pod=b"", container=b""):
        """Tells an event with what the pod and the container say, both messages. (Their fields have
        the same numbers in every request.)"""
        return self.call(name, field(1, pod) + (b"" if name in POD_EVENTS else field(2, container)))

    def create(self, name="ctr"):
        return self.event(
            "CreateContainer", field(1, "pod0"), field(1, "ctr0") + field(2, "pod0") + field(3, name)
        )


class Listener:
    """The socket that plugins connect to."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "nri.sock")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(self.path)
        self._socket.listen()
        self._connections = []

    def accept(self):
        self._socket.settimeout(PATIENCE)
        self._connections.append(Connection(self._socket.accept()[0]))
        return self._connections[-1]

    def is_waited_for(self):
        """Whether somebody has connected who was not accepted."""
        self._socket.settimeout(0)
        try:
            self._connections.append(Connection(self._socket.accept()[0]))
        except BlockingIOError:
            return False
        return True

    def close(self):
        for connection in self._connections:
            connection.close()
        self._socket.close()
