# SPDX-License-Identifier: Apache-2.0
"""A plugin process whose standard output is one JSON object a line, and waiting for what it tells."""

import json
import os
import shutil
import subprocess
import threading
import time

import node
from harness import PATIENCE, Unmet

CLASSIC_EVENTS = [
    "RunPodSandbox",
    "CreateContainer",
    "PostCreateContainer",
    "StartContainer",
    "PostStartContainer",
    "UpdateContainer",
    "PostUpdateContainer",
    "StopContainer",
    "RemoveContainer",
    "StopPodSandbox",
    "RemovePodSandbox",
]


# Written to a FIFO by its reader's owner: a FIFO that several programs write to has no end of its own.
THE_END = {"event": "the end of the scenario"}


class Lines:
    """The records that a stream has carried so far, read by a thread of their own."""

    def __init__(self, stream):
        self._stream = stream
        self._changed = threading.Condition()
        self._records = []
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        for line in self._stream:
            try:
                record = json.loads(line)
            except ValueError:
                record = {"event": "not JSON", "line": line}
            if record == THE_END:
                break
            with self._changed:
                self._records.append(record)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def all(self):
        with self._changed:
            return list(self._records)

    def wait(self, event, count=1, **fields):
        """The COUNTth record of EVENT whose members equal FIELDS; raises Unmet when it does not come."""
        end = time.monotonic() + PATIENCE
        with self._changed:
            while True:
                found = select(self._records, event, **fields)
                if len(found) >= count:
                    return found[count - 1]
                left = end - time.monotonic()
                if self._ended or left <= 0:
                    break
                self._changed.wait(left)
            state = "ended" if self._ended else "still open"
            last = [record.get("event") for record in self._records[-20:]]
        raise Unmet("no event %s %s; the output is %s, its last events: %s" % (event, fields or "", state, last))

    def join(self):
        """Wait until everything written is read; for a process that has ended."""
        self._thread.join(PATIENCE)


def select(records, event, **fields):
    return [
        record
        for record in records
        if record.get("event") == event and all(record.get(key) == value for key, value in fields.items())
    ]


class Plugin:
    """An external plugin: started by the test, connected through the NRI socket."""

    def __init__(self, run, program, *options, name="e2e", idx="10", ready="Synchronize", **environment):
        self.process = subprocess.Popen(
            [program, "--name", name, "--idx", idx, "--socket", node.NRI_SOCKET, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ, **environment),
        )
        self.lines = Lines(self.process.stdout)
        self._log = []
        self._log_thread = threading.Thread(target=lambda: self._log.extend(self.process.stderr), daemon=True)
        self._log_thread.start()
        run.callback(self._clean)
        self.wait = self.lines.wait
        if ready is not None:
            try:
                self.wait(ready)
            except Unmet as unmet:
                raise Unmet("%s\n       its log: %s" % (unmet, "".join(self._log)[-1500:])) from None

    def events(self):
        """The NRI events received so far, in order."""
        return [record for record in self.lines.all() if record.get("event") in CLASSIC_EVENTS]

    def log(self):
        """The lines on standard error of a process that has ended."""
        self._log_thread.join(PATIENCE)
        return [line.rstrip("\n") for line in self._log]

    def signal(self, number):
        self.process.send_signal(number)

    def ended(self):
        """The exit status, once the process has ended by itself."""
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Unmet("the plugin does not end") from None
        self.lines.join()
        return status

    def _clean(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        self.lines.join()
        self._log_thread.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()


class Installed:
    """A pre-installed plugin: a program in the runtime's plugin directory with a configuration file. The runtime gives
    its output no place to go, so the configuration names a FIFO to write to."""

    def __init__(self, run, program, file_name, *config, config_name=None):
        os.makedirs(node.PLUGIN_DIR, exist_ok=True)
        os.makedirs(node.CONFIG_DIR, exist_ok=True)
        path = os.path.join(node.PLUGIN_DIR, file_name)
        self.config_path = os.path.join(node.CONFIG_DIR, (config_name or file_name) + ".conf")
        fifo = "/run/nri-e2e-%s.fifo" % file_name
        os.mkfifo(fifo)
        # Opened for both directions, the FIFO is never at its end while a plugin comes and goes.
        self._fd = os.open(fifo, os.O_RDWR | os.O_CLOEXEC)
        self.config = "".join(line + "\n" for line in ("output=" + fifo, *config))
        shutil.copy(program, path)
        with open(self.config_path, "w", encoding="utf-8") as file:
            file.write(self.config)
        self._paths = (path, self.config_path, fifo)
        run.callback(self._clean)
        self.lines = Lines(os.fdopen(os.dup(self._fd), encoding="utf-8"))
        self.wait = self.lines.wait

    def events(self):
        return [record for record in self.lines.all() if record.get("event") in CLASSIC_EVENTS]

    def _clean(self):
        os.write(self._fd, json.dumps(THE_END).encode() + b"\n")
        self.lines.join()
        os.close(self._fd)
        for path in self._paths:
            os.unlink(path)
