#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_top.py NRICTL PROGRAMS: `nrictl top` on metrics that are right, hostile and absent, on recordings, on a terminal."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import threading
import time

import case

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def answer(body, status="200 OK", headers=""):
    body = body.encode()
    return f"HTTP/1.1 {status}\r\nContent-Type: {OPENMETRICS}\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Server:
    """Answers each connection with the next of its replies, and then with the last one; None is silence."""

    def __init__(self, *replies, path=None):
        self.replies, self.requests = list(replies), []
        self.socket = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self.socket.bind(path or ("127.0.0.1", 0))
        self.socket.listen(16)
        self.address = "unix:" + path if path else "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.kept = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
            try:
                request = b""
                while b"\r\n\r\n" not in request:
                    got = connection.recv(4096)
                    if not got:
                        break
                    request += got
                self.requests.append(request.decode())
                if reply is None:
                    self.kept.append(connection)
                    continue
                for piece in [reply] if isinstance(reply, bytes) else reply:
                    connection.sendall(piece)
            except OSError:
                pass  # who is asked too much of leaves
            connection.close()

    def close(self):
        self.socket.close()


def plugin_text(creates, late=0, buckets=(0, 0, 0), total=0.0, name="limits"):
    """A plugin's metrics; buckets are cumulative: up to 1 ms, up to 10 ms, all."""
    low, high, every = buckets
    return f"""# TYPE nri_plugin_build info
nri_plugin_build_info{{plugin="{name}",index="10",libnri="1"}} 1
nri_plugin_pending_requests 3
nri_plugin_requests_total{{event="CreateContainer"}} {creates}
nri_plugin_requests_total{{event="StopContainer"}} 0
nri_plugin_errors_total{{event="CreateContainer"}} 1
nri_plugin_refused_total{{event="CreateContainer"}} 2
nri_plugin_late_total{{event="CreateContainer"}} {late}
nri_plugin_guarded_total{{event="CreateContainer"}} 5
nri_plugin_reply_seconds_bucket{{event="CreateContainer",le="0.001"}} {low}
nri_plugin_reply_seconds_bucket{{event="CreateContainer",le="0.01"}} {high}
nri_plugin_reply_seconds_bucket{{event="CreateContainer",le="+Inf"}} {every}
nri_plugin_reply_seconds_sum{{event="CreateContainer"}} {total}
nri_plugin_reply_seconds_count{{event="CreateContainer"}} {every} # {{a="b"}} 1 1
other_metric_total 1e300
# EOF
"""


RUNTIME = """nri_runtime_plugins 2
nri_runtime_invocations_total{plugin="10-a",event="CreateContainer"} 4
nri_runtime_failures_total{plugin="10-a",event="CreateContainer"} 1
nri_runtime_invocations_total{plugin="20-b",event="StopContainer"} 7
nri_runtime_failures_total{plugin="20-b",event="StopContainer"} 0
"""


class Top(case.Case):
    def serve(self, *replies, **options):
        server = Server(*replies, **options)
        self.addCleanup(server.close)
        return server

    def lines(self, *arguments, expect=case.OK):
        return [json.loads(line) for line in self.run_nrictl("top", *arguments, "-o", "json", expect=expect).stdout.splitlines()]

    def row(self, line, event, plugin=None):
        found = [row for row in line["rows"] if row["event"] == event and plugin in (None, row["plugin"])]
        self.assertEqual(len(found), 1, line)
        return found[0]


class Metrics(Top):
    def test_counts_and_latencies_of_a_plugin(self):
        server = self.serve(answer(plugin_text(100, 7, (50, 100, 100), 0.3)))
        line, = self.lines("--http", server.address, "--count", "1")
        row = self.row(line, "CreateContainer")
        self.assertEqual({key: row[key] for key in ("plugin", "events", "errors", "refused", "late", "guarded")},
                         {"plugin": "10-limits", "events": 100, "errors": 1, "refused": 2, "late": 7, "guarded": 5})
        # Half of them up to 1 ms; 99 % are 98 % of the way from 1 to 10 ms.
        self.assertEqual((row["mean_ns"] + 1) // 1000, 3000)
        self.assertEqual((row["p50_ns"] + 1) // 1000, 1000)
        self.assertEqual((row["p99_ns"] + 1) // 1000, 9820)
        self.assertIsNone(row["millievents_per_second"])
        self.assertEqual(self.row(line, None)["pending"], 3)
        self.assertEqual(self.row(line, None)["events"], 100)
        self.assertNotIn("StopContainer", [row["event"] for row in line["rows"]])
        line, = self.lines("--http", server.address, "--count", "1", "--all")
        self.assertEqual(self.row(line, "StopContainer")["events"], 0)
        self.assertTrue(server.requests[0].startswith("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n"), server.requests[0])

    def test_latencies_are_those_since_the_table_before(self):
        server = self.serve(answer(plugin_text(100, 0, (100, 100, 100), 0.1)), answer(plugin_text(110, 0, (100, 110, 110), 0.2)),
                            answer(plugin_text(110, 0, (100, 110, 110), 0.2)), answer(plugin_text(2, 0, (0, 0, 2), 8)))
        lines = self.lines("--http", server.address, "--count", "4", "--interval", "100ms")
        rows = [self.row(line, "CreateContainer") for line in lines]
        self.assertEqual([row["events"] for row in rows], [100, 110, 110, 2])
        self.assertEqual([round(row["mean_ns"] / 1e6) for row in rows], [1, 10, 10, 4000])
        self.assertEqual([round(row["p50_ns"] / 1e5) for row in rows], [5, 55, 55, 100])
        self.assertGreater(rows[1]["millievents_per_second"], 0)
        self.assertEqual(rows[2]["millievents_per_second"], 0)
        self.assertEqual([row["p99_is_more"] for row in rows], [False, False, False, True])

    def test_several_sources_and_a_runtime(self):
        one = self.serve(answer(RUNTIME), path=self.path("run.http"))
        two = self.serve(answer(plugin_text(1)))
        done = self.run_nrictl("top", "--http", one.address, "--http", two.address, "-n", "1")
        text = [line.split() for line in done.stdout.splitlines()]
        self.assertIn(["SOURCE", "PLUGIN", "EVENT", "EVENTS", "PER", "S", "MEAN", "P50", "P99", "ERRORS", "REFUSED", "LATE",
                       "GUARDED", "PENDING"], text)
        self.assertIn([one.address, "10-a", "(all)", "4", "-", "-", "-", "-", "1", "-", "-", "-", "-"], text)
        self.assertIn([one.address, "20-b", "StopContainer", "7", "-", "-", "-", "-", "0", "-", "-", "-", "-"], text)
        self.assertIn([two.address, "10-limits", "CreateContainer", "1", "-", "-", "-", "-", "1", "2", "0", "5", "-"], text)

    def test_forms_of_an_answer(self):
        text = RUNTIME.encode()
        chunks = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(text[at:at + 50]), text[at:at + 50]) for at in range(0, len(text), 50))
        for reply in [
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\nTrailer: 1\r\n\r\n",
                b"HTTP/1.0 200 OK\n\n" + text,
                b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(text) + text + b"more",
                answer(RUNTIME.replace("\n", "\r\n")),
                [bytes([byte]) for byte in answer(RUNTIME)]]:
            with self.subTest(reply[:60]):
                line, = self.lines("--http", self.serve(reply).address, "--count", "1")
                self.assertEqual(self.row(line, "CreateContainer")["events"], 4)

    def test_hostile_answers_are_named(self):
        huge = b"HTTP/1.1 200 OK\r\n\r\n" + b"a_b 1\n" * (2 << 20)
        labels = ",".join('l%d="x"' % number for number in range(40))
        for reply, says in [
                (b"", "ended the connection without an answer"),
                (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "speaks no HTTP"),
                (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100000, "headers are longer than 16 KiB"),
                (b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", "larger than 8 MiB"),
                (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Content-Length is no length"),
                (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n123456", "Content-Length is no length"),
                (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "within its answer"),
                (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "Transfer-Encoding is not known"),
                (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "chunks are none"),
                (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "chunks are none"),
                (huge, "larger than 8 MiB"),
                (answer("no", "404 Not Found"), "status 404"),
                (answer("<html>"), "line 1: it is no metric"),
                (answer("x 1\ny\n"), "line 2: a metric has no number"),
                (answer("x{a=1} 1\n"), "a label's value is not quoted"),
                (answer('x{a="1} 1\n'), "a label's value does not end"),
                (answer('x{a="\\q"} 1\n'), "escape that is none"),
                (answer('x{="1"} 1\n'), "a label has no name"),
                (answer('x{a="1" b="2"} 1\n'), "labels do not end"),
                (answer('x{a="1"}\n'), "a metric has no number"),
                (answer("x{" + labels + "} 1\n"), "more than 32 labels"),
                (answer("x" * 20000 + " 1\n"), "longer than 16 KiB"),
                (answer("x 1\0\n"), "it is no text"),
                (answer("go_goroutines 7\n"), "there are no metrics of NRI"),
                (answer(""), "there are no metrics of NRI"),
                (None, "no answer in time")]:
            with self.subTest(says):
                timeout = "200ms" if reply is None else "100s"
                server = self.serve(reply)
                line, = self.lines("--http", server.address, "--count", "1", "--timeout", timeout, expect=case.ENVIRONMENT)
                self.assertIn(says, line["sources"][0]["error"])
                self.assertEqual(line["rows"], [])

    def test_numbers_that_are_none_do_no_harm(self):
        text = "".join("nri_plugin_requests_total{event=\"CreateContainer\"} %s\n" % number for number in
                       ("NaN", "-5", "+Inf", "1e400"))
        text += "".join("nri_plugin_reply_seconds_%s{event=\"CreateContainer\"%s} %s\n" % values for values in (
            ("bucket", ',le="NaN"', 5), ("bucket", ',le="-1"', 5), ("bucket", ',le="x"', 5), ("bucket", "", 5),
            ("bucket", ',le="1"', "NaN"), ("bucket", ',le="+Inf"', "-Inf"), ("sum", "", "NaN"), ("count", "", "1e300")))
        line, = self.lines("--http", self.serve(answer(text)).address, "--count", "1")
        self.assertEqual(self.row(line, "CreateContainer")["events"], 2 * 10 ** 18)
        self.run_nrictl("top", "--http", self.serve(answer(text)).address, "--count", "1")

    def test_too_many_rows_are_told(self):
        text = "".join('nri_runtime_invocations_total{plugin="%d",event="StopContainer"} 1\n' % number for number in range(3000))
        done = self.run_nrictl("top", "--http", self.serve(answer(text)).address, "--count", "1")
        self.assertIn("more than 4096 rows", done.stdout)
        self.assertLess(len(done.stdout.splitlines()), 4110)

    def test_text_of_others_moves_no_cursor(self):
        text = 'nri_runtime_invocations_total{plugin="\x1b[2Jevil\\n",event="Stop\x9dContainer"} 1\n'
        done = self.run_nrictl("top", "--http", self.serve(answer(text)).address, "--count", "1", "--color", "always")
        self.assertIn("\\x1b[2Jevil\\x0a", done.stdout)
        self.assertNotIn("\x1b[2J", done.stdout)
        self.assertNotIn("\x9d", done.stdout)

    def test_nobody_there_and_then_somebody(self):
        path = self.path("late.http")
        line, = self.lines("--http", "unix:" + path, "-n", "1", expect=case.ENVIRONMENT)
        self.assertIn("no such file", line["sources"][0]["error"])
        process = subprocess.Popen([case.NRICTL, "top", "--http", "unix:" + path, "--wait", "1h", "-n", "1", "-o", "json"],
                                   stdout=subprocess.PIPE, text=True)
        self.serve(answer(RUNTIME), path=path)
        out, _ = process.communicate(timeout=case.PATIENCE)
        self.assertEqual(process.returncode, case.OK)
        self.assertEqual(self.row(json.loads(out), "CreateContainer")["events"], 4)

    def test_a_source_that_goes_is_told_and_its_rows_go(self):
        server = self.serve(answer(RUNTIME), b"", answer(RUNTIME))
        lines = self.lines("--http", server.address, "-n", "3", "-i", "100ms")
        self.assertEqual([len(line["rows"]) for line in lines], [4, 0, 4])
        self.assertIsNone(self.row(lines[2], "CreateContainer")["millievents_per_second"])

    def test_signals_end_it(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = self.serve(answer(RUNTIME))
            process = subprocess.Popen([case.NRICTL, "top", "--http", server.address, "-i", "100ms"], stdout=subprocess.PIPE,
                                       text=True)
            self.assertRegex(process.stdout.readline(), r"^\d{4}-")
            process.send_signal(number)
            process.communicate(timeout=case.PATIENCE)
            self.assertEqual(process.returncode, case.OK)

    def test_a_reader_that_leaves_ends_it(self):
        server = self.serve(answer(RUNTIME))
        process = subprocess.Popen([case.NRICTL, "top", "--http", server.address, "-i", "100ms"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=case.PATIENCE), case.ENVIRONMENT)

    def test_usage(self):
        self.refused("top", says="no source")
        self.refused("top", "server", says="'server' is no option")
        for address in ("", "localhost", "a:b:1", "host:0", "host:65536", "unix:", "[::1]", "[]:1", "a b:1", "http://x:1",
                        "unix:" + "x" * 108):
            self.refused("top", "--http", address, says="write HOST:PORT")
        self.refused("top", "--http", ":1", "--interval", "99ms", says="--interval is a time")
        self.refused("top", "--http", ":1", "--count", "0", says="--count is a number from 1")
        self.refused("top", "--http", ":1", "--timeout", "0ms", says="--timeout is a time")
        self.refused("top", "--http", ":1", "--wait", "2h", says="--wait is a time")
        self.refused("top", "--http", ":1", "--path", "metrics", says="--path is a path")
        self.refused("top", "--http", ":1", "--path", "/a\r\nX: y", says="--path is a path")
        self.refused("top", *["--http", ":1"] * 65, says="at most 64 sources")
        self.refused("top", "--recording", "nothing.rec", says="nothing.rec: No such file")

    def test_another_path(self):
        server = self.serve(answer(RUNTIME))
        self.lines("--http", server.address, "--path", "/federate?x=1", "-n", "1")
        self.assertTrue(server.requests[0].startswith("GET /federate?x=1 HTTP/1.1\r\n"))


class Recording(Top):
    def test_errors_are_counted_from_the_start(self):
        line, = self.lines("--recording", "session.rec", "--count", "1")
        self.assertEqual(self.row(line, None)["errors"], 0)
        self.assertEqual(self.row(line, "CreateContainer")["errors"], 0)

    def test_one_that_grows(self):
        with open(self.path("session.rec"), "rb") as file:
            whole = file.read()
        cut = len(whole) * 2 // 3  # within a record, as a reader finds it
        with open(self.path("live.rec"), "wb") as file:
            file.write(whole[:cut])
        process = subprocess.Popen([case.NRICTL, "top", "-r", "live.rec", "-i", "100ms", "-o", "json"], cwd=self.directory,
                                   stdout=subprocess.PIPE, text=True)
        first = self.row(json.loads(process.stdout.readline()), None)
        with open(self.path("live.rec"), "ab") as file:
            file.write(whole[cut:])
        last = first
        while last["events"] == first["events"] or last["pending"] > 0:
            last = self.row(json.loads(process.stdout.readline()), None)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=case.PATIENCE)
        self.assertEqual(process.returncode, case.OK)
        line, = self.lines("-r", "session.rec", "-n", "1")
        self.assertEqual(self.row(line, None)["events"], last["events"])
        self.assertGreater(first["events"], 0)
        events = [row["event"] for row in line["rows"]]
        self.assertIn("CreateContainer", events)
        self.assertNotIn("StateChange", events)
        self.assertEqual(self.row(line, None)["events"], sum(row["events"] for row in line["rows"] if row["event"]))
        for row in line["rows"]:
            self.assertGreater(row["mean_ns"], 0)
            self.assertLessEqual(row["p50_ns"], row["p99_ns"])

    def test_what_is_no_recording(self):
        self.refused("top", "-r", "config.json", says="config.json: ")


class Terminal(Top):
    def test_table_in_place(self):
        server = self.serve(answer(RUNTIME))
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        before = termios.tcgetattr(slave)
        process = subprocess.Popen([case.NRICTL, "top", "--http", server.address, "-i", "100ms"], stdin=slave, stdout=slave,
                                   stderr=slave, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        seen = b""

        def read_until(pattern):
            nonlocal seen
            seen = b""
            end = time.monotonic() + case.PATIENCE
            while not re.search(pattern, seen, re.S):
                self.assertTrue(select.select([master], [], [], max(0, end - time.monotonic()))[0], seen)
                seen += os.read(master, 65536)
            return seen

        text = read_until(rb"20-b .*StopContainer.*\x1b\[J")
        self.assertTrue(text.startswith(b"\x1b[?1049h"), text[:40])
        self.assertFalse(termios.tcgetattr(slave)[3] & termios.ECHO)
        # A smaller window: three lines, and no line longer than it.
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 3, 20, 0, 0))
        os.killpg(process.pid, signal.SIGWINCH)
        read_until(rb"\x1b\[H")
        frame = read_until(rb"\x1b\[H(?:(?!\x1b\[J)(?!\x1b\[H).)*\x1b\[H")
        frame = max(frame.split(b"\x1b[H")[:-1], key=len)
        lines = [re.sub(rb"\x1b\[[0-9;]*[A-Za-z]|\r", b"", line) for line in frame.split(b"\r\n")]
        self.assertEqual(len(lines), 3, frame)
        self.assertLessEqual(max(map(len, lines)), 20, lines)
        os.write(master, b"xq")
        text = read_until(rb"\x1b\[\?1049l.*20-b .*StopContainer[^\n]*\n")
        self.assertEqual(process.wait(timeout=case.PATIENCE), case.OK)
        self.assertEqual(termios.tcgetattr(slave), before)
        os.close(slave)


class Plugin(Top):
    def test_a_plugin_in_a_simulated_node(self):
        if not os.path.exists(os.path.join(case.PROGRAMS, "nri-cpu-pinner")):
            self.skipTest("nri-cpu-pinner was not built")
        sim = subprocess.Popen([case.NRICTL, "sim", "--keep", "--plugin", "20-pinner=nri-cpu-pinner --http unix:pinner.http"],
                               cwd=self.directory, env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while True:
                line, = self.lines("--http", "unix:pinner.http", "--wait", "2m", "-n", "1")
                counts = {row["event"]: row["events"] for row in line["rows"]}
                if counts.get("RemovePodSandbox"):
                    break
        finally:
            sim.send_signal(signal.SIGINT)
            sim.wait(timeout=case.PATIENCE)
        self.assertEqual(counts["CreateContainer"], 2)
        self.assertGreater(self.row(line, "CreateContainer")["mean_ns"], 0)
        self.assertEqual(self.row(line, None)["plugin"], "20-pinner")


case.main()
