#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/metrics, /healthz and /readyz over TCP and unix sockets, and those who ask slowly, much, or wrongly."""
import fcntl
import http.client
import os
import re
import resource
import socket
import stat
import threading
import unittest

from app_case import PATIENCE, PROGRAM, AppCase, Program, ask_until, until
from protobuf import field


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self._path)


class HttpCase(AppCase):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.directory, "http.sock")
        self.address = "unix:" + self.path

    def ask(self, path, method="GET", connection=None, headers=None):
        """(status, headers, body)"""
        used = connection or UnixConnection(self.path)
        try:
            used.request(method, path, headers=headers or {})
            answer = used.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            if connection is None:
                used.close()

    def raw(self):
        connection = socket.socket(socket.AF_UNIX)
        self.addCleanup(connection.close)
        connection.settimeout(PATIENCE)
        connection.connect(self.path)
        return connection


class Endpoints(HttpCase):
    def test_metrics(self):
        program, connection = self.ready("--http", self.address)
        for _ in range(3):
            connection.create()
        status, headers, body = self.ask("/metrics")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(body.endswith("\n# EOF\n"))
        self.assertEqual(body.count("# EOF"), 1)
        self.assertRegex(body, r'(?m)^nri_\w+_total\{[^}]*CreateContainer[^}]*\} 3$')
        for line in ('nri_app_reloads_total{result="taken"} 0', "nri_app_log_lines_lost_total 0",
                     "nri_app_http_not_accepted_total 0", "nri_app_http_gave_way_total 0", "test_greetings 1"):
            self.assertIn(line + "\n", body)
        for line in body.splitlines():
            self.assertRegex(line, r"^(# (TYPE|HELP|UNIT|EOF).*|[a-z_]+(\{.*\})? \S+)$")
        types = re.findall(r"(?m)^# TYPE (\S+)", body)
        self.assertEqual(len(types), len(set(types)))
        self.ends_well(program)

    def test_health(self):
        program, connection = self.ready("--http", self.address)
        self.assertEqual(self.ask("/healthz")[::2], (200, "ok\n"))
        self.ends_well(program)

    def test_health_while_a_handler_is_wedged(self):
        path = self.file("c.yaml", "sleep: 700ms\n")
        program, connection = self.connected("--config", path, "--http", self.address)
        connection.registration()
        connection.answer_registration()
        # A request has 150 ms: the handler is wedged from 300 ms on.
        connection.call("Configure", field(2, "containerd") + field(3, "2.4.0") + field(5, 150) + field(6, "v0.12.2"))
        connection.call("Synchronize")
        self.assertEqual(connection.create(), {})  # the guard answers
        ask_until(lambda: self.ask("/healthz")[0] == 503)
        self.assertIn("twice", self.ask("/healthz")[2])
        ask_until(lambda: self.ask("/healthz")[0] == 200)
        self.ends_well(program)

    def test_readiness(self):
        program = self.run_program("--socket", self.listener.path, "--http", self.address)
        connection = self.listener.accept()
        connection.registration()
        self.assertEqual(self.ask("/readyz")[::2], (503, "the plugin is not registered with a runtime\n"))
        connection.answer_registration()
        connection.configure()
        ask_until(lambda: "synchronised" in self.ask("/readyz")[2])
        self.assertEqual(self.ask("/readyz")[0], 503)
        connection.call("Synchronize")
        ask_until(lambda: self.ask("/readyz")[::2] == (200, "ok\n"))
        connection.close()
        ask_until(lambda: self.ask("/readyz")[0] == 503)
        self.ends_well(program)

    def test_readiness_with_a_runtime_that_never_synchronises(self):
        program = self.run_program("--socket", self.listener.path, "--http", self.address)
        connection = self.listener.accept()
        connection.registration()
        connection.answer_registration()
        connection.configure()
        ask_until(lambda: self.ask("/readyz")[0] == 200)  # 5 s
        self.ends_well(program)

    def test_nothing_else(self):
        program = self.waits("--http", self.address)
        for path in ("/", "/metric", "/metrics/", "/../metrics", "//metrics"):
            self.assertEqual(self.ask(path)[0], 404, path)
        self.assertEqual(self.ask("/healthz?verbose=1")[0], 200)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "BREW"):
            status, headers, _ = self.ask("/metrics", method)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)
        self.ends_well(program)

    def test_head(self):
        program = self.waits("--http", self.address)
        status, headers, body = self.ask("/metrics", "HEAD")
        self.assertEqual((status, body), (200, ""))
        self.assertGreater(int(headers["Content-Length"]), 100)
        self.ends_well(program)

    def test_many_requests_on_a_connection(self):
        program = self.waits("--http", self.address)
        connection = UnixConnection(self.path)
        for _ in range(100):
            self.assertEqual(self.ask("/healthz", connection=connection)[0], 200)
        connection.close()
        self.ends_well(program)


class Addresses(HttpCase):
    def served(self, address):
        program = self.waits("--http", address)
        port = int(re.search(r"serving HTTP on .*:(\d+)\n", program.err()).group(1))
        return program, port

    def test_tcp(self):
        for address, host in [("127.0.0.1:0", "127.0.0.1"), ("localhost:0", "localhost"), (":0", "127.0.0.1")]:
            with self.subTest(address):
                program, port = self.served(address)
                connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
                self.assertEqual(self.ask("/healthz", connection=connection)[0], 200)
                connection.close()
                self.ends_well(program)

    def test_tcp_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError as error:
            self.skipTest(f"no IPv6 here: {error}")
        program, port = self.served("[::1]:0")
        self.assertIn(f"[::1]:{port}", program.err())
        connection = http.client.HTTPConnection("::1", port, timeout=PATIENCE)
        self.assertEqual(self.ask("/healthz", connection=connection)[0], 200)
        connection.close()
        self.ends_well(program)

    def test_tcp_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            program = self.run_program("--http", f"127.0.0.1:{taken.getsockname()[1]}")
            self.assertEqual(program.ended(), 1)
            self.assertIn("listening on", program.err())

    def test_unix_mode_and_end(self):
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        program = self.waits("--http", self.address)
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        self.ends_well(program)
        self.assertFalse(os.path.lexists(self.path))

    def test_unix_stale_socket_is_replaced(self):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(self.path)
        program = self.waits("--http", self.address)
        self.assertEqual(self.ask("/healthz")[0], 200)
        self.ends_well(program)

    def test_unix_live_socket_is_left_alone(self):
        program = self.waits("--http", self.address)
        other = self.run_program("--http", self.address)
        self.assertEqual(other.ended(), 1)
        self.assertIn("somebody listens there already", other.err())
        self.assertEqual(self.ask("/healthz")[0], 200)
        self.ends_well(program)

    def test_unix_something_else_is_left_alone(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("precious")
        program = self.run_program("--http", self.address)
        self.assertEqual(program.ended(), 1)
        self.assertIn("is no socket", program.err())
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_unix_of_somebody_else_is_not_taken_away(self):
        program = self.waits("--http", self.address)
        os.unlink(self.path)
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(self.path)
            self.ends_well(program)
        self.assertTrue(os.path.lexists(self.path))

    def test_unix_directory_that_somebody_has_locked(self):
        """Anybody who may read a directory may lock it: that must keep no plugin from starting."""
        directory = os.open(self.directory, os.O_RDONLY)
        self.addCleanup(os.close, directory)
        fcntl.flock(directory, fcntl.LOCK_EX)
        program = self.waits("--http", self.address)
        self.assertEqual(self.ask("/healthz")[0], 200)
        self.ends_well(program)

    def test_unix_many_at_once_in_a_directory(self):
        """All of them start, as plugins do at a machine's start."""
        paths = [os.path.join(self.directory, f"{number}.sock") for number in range(12)]
        programs = [self.run_alone(number, "--http", "unix:" + path) for number, path in enumerate(paths)]
        for number, program in enumerate(programs):
            until(lambda: "start " in program.out(), os.path.join(self.directory, f"run{number}"), PATIENCE)
            self.assertIn("serving HTTP", program.err())
        for program in programs:
            self.ends_well(program)

    def run_alone(self, number, *arguments):
        """A program with its output in a directory of its own."""
        directory = os.path.join(self.directory, f"run{number}")
        os.mkdir(directory)
        missing = os.path.join(self.directory, "later", "nri.sock")
        program = Program(directory, [PROGRAM, "--socket", missing, *arguments])
        self.addCleanup(program.close)
        return program

    def test_unix_directory_is_missing(self):
        program = self.run_program("--http", "unix:" + os.path.join(self.directory, "missing", "s"))
        self.assertEqual(program.ended(), 1)
        self.assertIn("missing", program.err())


class Hostile(HttpCase):
    def closed(self, connection):
        """Reads to the end of a connection: what came."""
        text = b""
        try:
            while True:
                more = connection.recv(65536)
                if not more:
                    return text
                text += more
        except ConnectionResetError:
            return text

    def test_header_that_is_too_large(self):
        program = self.waits("--http", self.address)
        connection = self.raw()
        try:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n" + b"X: " + b"y" * 65536)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.assertNotIn(b" 200 ", self.closed(connection))
        self.assertEqual(self.ask("/healthz")[0], 200)
        self.ends_well(program)

    def test_nonsense(self):
        program = self.waits("--http", self.address)
        for text in (b"\0" * 100 + b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00" + b"\xff" * 600 + b"\r\n\r\n"):
            connection = self.raw()
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            self.assertNotIn(b" 200 ", self.closed(connection))
        self.assertEqual(self.ask("/healthz")[0], 200)
        self.ends_well(program)

    def test_slow_ones_lose_their_connections_and_others_get_theirs(self):
        """More silent connections than are served at once; the requests of the runtime are served all along."""
        program, connection = self.ready("--http", self.address)
        silent = [self.raw() for _ in range(20)]
        for one in silent:
            one.sendall(b"GET /metr")
        self.assertIn(1, connection.create())
        self.assertEqual(self.ask("/healthz")[0], 200)  # once the first of them have lost theirs: 5 s
        for one in silent:
            self.assertNotIn(b" 200 ", self.closed(one))
        self.ends_well(program)

    def test_the_last_to_come_is_served_first(self):
        """Slow ones give way to one that asks, and only as many as have to."""
        program = self.waits("--http", self.address)
        slow = [self.raw() for _ in range(40)]
        for one in slow:
            try:
                one.sendall(b"GET /metr")
            except (BrokenPipeError, ConnectionResetError):
                pass
        self.assertEqual(self.ask("/healthz")[0], 200)
        self.assertGreaterEqual(len([one for one in slow if self.is_open(one)]), 14)
        body = self.ask("/metrics")[2]
        self.assertGreaterEqual(int(re.search(r"(?m)^nri_app_http_gave_way_total (\d+)$", body).group(1)), 25)
        self.ends_well(program)

    def test_who_was_answered_keeps_a_connection_before_who_is_slow(self):
        program = self.waits("--http", self.address)
        kept = UnixConnection(self.path)
        self.addCleanup(kept.close)
        self.assertEqual(self.ask("/healthz", connection=kept)[0], 200)
        for _ in range(40):
            self.raw()
        self.assertEqual(self.ask("/healthz", connection=kept)[0], 200)  # else http.client connects anew
        self.assertEqual(self.ask("/healthz")[0], 200)
        self.ends_well(program)

    def test_no_descriptors(self):
        """The program waits a second before it tries to accept again, and beats its watchdog at 10 ms: one that
        tries without a pause does so at each turn of its loop."""
        name = os.path.join(self.directory, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as beats:
            beats.bind(name)
            beats.settimeout(PATIENCE)
            program = self.waits("--http", self.address,
                                 environment={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "20000"})
            pid, soft = program.process.pid, resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, soft[1]))
            connection = self.raw()
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            self.until(lambda: "cannot be accepted" in program.err())
            for _ in range(60):
                while not beats.recv(4096).startswith(b"WATCHDOG=1"):
                    pass
            resource.prlimit(pid, resource.RLIMIT_NOFILE, soft)
            self.assertIn(b" 200 ", self.closed(connection))
            body = self.ask("/metrics")[2]
            self.ends_well(program)
        attempts = int(re.search(r"(?m)^nri_app_http_not_accepted_total (\d+)$", body).group(1))
        self.assertGreaterEqual(attempts, 1)
        self.assertLess(attempts, 60)
        self.assertEqual(program.err().count("cannot be accepted"), 1)

    @staticmethod
    def is_open(connection):
        connection.setblocking(False)
        try:
            return connection.recv(1) != b""
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False

    def test_one_that_is_never_idle_is_ended(self):
        program = self.waits("--http", self.address)
        connection = self.raw()
        connection.sendall(b"GET /metrics HTTP/1.1\r\n")
        ended = threading.Event()

        def trickle():
            while not ended.wait(0.5):
                try:
                    connection.sendall(b"X: y\r\n")
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            self.assertEqual(self.closed(connection), b"")  # 15 s
        finally:
            ended.set()
            thread.join()
        self.assertEqual(self.ask("/healthz")[0], 200)
        self.ends_well(program)

    def test_one_that_does_not_read(self):
        program = self.waits("--http", self.address)
        connection = self.raw()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        try:
            connection.settimeout(1)
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 500)
        except OSError:
            pass
        self.assertEqual(self.ask("/healthz")[0], 200)
        self.ends_well(program)

    def test_body_of_a_get(self):
        program = self.waits("--http", self.address)
        connection = self.raw()
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\n12345")
        self.assertIn(b" 200 ", self.closed(connection))
        self.ends_well(program)

    def test_no_descriptor_leaks(self):
        program = self.waits("--http", self.address)
        descriptors = f"/proc/{program.process.pid}/fd"
        self.ask("/metrics")
        before = self.count(descriptors)
        for _ in range(200):
            self.ask("/metrics")
            self.raw().close()
        ask_until(lambda: self.count(descriptors) <= before)
        self.ends_well(program)

    @staticmethod
    def count(path):
        return len(os.listdir(path))


if __name__ == "__main__":
    unittest.main()
