#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plugin whose time of day jumps by ten years at each look (jump.c): nothing but its log shows it."""
import array
import fcntl
import os
import re
import socket
import termios
import unittest

from app_case import PATIENCE, AppCase, ask_until
from protobuf import field


class Jumps(AppCase):
    def listen(self):
        """A notification socket and what the environment says of it."""
        name = os.path.join(self.directory, "notify")
        self.receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.receiver.close)
        self.receiver.bind(name)
        self.receiver.settimeout(PATIENCE)
        return {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "20000"}

    def test_the_log_jumps(self):
        """Else the other tests show nothing."""
        program, connection = self.ready("-l", "debug")
        self.ends_well(program)
        years = {int(year) for year in re.findall(r"(?m)^(\d{4})-", program.err())}
        self.assertGreaterEqual(max(years) - min(years), 19)

    def test_deadlines(self):
        """The guard answers what is late, and what is not goes to its handler, which is never called wedged."""
        program, connection = self.connected("--config", self.file("c.yaml", "sleep: 0s\n"))
        connection.registration()
        connection.answer_registration()
        connection.call("Configure", field(2, "containerd") + field(3, "2.4.0") + field(5, 60000) + field(6, "v0.12.2"))
        connection.call("Synchronize")
        for _ in range(10):
            self.assertIn(1, connection.create())
        self.assertNotIn("answered", program.err())  # neither slowly nor late
        self.ends_well(program)

    def test_a_handler_that_is_late(self):
        program, connection = self.connected("--config", self.file("c.yaml", "sleep: 400ms\n"))
        connection.registration()
        connection.answer_registration()
        connection.call("Configure", field(2, "containerd") + field(3, "2.4.0") + field(5, 150) + field(6, "v0.12.2"))
        connection.call("Synchronize")
        self.assertEqual(connection.create(), {})
        self.assertIn("still pending shortly before its deadline", program.err())
        self.ends_well(program)

    def test_delays(self):
        """It connects again, more than once, and the watchdog is beaten meanwhile."""
        program, connection = self.ready(environment=self.listen())
        for _ in range(3):
            connection.close()
            connection = self.listener.accept()
            connection.start()
            beats = 0
            while beats < 3:
                beats += self.receiver.recv(4096).startswith(b"WATCHDOG=1")
        self.assertIn(1, connection.create())
        self.ends_well(program)

    def test_http(self):
        """A request that takes a few looks at the clock is not too slow."""
        path = os.path.join(self.directory, "http.sock")
        program = self.waits("--http", "unix:" + path)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(path)
            for part in (b"GET /healthz HTTP/1.1\r\n", b"Host: a\r\n", b"Connection: close\r\n", b"\r\n"):
                connection.sendall(part)
                ask_until(lambda: self.unsent(connection) == 0)
            self.assertIn(b" 200 ", connection.recv(4096))
        self.ends_well(program)

    @staticmethod
    def unsent(connection):
        """Bytes that the other end has not read."""
        count = array.array("i", [0])
        fcntl.ioctl(connection, termios.TIOCOUTQ, count)
        return count[0]


if __name__ == "__main__":
    unittest.main()
