#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What systemd is told."""
import os
import signal
import socket
import unittest

from app_case import PATIENCE, AppCase


class Notify(AppCase):
    def listen(self, abstract=False):
        """A notification socket and what NOTIFY_SOCKET says of it."""
        name = os.path.join(self.directory, "notify")
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(receiver.close)
        receiver.bind("\0" + name if abstract else name)
        receiver.settimeout(PATIENCE)
        self.receiver = receiver
        self.told = []
        return {"NOTIFY_SOCKET": "@" + name if abstract else name}

    def hear(self, part):
        """Receives up to the datagram that has a part: it."""
        while True:
            self.told.append(self.receiver.recv(4096).decode())
            if part in self.told[-1]:
                return self.told[-1]

    def test_life(self):
        for abstract in (False, True):
            with self.subTest(abstract=abstract):
                program, connection = self.ready(environment=self.listen(abstract))
                self.hear("READY=1")
                self.hear("STATUS=registered and synchronised")
                connection.close()
                self.hear("STATUS=waiting for the runtime")
                self.listener.accept().start()
                self.hear("STATUS=registered and synchronised")
                self.ends_well(program)
                self.hear("STOPPING=1")
                if not abstract:
                    os.unlink(os.path.join(self.directory, "notify"))

    def test_ready_without_a_runtime(self):
        """A runtime may be ordered after its plugins."""
        program = self.waits(environment=self.listen())
        self.hear("READY=1")
        self.hear("STATUS=waiting for the runtime")
        self.ends_well(program)

    def test_reload(self):
        environment = self.listen()
        program, connection = self.ready("--config", self.file("c.yaml", "greeting: a\n"), environment=environment)
        self.hear("READY=1")
        program.process.send_signal(signal.SIGHUP)
        self.assertRegex(self.hear("RELOADING=1"), r"\nMONOTONIC_USEC=\d+$")
        self.hear("READY=1")
        self.ends_well(program)

    def test_watchdog(self):
        environment = {**self.listen(), "WATCHDOG_USEC": "20000"}
        program, connection = self.ready(environment=environment)
        for _ in range(5):
            self.hear("WATCHDOG=1")
        self.ends_well(program)

    def test_watchdog_of_another_process(self):
        environment = {**self.listen(), "WATCHDOG_USEC": "1000", "WATCHDOG_PID": str(os.getpid())}
        program, connection = self.ready(environment=environment)
        self.hear("STATUS=registered and synchronised")
        self.ends_well(program)
        self.hear("STOPPING=1")
        self.assertNotIn("WATCHDOG=1", self.told)

    def test_nonsense_is_said_and_ignored(self):
        for environment, part in [
            ({"NOTIFY_SOCKET": "vsock:2:1234"}, "NOTIFY_SOCKET"),
            ({"NOTIFY_SOCKET": "/" + "x" * 200}, "NOTIFY_SOCKET"),
            ({**self.listen(), "WATCHDOG_USEC": "often"}, "WATCHDOG_USEC"),
        ]:
            with self.subTest(part):
                program, connection = self.ready(environment=environment)
                self.assertIn(part, program.err())
                self.ends_well(program)

    def test_nobody_listens(self):
        program, connection = self.ready(environment={"NOTIFY_SOCKET": os.path.join(self.directory, "none")})
        self.assertIn(1, connection.create())
        self.ends_well(program)


if __name__ == "__main__":
    unittest.main()
