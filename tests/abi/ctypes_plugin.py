#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ctypes_plugin.py LIBRARY (case U08): a plugin written in Python over the shared library alone
registers with a runtime, which is played here byte by byte, and adjusts a container."""
import ctypes
import os
import socket
import struct
import sys
import threading
import unittest

LIBRARY = sys.argv.pop(1)
PLUGIN_SERVICE, RUNTIME_SERVICE = 1, 2  # ids of the multiplexed connections
REQUEST, RESPONSE = 1, 2  # ttRPC message types
CREATE_CONTAINER_BIT = 1 << 3
NRI_E_CLOSED = -12
PATIENCE = 30  # seconds; only a test that fails waits that long

HANDLER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
EVENTS = """
    configure synchronize_part synchronize shutdown run_pod_sandbox update_pod_sandbox
    post_update_pod_sandbox stop_pod_sandbox remove_pod_sandbox create_container
    post_create_container start_container post_start_container update_container
    post_update_container stop_container remove_container validate_adjustment connected disconnected
""".split()


class Ops(ctypes.Structure):
    _fields_ = (
        [("size", ctypes.c_size_t)]
        + [("on_" + event, HANDLER) for event in EVENTS]
        + [("reserved", HANDLER * 3)])


class Options(ctypes.Structure):
    _fields_ = (
        [("size", ctypes.c_size_t)]
        + [(name, ctypes.c_char_p) for name in ("name", "index", "socket_path", "program")]
        + [(name, ctypes.c_void_p) for name in ("allocator", "log", "log_user")]
        + [(name, ctypes.c_int32) for name in ("log_level", "dispatch", "fd")]
        + [(name, ctypes.c_uint32) for name in (
            "use_fd", "ignore_environment", "allow_missing_validate", "strict_features",
            "reconnect", "reconnect_attempts", "no_socket_watch", "no_deadline_guard",
            "deadline_margin_percent", "pass_late_events", "refuse_late_events", "slow_percent",
            "no_slow_warning", "bypass", "offload_threads", "max_queued_updates",
            "max_in_flight", "max_sync_parts", "max_pending_calls")]
        + [(name, ctypes.c_uint64) for name in (
            "registration_timeout_ms", "reconnect_min_ms", "reconnect_max_ms",
            "reconnect_reset_ms", "reconnect_give_up_ms", "stop_grace_ms", "deadline_margin_ms",
            "call_timeout_ms", "max_receive_bytes", "max_send_bytes",
            "request_memory_bytes", "max_queued_bytes", "max_output_bytes", "max_sync_bytes",
            "max_request_bytes")]
        + [(name, ctypes.c_void_p) for name in ("state", "reserved_pointer")]
        + [("reserved", ctypes.c_uint64 * 7)])


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A protobuf field: a varint for an int, else a length-delimited one."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(data):
    """The fields of a message, as {number: last value}."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = number()
        value = number()
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        found[tag >> 3] = value
    return found


class Runtime:
    """The runtime's end of the connection."""

    def __init__(self, connection):
        self.connection = connection
        self.buffers = {PLUGIN_SERVICE: b"", RUNTIME_SERVICE: b""}

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.connection.recv(count - len(data))
            if not more:
                raise EOFError("the plugin closed the connection")
            data += more
        return data

    def receive(self, service):
        """The next ttRPC message: (stream, type, data)."""
        while True:
            buffer = self.buffers[service]
            if len(buffer) >= 10:
                length, stream, kind, _ = struct.unpack(">IIBB", buffer[:10])
                if len(buffer) >= 10 + length:
                    self.buffers[service] = buffer[10 + length:]
                    return stream, kind, buffer[10:10 + length]
            where, length = struct.unpack(">II", self.exactly(8))
            self.buffers[where] += self.exactly(length)

    def send(self, service, stream, kind, data):
        message = struct.pack(">IIBB", len(data), stream, kind, 0) + data
        self.connection.sendall(struct.pack(">II", service, len(message)) + message)

    def call(self, stream, method, payload):
        self.send(PLUGIN_SERVICE, stream, REQUEST, field(1, b"nri.pkg.api.v1alpha1.Plugin")
                  + field(2, method) + field(3, payload))
        answered, kind, data = self.receive(PLUGIN_SERVICE)
        assert (answered, kind) == (stream, RESPONSE), (answered, kind)
        return fields(data)


class Plugin(unittest.TestCase):
    def setUp(self):
        self.lib = ctypes.CDLL(LIBRARY)
        pointer = ctypes.c_void_p
        self.lib.nri_plugin_new.argtypes = [
            ctypes.POINTER(pointer), ctypes.POINTER(Ops), ctypes.POINTER(Options), pointer, pointer]
        self.lib.nri_plugin_run.argtypes = [pointer]
        self.lib.nri_plugin_close.argtypes = [pointer, pointer, pointer]
        self.lib.nri_plugin_close.restype = None
        self.lib.nri_request_adjustment.argtypes = [pointer]
        self.lib.nri_request_adjustment.restype = pointer
        self.lib.nri_adjustment_add_env.argtypes = [pointer, ctypes.c_char_p, ctypes.c_char_p]
        self.lib.nri_request_container.argtypes = [pointer]
        self.lib.nri_request_container.restype = pointer
        self.lib.nri_container_name.argtypes = [pointer]
        self.lib.nri_container_name.restype = ctypes.c_char_p

    def test_U08_ctypes_plugin_registers_and_adjusts(self):
        names = []

        def create(request, _user):
            names.append(self.lib.nri_container_name(self.lib.nri_request_container(request)))
            return self.lib.nri_adjustment_add_env(
                self.lib.nri_request_adjustment(request), b"HELLO", b"nri")

        ours, theirs = socket.socketpair()
        ours.settimeout(PATIENCE)
        ops = Ops(size=ctypes.sizeof(Ops), on_create_container=HANDLER(create))
        options = Options(size=ctypes.sizeof(Options), name=b"ctypes", index=b"42",
                          fd=os.dup(theirs.fileno()), use_fd=1, ignore_environment=1)
        theirs.close()
        plugin = ctypes.c_void_p()
        self.assertEqual(self.lib.nri_plugin_new(plugin, ops, options, None, None), 0)

        seen = {}

        def play():
            runtime = Runtime(ours)
            try:
                stream, _, data = runtime.receive(RUNTIME_SERVICE)
                seen["register"] = fields(data)
                runtime.send(RUNTIME_SERVICE, stream, RESPONSE, b"")
                seen["configure"] = runtime.call(
                    1, b"Configure", field(2, b"containerd") + field(3, b"v2.1.9"))
                seen["create"] = runtime.call(
                    3, b"CreateContainer",
                    field(1, field(1, b"pod0")) + field(2, field(1, b"ctr0") + field(3, b"web")))
            finally:
                ours.close()

        thread = threading.Thread(target=play)
        thread.start()
        code = self.lib.nri_plugin_run(plugin)
        thread.join()
        self.lib.nri_plugin_close(plugin, None, None)

        self.assertEqual(seen["register"][2], b"RegisterPlugin")
        registered = fields(seen["register"][3])
        self.assertEqual((registered[1], registered[2]), (b"ctypes", b"42"))
        self.assertEqual(fields(seen["configure"][2])[2], CREATE_CONTAINER_BIT)
        environment = fields(fields(fields(seen["create"][2])[1])[4])
        self.assertEqual((environment[1], environment[2]), (b"HELLO", b"nri"))
        self.assertEqual(names, [b"web"])
        self.assertEqual(code, NRI_E_CLOSED)


if __name__ == "__main__":
    unittest.main()
