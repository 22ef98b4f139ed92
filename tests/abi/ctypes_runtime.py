#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ctypes_runtime.py LIBRARY: a container manager written in Python over the shared library alone hosts a runtime with a
plugin of its own, and the layout of nri_runtime_ops, _options and _event is what another language takes it for."""
import ctypes
import select
import unittest

from ctypes_plugin import HANDLER, LIBRARY, Ops as PluginOps

POINTER, TEXT, U32, U64 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint64
NRI_E_ABI, NRI_E_RANGE = -3, -22
CREATE_CONTAINER = 4
FIELDS = 64  # NRI_MERGE_FIELDS
PATIENCE_MS = 60000  # only a test that fails waits that long

ENUMERATE = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER, POINTER)
LOST = ctypes.CFUNCTYPE(None, POINTER, POINTER, ctypes.c_int, TEXT, POINTER)
TOLD = ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER)
READY = ctypes.CFUNCTYPE(None, POINTER, POINTER)
ENDED = ctypes.CFUNCTYPE(None, POINTER, ctypes.c_int, POINTER)

# Of each limit a value that is out of its range; the error must name the member that it was written to.
LIMITS = {
    "max_outstanding": 65, "max_plugins": 4097, "max_calls": 65537, "registration_timeout_ms": 86400001,
    "request_timeout_ms": 86400001, "stop_timeout_ms": 60001, "max_receive_bytes": 1, "max_send_bytes": 1,
    "max_output_bytes": 1, "max_merge_bytes": 1, "max_sync_bytes": 1,
}


class Ops(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("enumerate", ENUMERATE), ("update", ENUMERATE), ("evict", POINTER),
        ("plugin_connected", TOLD), ("plugin_lost", LOST), ("audit", TOLD), ("ready", READY),
        ("reserved", POINTER * 4)]


class Options(ctypes.Structure):
    _fields_ = (
        [("size", ctypes.c_size_t)]
        + [(name, TEXT) for name in ("name", "version", "nri_version", "socket_path", "plugin_directory",
                                     "config_directory", "validator_config")]
        + [(name, POINTER) for name in ("allocator", "failure", "log", "log_user")]
        + [("log_level", ctypes.c_int32)]
        + [(name, U32) for name in ("no_external", "no_launch", "go_compatible", "no_default_validator",
                                    "max_outstanding", "max_plugins", "max_calls")]
        + [(name, U64) for name in ("registration_timeout_ms", "request_timeout_ms", "stop_timeout_ms",
                                    "max_receive_bytes", "max_send_bytes", "max_output_bytes", "max_merge_bytes",
                                    "max_sync_bytes")]
        + [("merge_policy", ctypes.c_uint8 * FIELDS), ("reserved_pointers", POINTER * 2), ("reserved", U64 * 6)])


class Event(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("event", U32), ("reserved_number", U32), ("pod", POINTER), ("container", POINTER),
        ("resources", POINTER), ("overhead", POINTER), ("metadata", POINTER), ("metadata_count", ctypes.c_size_t),
        ("reserved_pointers", POINTER * 3)]


def load():
    lib = ctypes.CDLL(LIBRARY)
    for name, result, *arguments in (
            ("runtime_new", ctypes.c_int, ctypes.POINTER(POINTER), ctypes.POINTER(Ops), ctypes.POINTER(Options),
             POINTER, ctypes.POINTER(POINTER)),
            ("runtime_add_builtin", ctypes.c_int, POINTER, ctypes.POINTER(PluginOps), TEXT, TEXT, TEXT, POINTER),
            ("runtime_start", ctypes.c_int, POINTER, POINTER, ENDED, POINTER),
            ("runtime_fd", ctypes.c_int, POINTER), ("runtime_timeout", ctypes.c_int, POINTER),
            ("runtime_dispatch", ctypes.c_int, POINTER), ("runtime_stop", None, POINTER),
            ("runtime_close", None, POINTER, POINTER, POINTER),
            ("runtime_call", ctypes.c_int, POINTER, ctypes.POINTER(Event), TOLD, POINTER),
            ("enumeration_add_pod", ctypes.c_int, POINTER, POINTER),
            ("enumeration_add_container", ctypes.c_int, POINTER, POINTER),
            ("runtime_plugin_id", TEXT, POINTER),
            ("error_get_text", TEXT, POINTER), ("error_free", POINTER, POINTER),
            ("outcome_code", ctypes.c_int, POINTER), ("outcome_owner", TEXT, POINTER, ctypes.c_int, TEXT),
            ("outcome_adjustment", POINTER, POINTER),
            ("adjustment_to_json", ctypes.c_int, POINTER, POINTER, ctypes.POINTER(POINTER), POINTER, POINTER),
            ("json_free", POINTER, POINTER),
            ("pod_new", ctypes.c_int, ctypes.POINTER(POINTER), POINTER), ("pod_free", POINTER, POINTER),
            ("pod_set_id", ctypes.c_int, POINTER, TEXT),
            ("container_new", ctypes.c_int, ctypes.POINTER(POINTER), POINTER), ("container_free", POINTER, POINTER),
            ("container_set_id", ctypes.c_int, POINTER, TEXT), ("container_id", TEXT, POINTER),
            ("request_adjustment", POINTER, POINTER), ("request_container", POINTER, POINTER),
            ("adjustment_add_env", ctypes.c_int, POINTER, TEXT, TEXT)):
        function = getattr(lib, "nri_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


class Runtime(unittest.TestCase):
    def setUp(self):
        self.lib = load()

    def options(self, **members):
        return Options(size=ctypes.sizeof(Options), no_external=1, no_launch=1, **members)

    def refusal(self, ops, options):
        """Code and text of what nri_runtime_new() says."""
        runtime, error = POINTER(), POINTER()
        code = self.lib.nri_runtime_new(runtime, ops, options, None, error)
        text = (self.lib.nri_error_get_text(error) or b"").decode()
        self.lib.nri_error_free(error)
        self.lib.nri_runtime_close(runtime, None, None)
        return code, text

    def test_limits_are_where_they_are_written(self):
        for name, value in LIMITS.items():
            with self.subTest(name):
                code, text = self.refusal(None, self.options(**{name: value}))
                self.assertEqual(code, NRI_E_RANGE)
                self.assertIn(name, text)
        options = self.options()
        options.merge_policy[FIELDS - 1] = 255
        self.assertIn("merge_policy[%d]" % (FIELDS - 1), self.refusal(None, options)[1])
        self.assertIn("log_level", self.refusal(None, self.options(log_level=-1))[1])

    def test_reserved_members_and_unknown_tails(self):
        for kind, last in ((Ops, "reserved"), (Options, "reserved")):
            class Larger(ctypes.Structure):
                _fields_ = [("known", kind), ("unknown", U64)]
            for reserved, unknown in ((0, 1), (1, 0)):
                with self.subTest(kind.__name__, reserved=reserved):
                    larger = Larger(unknown=unknown)
                    larger.known.size = ctypes.sizeof(Larger)
                    getattr(larger.known, last)[-1] = reserved
                    ops = ctypes.cast(ctypes.pointer(larger), ctypes.POINTER(Ops)) if kind is Ops else None
                    options = ctypes.cast(ctypes.pointer(larger), ctypes.POINTER(Options)) if kind is Options else None
                    self.assertEqual(self.refusal(ops, options)[0], NRI_E_ABI)
            fits = Larger()
            fits.known.size = ctypes.sizeof(Larger)
            options = ctypes.cast(ctypes.pointer(fits), ctypes.POINTER(Options)) if kind is Options else None
            ops = ctypes.cast(ctypes.pointer(fits), ctypes.POINTER(Ops)) if kind is Ops else None
            self.assertEqual(self.refusal(ops, options), (0, ""))

    def test_hosts_a_runtime(self):
        lib, seen = self.lib, []
        pod, container, runtime = POINTER(), POINTER(), POINTER()
        self.assertEqual((lib.nri_pod_new(pod, None), lib.nri_container_new(container, None)), (0, 0))
        self.assertEqual((lib.nri_pod_set_id(pod, b"pod0"), lib.nri_container_set_id(container, b"ctr0")), (0, 0))

        def create(request, _user):
            seen.append(("handler", lib.nri_container_id(lib.nri_request_container(request))))
            return lib.nri_adjustment_add_env(lib.nri_request_adjustment(request), b"HELLO", b"python")

        def enumerate_all(_runtime, objects, _user):
            seen.append("enumerate")
            return lib.nri_enumeration_add_pod(objects, pod)

        def connected(_runtime, plugin, _user):
            seen.append(("connected", lib.nri_runtime_plugin_id(plugin)))

        def created(_runtime, outcome, user):
            text = POINTER()
            self.assertEqual(lib.nri_adjustment_to_json(lib.nri_outcome_adjustment(outcome), None, text, None, None), 0)
            seen.append(("created", lib.nri_outcome_code(outcome), ctypes.string_at(text), user))
            lib.nri_json_free(text)

        def audit(this, _outcome, _user):
            seen.append("audit")
            lib.nri_runtime_stop(this)

        done = TOLD(created)
        event = Event(size=ctypes.sizeof(Event), event=CREATE_CONTAINER, pod=pod, container=container)

        def ready(this, _user):
            seen.append(("ready", lib.nri_runtime_call(this, event, done, 4711)))

        ops = Ops(size=ctypes.sizeof(Ops), enumerate=ENUMERATE(enumerate_all), plugin_connected=TOLD(connected),
                  plugin_lost=LOST(lambda _runtime, _plugin, code, _text, _user: seen.append(("lost", code))),
                  audit=TOLD(audit), ready=READY(ready))
        ended = ENDED(lambda _runtime, code, _user: seen.append(("ended", code)))
        plugin = PluginOps(size=ctypes.sizeof(PluginOps), on_create_container=HANDLER(create))
        self.assertEqual(lib.nri_runtime_new(runtime, ops, self.options(name=b"python"), None, None), 0)
        self.assertEqual(lib.nri_runtime_add_builtin(runtime, plugin, b"hello", b"10", None, None), 0)
        self.assertEqual(lib.nri_runtime_start(runtime, None, ended, None), 0)
        poll = select.poll()
        poll.register(lib.nri_runtime_fd(runtime), select.POLLIN)
        while lib.nri_runtime_dispatch(runtime) == 1:
            wait = lib.nri_runtime_timeout(runtime)
            found = poll.poll(PATIENCE_MS if wait < 0 else wait)
            self.assertTrue(found or wait >= 0, seen)
        lib.nri_runtime_close(runtime, None, None)
        lib.nri_container_free(container)
        lib.nri_pod_free(pod)
        self.assertEqual(seen, [
            "enumerate", ("connected", b"10-hello"), ("ready", 0), ("handler", b"ctr0"),
            ("created", 0, b'{"env":[{"key":"HELLO","value":"python"}]}', 4711), "audit", ("lost", 0), ("ended", 0)])


if __name__ == "__main__":
    unittest.main()
