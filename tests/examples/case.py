# SPDX-License-Identifier: Apache-2.0
"""What the tests of example programs start with: a directory, a runtime's socket, programs."""
import os
import signal
import subprocess
import tempfile
import time
import unittest

from runtime import PATIENCE, Listener


class Program:
    """A running program; its standard output and error are files unless given."""

    def __init__(self, directory, command, stdout=None, stderr=None, environment=None, pass_fds=(),
                 preexec_fn=None):
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("NRI_PLUGIN_")}
        self._out = open(os.path.join(directory, "stdout"), "w+b", buffering=0)
        self._err = open(os.path.join(directory, "stderr"), "w+b", buffering=0)
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self._out if stdout is None else stdout,
            stderr=self._err if stderr is None else stderr,
            pass_fds=pass_fds,
            preexec_fn=preexec_fn,
            env={**inherited, **(environment or {})},
        )

    @staticmethod
    def _read(file):
        return os.pread(file.fileno(), 1 << 24, 0).decode()

    def out(self):
        return self._read(self._out)

    def err(self):
        return self._read(self._err)

    def ended(self):
        """Waits for the end: the exit status."""
        return self.process.wait(PATIENCE)

    def end(self, number=signal.SIGTERM):
        """Sends a signal: the exit status and the seconds that the end took."""
        began = time.monotonic()
        self.process.send_signal(number)
        return self.ended(), time.monotonic() - began

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._out.close()
        self._err.close()


class Case(unittest.TestCase):
    program = None  # the path of the program under test

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="nri-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.listener = Listener(self.directory)
        self.addCleanup(self.listener.close)

    def installed_as(self, name):
        """The program under another name. A link: the library is found beside the original."""
        path = os.path.join(self.directory, name)
        os.symlink(self.program, path)
        return path

    def run_program(self, *arguments, name=None, **kwargs):
        path = self.program if name is None else self.installed_as(name)
        program = Program(self.directory, [path, *arguments], **kwargs)
        self.addCleanup(program.close)
        return program

    def connected(self, *arguments, **kwargs):
        """Runs the program as 10-test against the listener: the program and its connection."""
        socket = ["--socket", self.listener.path]
        program = self.run_program("--idx", "10", "--name", "test", *socket, *arguments, **kwargs)
        return program, self.listener.accept()
