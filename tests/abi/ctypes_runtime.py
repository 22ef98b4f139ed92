#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ctypes_runtime.py LIBRARY: a container manager written in Python over the shared library alone hosts a runtime with a
plugin of its own and one over a socketpair, and the layout of nri_runtime_ops, _options and _event and of
nri_failure_policy is what another language takes it for."""
import ctypes
import select
import socket
import unittest

from ctypes_plugin import HANDLER, LIBRARY, Ops as PluginOps, Options as PluginOptions

POINTER, TEXT, U32, U64 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint64
NRI_E_INVALID, NRI_E_ABI, NRI_E_RANGE = -2, -3, -22
PRESET_STRICT, FAIL, KEEP = 2, 2, 1
LOG_INFO, LOG_DEBUG = 3, 4
CREATE_CONTAINER = 4
FIELDS = 64  # NRI_MERGE_FIELDS
PATIENCE_MS = 60000  # only a test that fails waits that long

ENUMERATE = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER, POINTER)
LOST = ctypes.CFUNCTYPE(None, POINTER, POINTER, ctypes.c_int, TEXT, POINTER)
TOLD = ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER)
READY = ctypes.CFUNCTYPE(None, POINTER, POINTER)
EVICT = ctypes.CFUNCTYPE(None, POINTER, POINTER, TEXT, TEXT, POINTER)
LOG = ctypes.CFUNCTYPE(None, POINTER, POINTER)
ENDED = ctypes.CFUNCTYPE(None, POINTER, ctypes.c_int, POINTER)

# Of each limit a value that is out of its range; the error must name the member that it was written to.
LIMITS = {
    "max_outstanding": 65, "max_plugins": 4097, "max_calls": 65537, "registration_timeout_ms": 86400001,
    "request_timeout_ms": 86400001, "stop_timeout_ms": 60001, "max_receive_bytes": 1, "max_send_bytes": 1,
    "max_output_bytes": 1, "max_merge_bytes": 1, "max_sync_bytes": 1,
}


class Ops(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("enumerate", ENUMERATE), ("update", ENUMERATE), ("evict", EVICT),
        ("plugin_connected", TOLD), ("plugin_lost", LOST), ("audit", TOLD), ("ready", READY),
        ("reserved", POINTER * 4)]


class Policy(ctypes.Structure):
    _fields_ = (
        [("size", ctypes.c_size_t)]
        + [(name, ctypes.c_int32) for name in ("on_timeout", "on_loss", "on_error", "after_timeout", "after_error")]
        + [("required", U32), ("reserved_pointer", POINTER), ("reserved", U64 * 4)])


class Options(ctypes.Structure):
    _fields_ = (
        [("size", ctypes.c_size_t)]
        + [(name, TEXT) for name in ("name", "version", "nri_version", "socket_path", "plugin_directory",
                                     "config_directory", "validator_config")]
        + [("allocator", POINTER), ("failure", ctypes.POINTER(Policy)), ("log", LOG), ("log_user", POINTER)]
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
            ("failure_policy_init", None, ctypes.POINTER(Policy), ctypes.c_size_t),
            ("failure_policy_preset", ctypes.c_int, ctypes.POINTER(Policy), ctypes.c_int),
            ("runtime_set_failure_policy", ctypes.c_int, POINTER, TEXT, ctypes.POINTER(Policy)),
            ("runtime_last_error", POINTER, POINTER), ("outcome_text", TEXT, POINTER),
            ("log_record_level", ctypes.c_int, POINTER), ("log_record_text", TEXT, POINTER),
            ("log_record_plugin", TEXT, POINTER),
            ("runtime_attach_fd", ctypes.c_int, POINTER, ctypes.c_int),
            ("runtime_update_list", POINTER, POINTER), ("runtime_update_plugin", POINTER, POINTER),
            ("runtime_update_is_sync", ctypes.c_bool, POINTER), ("runtime_update_fail", ctypes.c_int, POINTER, TEXT),
            ("updates_new", ctypes.c_int, ctypes.POINTER(POINTER), POINTER), ("updates_free", POINTER, POINTER),
            ("updates_container", POINTER, POINTER, TEXT), ("updates_count", ctypes.c_size_t, POINTER),
            ("updates_at", POINTER, POINTER, ctypes.c_size_t), ("update_container_id", TEXT, POINTER),
            ("updates_evict", ctypes.c_int, POINTER, TEXT, TEXT),
            ("update_set_cpu_shares", ctypes.c_int, POINTER, U64),
            ("plugin_update_containers", ctypes.c_int, POINTER, POINTER, POINTER, TOLD, POINTER),
            ("update_result_code", ctypes.c_int, POINTER), ("update_result_failed_count", ctypes.c_size_t, POINTER),
            ("update_result_failed_id", TEXT, POINTER, ctypes.c_size_t),
            ("plugin_new", ctypes.c_int, ctypes.POINTER(POINTER), ctypes.POINTER(PluginOps),
             ctypes.POINTER(PluginOptions), POINTER, POINTER),
            ("plugin_start", ctypes.c_int, POINTER, POINTER, ENDED, POINTER), ("plugin_fd", ctypes.c_int, POINTER),
            ("plugin_timeout", ctypes.c_int, POINTER), ("plugin_dispatch", ctypes.c_int, POINTER),
            ("plugin_stop", None, POINTER), ("plugin_close", None, POINTER, POINTER, POINTER),
            ("request_plugin", POINTER, POINTER),
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

    def serve(self, runtime, plugin=None):
        """Turns the runtime, and a plugin, until both have ended."""
        kinds = [(name, handle) for name, handle in (("runtime", runtime), ("plugin", plugin)) if handle is not None]
        while True:
            kinds = [(name, handle) for name, handle in kinds
                     if getattr(self.lib, "nri_%s_dispatch" % name)(handle) == 1]
            if not kinds:
                return
            poll, waits = select.poll(), []
            for name, handle in kinds:
                poll.register(getattr(self.lib, "nri_%s_fd" % name)(handle), select.POLLIN)
                waits.append(getattr(self.lib, "nri_%s_timeout" % name)(handle))
            wait = min((wait for wait in waits if wait >= 0), default=None)
            found = poll.poll(PATIENCE_MS if wait is None else wait)
            self.assertTrue(found or wait is not None, kinds)

    def objects(self):
        """A pod sandbox and a container."""
        lib, pod, container = self.lib, POINTER(), POINTER()
        self.assertEqual((lib.nri_pod_new(pod, None), lib.nri_container_new(container, None)), (0, 0))
        self.addCleanup(lib.nri_pod_free, pod)
        self.addCleanup(lib.nri_container_free, container)
        self.assertEqual((lib.nri_pod_set_id(pod, b"pod0"), lib.nri_container_set_id(container, b"ctr0")), (0, 0))
        return pod, container

    def test_failure_policy_is_where_it_is_written(self):
        lib, policy = self.lib, Policy(on_loss=77)
        lib.nri_failure_policy_init(policy, ctypes.sizeof(Policy))
        self.assertEqual((policy.size, policy.on_loss), (ctypes.sizeof(Policy), 0))
        self.assertEqual(lib.nri_failure_policy_preset(policy, PRESET_STRICT), 0)
        choices = [getattr(policy, name) for name, _ in Policy._fields_[1:6]]
        self.assertEqual((choices, policy.required), ([FAIL, FAIL, FAIL, KEEP, KEEP], 0))
        self.assertEqual(self.refusal(None, self.options(failure=ctypes.pointer(policy))), (0, ""))
        for name, value in [(name, 3) for name, _ in Policy._fields_[1:6]] + [("required", 1)]:
            with self.subTest(name):
                policy = Policy(size=ctypes.sizeof(Policy), **{name: value})
                code, text = self.refusal(None, self.options(failure=ctypes.pointer(policy)))
                self.assertEqual(code, NRI_E_INVALID)
                self.assertIn(name, text)
        for member in (("reserved_pointer", 1), ("reserved", (U64 * 4)(0, 0, 0, 1)), ("size", 1)):
            with self.subTest(member[0]):
                policy = Policy(size=ctypes.sizeof(Policy))
                setattr(policy, *member)
                self.assertEqual(self.refusal(None, self.options(failure=ctypes.pointer(policy)))[0], NRI_E_ABI)

    def test_required_plugin_is_missing(self):
        lib, runtime, seen = self.lib, POINTER(), []
        pod, container = self.objects()
        event = Event(size=ctypes.sizeof(Event), event=CREATE_CONTAINER, pod=pod, container=container)

        def created(this, outcome, _user):
            seen.append((lib.nri_outcome_code(outcome), lib.nri_outcome_text(outcome)))
            lib.nri_runtime_stop(this)

        done = TOLD(created)
        ops = Ops(size=ctypes.sizeof(Ops),
                  ready=READY(lambda this, _user: seen.append(lib.nri_runtime_call(this, event, done, None))))
        self.assertEqual(lib.nri_runtime_new(runtime, ops, self.options(), None, None), 0)
        policy = Policy(size=ctypes.sizeof(Policy), required=1)
        self.assertEqual(lib.nri_runtime_set_failure_policy(runtime, None, policy), NRI_E_INVALID)
        self.assertIn(b"required", lib.nri_error_get_text(lib.nri_runtime_last_error(runtime)))
        self.assertEqual(lib.nri_runtime_set_failure_policy(runtime, b"absent", policy), 0)
        self.assertEqual(lib.nri_runtime_start(runtime, None, ENDED(), None), 0)
        self.serve(runtime)
        lib.nri_runtime_close(runtime, None, None)
        called, (code, text) = seen
        self.assertEqual(called, 0)
        self.assertLess(code, 0)
        self.assertIn(b"absent", text)

    def test_update_evict_and_log(self):
        lib, runtime, guest, seen, logged = self.lib, POINTER(), POINTER(), [], []

        def ask(request, _user):
            updates = POINTER()
            codes = [lib.nri_updates_new(updates, None)]
            codes += [lib.nri_update_set_cpu_shares(lib.nri_updates_container(updates, name), 10)
                      for name in (b"ctr0", b"ctr1")]
            codes.append(lib.nri_updates_evict(updates, b"ctr2", b"too loud"))
            codes.append(lib.nri_plugin_update_containers(lib.nri_request_plugin(request), updates, None, answer, 4712))
            lib.nri_updates_free(updates)
            seen.append(("asked", codes))
            return 0

        def answered(plugin, result, user):
            failed = [lib.nri_update_result_failed_id(result, index)
                      for index in range(lib.nri_update_result_failed_count(result))]
            seen.append(("answered", lib.nri_update_result_code(result), failed, user))
            lib.nri_plugin_stop(plugin)
            lib.nri_runtime_stop(runtime)

        def update(_runtime, update_, user):
            updates = lib.nri_runtime_update_list(update_)
            names = [lib.nri_update_container_id(lib.nri_updates_at(updates, index))
                     for index in range(lib.nri_updates_count(updates))]
            seen.append(("update", names, lib.nri_runtime_plugin_id(lib.nri_runtime_update_plugin(update_)),
                         lib.nri_runtime_update_is_sync(update_), user))
            return lib.nri_runtime_update_fail(update_, b"ctr1")

        def evict(_runtime, plugin, name, reason, user):
            seen.append(("evict", lib.nri_runtime_plugin_id(plugin), name, reason, user))

        def log(user, record):
            logged.append((user, lib.nri_log_record_level(record), lib.nri_log_record_plugin(record),
                           lib.nri_log_record_text(record)))

        answer = TOLD(answered)
        ops = Ops(size=ctypes.sizeof(Ops), update=ENUMERATE(update), evict=EVICT(evict))
        options = self.options(log=LOG(log), log_user=4714, log_level=LOG_DEBUG)
        handlers = PluginOps(size=ctypes.sizeof(PluginOps), on_synchronize=HANDLER(ask),
                             on_create_container=HANDLER(lambda _request, _user: 0))
        ours, theirs = socket.socketpair()
        guest_options = PluginOptions(size=ctypes.sizeof(PluginOptions), name=b"guest", index=b"20", use_fd=1,
                                      fd=theirs.detach())
        self.assertEqual(lib.nri_runtime_new(runtime, ops, options, 4713, None), 0)
        self.assertEqual(lib.nri_plugin_new(guest, handlers, guest_options, None, None), 0)
        self.assertEqual(lib.nri_runtime_start(runtime, None, ENDED(), None), 0)
        self.assertEqual(lib.nri_runtime_attach_fd(runtime, ours.detach()), 0)
        self.assertEqual(lib.nri_plugin_start(guest, None, ENDED(), None), 0)
        self.serve(runtime, guest)
        lib.nri_plugin_close(guest, None, None)
        lib.nri_runtime_close(runtime, None, None)
        self.assertEqual(seen, [
            ("asked", [0, 0, 0, 0, 0]), ("evict", b"20-guest", b"ctr2", b"too loud", 4713),
            ("update", [b"ctr0", b"ctr1"], b"20-guest", False, 4713), ("answered", 0, [b"ctr1"], 4712)])
        self.assertEqual({user for user, _, _, _ in logged}, {4714})
        self.assertTrue(any(level == LOG_INFO and plugin == b"20-guest" and b"20-guest" in text
                            for _, level, plugin, text in logged), logged)

    def test_hosts_a_runtime(self):
        lib, runtime, seen = self.lib, POINTER(), []
        pod, container = self.objects()

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
        self.serve(runtime)
        lib.nri_runtime_close(runtime, None, None)
        self.assertEqual(seen, [
            "enumerate", ("connected", b"10-hello"), ("ready", 0), ("handler", b"ctr0"),
            ("created", 0, b'{"env":[{"key":"HELLO","value":"python"}]}', 4711), "audit", ("lost", 0), ("ended", 0)])


if __name__ == "__main__":
    unittest.main()
