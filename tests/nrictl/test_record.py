#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_record.py NRICTL PROGRAMS: a proxy that changes nothing, and a file that holds it all."""
import hashlib
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import threading

import case
import recordings
from recordings import BYTES, CLOSED, END, OPEN, START, TO_PLUGIN, TO_RUNTIME, records


def read_all(connection):
    """All bytes up to the end."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


class Record(recordings.RecordingCase):
    def connect(self, path):
        connection = socket.socket(socket.AF_UNIX)
        self.addCleanup(connection.close)
        connection.settimeout(case.PATIENCE)
        directory = os.open(self.directory, os.O_PATH)  # a path that is short enough for any directory
        connection.connect("/proc/self/fd/%d/%s" % (directory, path))
        os.close(directory)
        return connection

    def listen(self, path="runtime.sock"):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.settimeout(case.PATIENCE)
        directory = os.open(self.directory, os.O_PATH)
        listener.bind("/proc/self/fd/%d/%s" % (directory, path))
        os.close(directory)
        listener.listen()
        return listener

    def accept(self, listener):
        connection, _ = listener.accept()
        self.addCleanup(connection.close)
        connection.settimeout(case.PATIENCE)
        return connection

    def is_listened_on(self):
        try:
            self.connect("nri.sock").close()
        except OSError:
            return False
        return True

    def pair(self, listener):
        plugin = self.connect("nri.sock")
        return plugin, self.accept(listener)

    # ---- between sockets ----

    def test_bytes_go_through_unchanged_and_are_recorded(self):
        runtime_listener = self.listen()
        recorder = self.recorder()
        plugin, runtime = self.pair(runtime_listener)
        plugin.sendall(b"from the plugin \x00\xff")
        self.assertEqual(runtime.recv(100), b"from the plugin \x00\xff")
        runtime.sendall(b"and back")
        self.assertEqual(plugin.recv(100), b"and back")
        # Half-closes are kept: the other direction goes on.
        plugin.shutdown(socket.SHUT_WR)
        self.assertEqual(runtime.recv(100), b"")
        runtime.sendall(b"late")
        self.assertEqual(plugin.recv(100), b"late")
        runtime.close()
        self.assertEqual(plugin.recv(100), b"")
        plugin.close()
        out, err = self.ended(recorder)
        self.assertEqual(err, "")
        self.assertEqual(out, "1 connections, 18 bytes to the runtime, 12 to plugins, 0 not recorded\n")
        found = records(self.path("new.rec"))
        self.assertEqual([r[0] for r in found], [START, OPEN, BYTES, BYTES, CLOSED, BYTES, CLOSED, END])
        self.assertEqual(recordings.sent(self.path("new.rec"), TO_RUNTIME), b"from the plugin \x00\xff")
        self.assertEqual(recordings.sent(self.path("new.rec"), TO_PLUGIN), b"and backlate")
        self.assertEqual(os.stat(self.path("new.rec")).st_mode & 0o777, 0o600)
        # Who they were: this very program at both ends.
        note = json.loads(found[1][3])
        for side in ("plugin", "runtime"):
            self.assertEqual(note[side]["pid"], os.getpid())
            self.assertEqual(note[side]["program"], os.readlink("/proc/self/exe"))
        self.assertEqual(note["origin"], "external")

    def test_result_as_json(self):
        listener = self.listen()
        recorder = self.recorder("--output", "json")
        plugin, runtime = self.pair(listener)
        plugin.sendall(b"abc")
        runtime.recv(3)
        out, _ = self.ended(recorder)
        self.assertEqual(json.loads(out), {"connections": 1, "refused": 0, "bytes_to_runtime": 3, "bytes_to_plugin": 0,
                                           "bytes_not_recorded": 0})
        # The recorder's end is the connections' end.
        self.assertEqual(plugin.recv(1), b"")
        self.assertEqual(runtime.recv(1), b"")
        self.assertEqual(json.loads(records(self.path("new.rec"))[-1][3]), {"why": "the recorder ended"})

    def test_many_connections_at_once(self):
        listener = self.listen()
        recorder = self.recorder()
        pairs = [self.pair(listener) for _ in range(40)]
        for number, (plugin, runtime) in enumerate(pairs):
            plugin.sendall(b"%d" % number * 1000)
            runtime.sendall(b"%d" % number)
        for number, (plugin, runtime) in enumerate(pairs):
            self.assertEqual(plugin.recv(100), b"%d" % number)
            plugin.close()
            self.assertEqual(read_all(runtime), b"%d" % number * 1000)
            runtime.close()
        self.ended(recorder)
        for number in range(40):
            self.assertEqual(recordings.sent(self.path("new.rec"), TO_RUNTIME, number + 1), b"%d" % number * 1000)

    def test_backpressure_goes_through(self):
        # A runtime that reads nothing: the plugin's writes stop soon, and the recorder stays small.
        listener = self.listen()
        recorder = self.recorder()
        plugin, runtime = self.pair(listener)
        plugin.setblocking(False)
        sent = 0
        piece = b"x" * 65536
        idle = 0
        while idle < 50:  # what is on its way arrives; then nothing moves any more
            try:
                sent += plugin.send(piece)
                idle = 0
            except BlockingIOError:
                idle += 1
                threading.Event().wait(0.01)
        self.assertLess(sent, 4 << 20)
        plugin.settimeout(case.PATIENCE)
        got = 0
        plugin.shutdown(socket.SHUT_WR)
        while part := runtime.recv(1 << 20):
            got += len(part)
        self.assertEqual(got, sent)
        self.ended(recorder)
        self.assertEqual(len(recordings.sent(self.path("new.rec"), TO_RUNTIME)), sent)

    def test_both_directions_at_once_and_large(self):
        listener = self.listen()
        recorder = self.recorder()
        plugin, runtime = self.pair(listener)
        there, back = os.urandom(8 << 20), os.urandom(8 << 20)
        got = {}

        def work(connection, data, key):
            sender = threading.Thread(target=lambda: (connection.sendall(data), connection.shutdown(socket.SHUT_WR)))
            sender.start()
            got[key] = read_all(connection)
            sender.join()
        threads = [threading.Thread(target=work, args=arguments)
                   for arguments in ((plugin, there, "back"), (runtime, back, "there"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.ended(recorder)
        self.assertTrue(got["there"] == there and got["back"] == back)
        for direction, data in ((TO_RUNTIME, there), (TO_PLUGIN, back)):
            self.assertEqual(hashlib.sha256(recordings.sent(self.path("new.rec"), direction)).hexdigest(),
                             hashlib.sha256(data).hexdigest())

    def test_a_receiver_that_is_gone_is_told_to_the_sender(self):
        listener = self.listen()
        recorder = self.recorder()
        plugin, runtime = self.pair(listener)
        plugin.close()
        self.assertEqual(runtime.recv(1), b"")
        with self.assertRaises(BrokenPipeError):
            while True:
                runtime.sendall(b"x" * 4096)
        self.ended(recorder)

    def test_limit_of_connections(self):
        listener = self.listen()
        recorder = self.recorder("--connections", "1")
        plugin, runtime = self.pair(listener)
        waiting = self.connect("nri.sock")
        waiting.sendall(b"second")
        plugin.sendall(b"first")
        self.assertEqual(runtime.recv(100), b"first")
        listener.setblocking(False)
        with self.assertRaises(BlockingIOError):
            listener.accept()
        listener.settimeout(case.PATIENCE)
        plugin.close()
        runtime.close()
        self.assertEqual(self.accept(listener).recv(100), b"second")
        self.ended(recorder)

    def test_no_runtime(self):
        recorder = self.recorder()
        plugin = self.connect("nri.sock")
        self.assertEqual(plugin.recv(1), b"")
        # It is there later: the next plugin gets through.
        listener = self.listen()
        plugin, runtime = self.pair(listener)
        plugin.sendall(b"x")
        self.assertEqual(runtime.recv(1), b"x")
        out, err = self.ended(recorder)
        self.assertIn("1 connections", out)
        self.assertIn("a plugin came and was sent away: ", err)
        self.assertEqual(len(err.splitlines()), 1)

    def test_file_that_takes_nothing(self):
        # The session goes on, it is told once, and the exit status says that the recording is not whole.
        listener = self.listen()
        recorder = self.recorder("--output-file", "/dev/full")
        plugin, runtime = self.pair(listener)
        for _ in range(10):
            plugin.sendall(b"ping")
            self.assertEqual(runtime.recv(100), b"ping")
            runtime.sendall(b"pong")
            self.assertEqual(plugin.recv(100), b"pong")
        _, err = self.ended(recorder, expect=case.ENVIRONMENT)
        self.assertEqual(err.count("/dev/full"), 1)
        self.assertIn("nothing more is recorded", err)
        self.assertEqual(len(err.splitlines()), 1)

    def test_file_that_becomes_full(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))
        listener = self.listen()
        recorder = self.recorder(preexec_fn=limit)
        plugin, runtime = self.pair(listener)
        data = os.urandom(500000)
        sender = threading.Thread(target=lambda: (plugin.sendall(data), plugin.shutdown(socket.SHUT_WR)))
        sender.start()
        self.assertEqual(read_all(runtime), data)
        sender.join()
        _, err = self.ended(recorder, expect=case.ENVIRONMENT)
        self.assertIn("nothing more is recorded", err)
        # What there is can be read, and its end is told.
        done = self.run_nrictl("decode", "new.rec", expect=case.FINDING)
        self.assertIn("the file ends within a record", done.stderr)

    def test_appends_and_survives_a_kill(self):
        listener = self.listen()
        recorder = self.recorder()
        plugin, runtime = self.pair(listener)
        plugin.sendall(b"first")
        runtime.recv(100)
        def written():
            try:
                return any(r[3] == b"first" for r in records(self.path("new.rec")))
            except (AssertionError, struct.error):  # it is within a record
                return False
        self.wait_for(written, "not written")
        self.end(recorder, signal.SIGKILL)
        with open(self.path("new.rec"), "ab") as file:  # as if it had been within a record
            file.write(recordings.record(BYTES, b"y" * 1000, TO_RUNTIME)[:500])
        # A dead socket is replaced.
        self.assertTrue(os.path.exists(self.path("nri.sock")))
        recorder = self.start(case.NRICTL, "record", "--listen", "nri.sock", "--connect", "runtime.sock", "-f", "new.rec",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_for(self.is_listened_on, "no new socket")
        self.accept(listener)  # of the look
        plugin, runtime = self.pair(listener)
        plugin.sendall(b"second")
        runtime.recv(100)
        self.ended(recorder)
        done = self.run_nrictl("decode", "new.rec", expect=case.FINDING)
        self.assertEqual(done.stdout.count("  start "), 2)
        self.assertIn("3 connections", done.stdout)
        self.assertIn(" 500 bytes at byte ", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_one_recorder_at_a_time(self):
        self.recorder()
        self.refused("record", "--listen", "other.sock", "-f", "new.rec", says="written by another recorder",
                     expect=case.ENVIRONMENT)
        self.refused("record", "--listen", "nri.sock", "-f", "other.rec", says="somebody listens there already",
                     expect=case.ENVIRONMENT)

    def test_interrupted(self):
        recorder = self.recorder()
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(case.PATIENCE), 0)
        self.assertFalse(os.path.exists(self.path("nri.sock")))

    # ---- a real plugin ----

    def test_launched_plugin(self):
        self.wrap("%s record --output-file %s -- %s --add-env GREETING=hello" %
                  (case.NRICTL, self.path("new.rec"), self.program("nri-logger")))
        done = self.run_runtime()
        self.assertIn('"event":"Shutdown"', done.stdout)
        self.assertEqual([line for line in done.stderr.splitlines() if "nrictl" in line], [])
        self.assertIn("GREETING=hello", self.read("config.json"))
        lines, summary = self.lines("--show-env", "new.rec")
        self.assertEqual((summary["messages"], summary["connections"], summary["unanswered"]), (28, 1, 0))
        note = json.loads(next(line["note"] for line in lines if line["type"] == "open"))
        self.assertEqual(note["origin"], "launched")
        self.assertEqual(note["plugin"]["program"], os.path.realpath(self.program("nri-logger")))
        self.assertEqual(note["runtime"]["program"], os.path.realpath(self.program("mini-runtime")))
        created = [line for line in lines if line.get("method") == "CreateContainer"]
        self.assertEqual(created[1]["payload"]["adjust"]["env"], [{"key": "GREETING", "value": "hello"}])

    def launch(self, *command):
        """A wrapped plugin with a socket of a runtime's, which is this program."""
        runtime, plugin = socket.socketpair()
        self.addCleanup(runtime.close)
        runtime.settimeout(case.PATIENCE)
        number = plugin.fileno()
        process = self.start(case.NRICTL, "record", "-f", "new.rec", "--", *command, pass_fds=[number],
                             env={**self.environment(), "NRI_PLUGIN_SOCKET": str(number)}, stderr=subprocess.PIPE, text=True)
        plugin.close()
        return process, runtime

    def test_wrapped_plugins_end(self):
        process, runtime = self.launch("sh", "-c", "exit 7")
        self.assertEqual(runtime.recv(1), b"")
        self.assertEqual(process.wait(case.PATIENCE), 7)
        process, runtime = self.launch("sh", "-c", "kill -9 $$")
        self.assertEqual(runtime.recv(1), b"")
        self.assertEqual(process.wait(case.PATIENCE), 137)

    def test_wrapped_plugin_gets_signals_and_its_socket_alone(self):
        process, runtime = self.launch(
            "bash", "-c", "ls /proc/self/fd | wc -l >&$NRI_PLUGIN_SOCKET; trap 'exit 9' TERM; "
                          "echo $NRI_PLUGIN_SOCKET >&3; while :; do sleep 0.05; done")
        got = b""
        while got.count(b"\n") < 2:
            got += runtime.recv(100)
        self.assertEqual(got.split(), [b"5", b"3"])  # 0 to 3, and that of ls itself
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(case.PATIENCE), 9)
        self.assertEqual(recordings.sent(self.path("new.rec"), TO_RUNTIME), got)

    def test_runtime_goes_away_from_a_wrapped_plugin(self):
        process, runtime = self.launch("sh", "-c", "cat <&3; exit 5")
        runtime.close()
        self.assertEqual(process.wait(case.PATIENCE), 5)

    # ---- captures ----

    def test_import(self):
        self.run_nrictl("record", "-f", "new.rec", "--import", "simple.jsonl", "--import", "simple.jsonl")
        for connection in (1, 2):
            for direction, name in ((TO_RUNTIME, "simple.p2r.bin"), (TO_PLUGIN, "simple.r2p.bin")):
                with open(self.path(name), "rb") as file:
                    self.assertEqual(recordings.sent(self.path("new.rec"), direction, connection), file.read())
        _, summary = self.lines("new.rec")
        self.assertEqual((summary["messages"], summary["connections"], summary["garbage"]), (56, 2, 0))

    def test_import_errors(self):
        for name, text, says in (
                ("a.jsonl", "{\"t\": 0}\n", "a.jsonl:1: the first line is to be of"),
                ("a.jsonl", "nonsense\n", "a.jsonl:1: "),
                ("a.jsonl", "[1]\n", "a.jsonl:1: a line is to be a JSON object"),
                ("a.jsonl", "", "there is no line of"),
                ("a.jsonl", "{\"t\": -1, \"dir\": \"open\"}\n", "\"t\" is to be"),
                ("a.jsonl", "{\"t\": 0, \"dir\": \"open\"}\n", "with the time as \"wall\""),
                ("a.jsonl", "{\"t\": 0, \"dir\": \"open\", \"wall\": 1}\n{\"t\": 0, \"dir\": \"up\"}\n", "a.jsonl:2: \"dir\" is"),
                ("a.jsonl", "{\"t\": 0, \"dir\": \"open\", \"wall\": 1}\n{\"t\": 0, \"dir\": \"p2r\", \"off\": 1.5, \"len\": 1}\n",
                 "whole numbers"),
                ("a.jsonl", "{\"t\": 0, \"dir\": \"open\", \"wall\": 1}\n{\"t\": 0, \"dir\": \"r2p\", \"off\": 2, \"len\": 2}\n",
                 "too short")):
            with self.subTest(text):
                self.write(name, text)
                self.put("a.p2r.bin", b"abc")
                self.put("a.r2p.bin", b"abc")
                self.refused("record", "-f", "new.rec", "--import", name, says=says)
                self.refused("record", "-f", "new.rec", "--import", name, says=says)
        self.refused("record", "-f", "new.rec", "--import", "simple.r2p.bin", says="named by its index")
        self.refused("record", "-f", "new.rec", "--import", "none.jsonl", says="none.jsonl: No such file")

    # ---- the command line ----

    def test_usage(self):
        self.refused("record", "--listen", "x", says="--output-file FILE")
        self.refused("record", "-f", "new.rec", says="is needed")
        self.refused("record", "-f", "new.rec", "--listen", "x", "--import", "simple.jsonl", says="is needed")
        self.refused("record", "-f", "new.rec", "--listen", "x", "--", "true", says="is needed")
        self.refused("record", "-f", "new.rec", "--", "true", says="NRI_PLUGIN_SOCKET")
        self.refused("record", "-f", "none/new.rec", "--listen", "x", says="none/new.rec: No such file")
        self.refused("record", "-f", "config.json", "--listen", "x", says="is no recording of this version")
        self.refused("record", "-f", "new.rec", "--listen", "x" * 200, says="socket path")
        self.refused("record", "-f", "new.rec", "--listen", "config.json", says="is no socket")
        for option, value in (("--connections", "0"), ("--connections", "4097"), ("--queue", "0"), ("--queue", "4097"),
                              ("--queue", "1k")):
            self.refused("record", "-f", "new.rec", "--listen", "x", option, value, says="%s is a number from 1" % option)

    def test_socket_of_the_environment_is_checked(self):
        for value, says in (("many", "is a number"), ("2", "is a number"), ("9", "NRI_PLUGIN_SOCKET=9: ")):
            done = subprocess.run([case.NRICTL, "record", "-f", "new.rec", "--", "true"], cwd=self.directory,
                                  env={**self.environment(), "NRI_PLUGIN_SOCKET": value}, capture_output=True, text=True,
                                  timeout=case.PATIENCE, check=False)
            self.assertEqual(done.returncode, case.USAGE)
            self.assertIn(says, done.stderr)
        process, _ = self.launch("/no/such/plugin")
        self.assertEqual(process.wait(case.PATIENCE), case.USAGE)
        self.assertIn("/no/such/plugin: no such file", process.stderr.read())


case.main()
