# SPDX-License-Identifier: Apache-2.0
"""Recordings made by hand, and programs that are recorded: doc/recording.md is the source of the form."""
import json
import os
import signal
import struct
import subprocess
import time
import zlib

import case

START, OPEN, BYTES, CLOSED, END, LOST = range(1, 7)
TO_RUNTIME, TO_PLUGIN = 1, 2


def header(version=1):
    first = b"\x89NRIREC\n" + struct.pack(">HH", version, 0)
    return first + struct.pack(">I", zlib.crc32(first))


def record(kind, data=b"", direction=0, connection=1, time_ns=10**18):
    first = b"\xa7NRR" + struct.pack(">BBHIIQI", kind, direction, 0, connection, len(data), time_ns, zlib.crc32(data))
    return first + struct.pack(">I", zlib.crc32(first)) + data


def records(path):
    """(kind, direction, connection, data) of a file that has no damage."""
    with open(path, "rb") as file:
        text = file.read()
    assert text[:16] == header(), text[:16]
    at, found = 16, []
    while at < len(text):
        mark, kind, direction, zero, connection, size, _, data_sum, own_sum = struct.unpack(">4sBBHIIQII", text[at:at + 32])
        data = text[at + 32:at + 32 + size]
        assert mark == b"\xa7NRR" and zero == 0 and len(data) == size, at
        assert zlib.crc32(text[at:at + 28]) == own_sum and zlib.crc32(data) == data_sum, at
        found.append((kind, direction, connection, data))
        at += 32 + size
    return found


def sent(path, direction, connection=1):
    return b"".join(r[3] for r in records(path) if r[:3] == (BYTES, direction, connection))


class RecordingCase(case.Case):
    def lines(self, *arguments, expect=case.OK):
        """What decode says as JSON lines: all but the summary, and the summary."""
        text = self.run_nrictl("decode", "--output", "json", *arguments, expect=expect).stdout
        lines = [json.loads(line) for line in text.splitlines()]
        return lines[:-1], lines[-1]

    def put(self, name, *parts):
        with open(self.path(name), "wb") as file:
            file.write(b"".join(parts))
        return name

    def start(self, *command, **options):
        """A program that is ended with the test, at the latest."""
        process = subprocess.Popen(command, cwd=self.directory, env=options.pop("env", None) or self.environment(), **options)
        self.addCleanup(self.end, process)
        return process

    def end(self, process, number=signal.SIGTERM):
        if process.poll() is None:
            process.send_signal(number)
        try:
            code = process.wait(case.PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                stream.close()
        return code

    def wait_for(self, condition, what):
        # For a state that no event tells of, such as another program's socket.
        limit = time.monotonic() + case.PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), limit, what)
            time.sleep(0.01)

    def recorder(self, *arguments, **options):
        """nrictl record, once plugins can connect: at ./nri.sock, to ./runtime.sock."""
        process = self.start(case.NRICTL, "record", "--listen", "nri.sock", "--connect", "runtime.sock", "--output-file",
                             "new.rec", *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.wait_for(lambda: process.poll() is not None or os.path.exists(self.path("nri.sock")), "no socket")
        self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
        return process

    def ended(self, process, expect=case.OK):
        """What a recorder said, once SIGTERM has ended it."""
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=case.PATIENCE)
        self.assertEqual(process.returncode, expect, out + err)
        self.assertFalse(os.path.exists(self.path("nri.sock")))
        return out, err

    def wrap(self, command, name="10-logger"):
        """A plugin directory in which `command`, of shell, stands for a plugin."""
        with open(self.path("plugins", name), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec %s\n" % command)
        os.chmod(self.path("plugins", name), 0o755)

    def program(self, name):
        return os.path.join(case.PROGRAMS, name)

    def run_runtime(self):
        """One container's life with the plugins of ./plugins, and what the runtime said."""
        done = subprocess.run([self.program("mini-runtime"), "-r", "true", "-p", "plugins", "."], cwd=self.directory,
                              env=self.environment(), capture_output=True, text=True, timeout=case.PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done
