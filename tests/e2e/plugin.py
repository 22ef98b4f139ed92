# SPDX-License-Identifier: Apache-2.0
"""A plugin process whose standard output is one JSON object a line, and waiting for what it tells."""

import json
import os
import signal
import subprocess

import node
from harness import PATIENCE, Unmet
from stream import Stream

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
THE_END = "the scenario is over\n"


def parse_record(line):
    try:
        return json.loads(line)
    except ValueError:
        return {"event": "not JSON", "line": line}


def select(records, event, **fields):
    """The records of an event whose members equal FIELDS."""
    return [
        record
        for record in records
        if record.get("event") == event and all(record.get(key) == value for key, value in fields.items())
    ]


class Told:
    """What a plugin tells: its output as records."""

    def __init__(self, file, last=None):
        self._stream = Stream(file, parse_record, last)

    def records(self):
        return self._stream.all()

    def events(self):
        """The classic NRI events received so far, in order."""
        return [record for record in self.records() if record.get("event") in CLASSIC_EVENTS]

    def wait(self, event, **fields):
        """The first record of EVENT whose members equal FIELDS; raises Unmet when it does not come."""
        what = "event %s %s" % (event, fields or "")
        return self._stream.wait(lambda record: bool(select([record], event, **fields)), what)


class Plugin(Told):
    """An external plugin: started by the test, connected through the NRI socket. Events reach it from then on, because
    containerd has said that it is connected."""

    def __init__(self, run, program, *options, name="e2e", idx="10"):
        self.process = subprocess.Popen(
            [program, "--name", name, "--idx", idx, "--socket", node.NRI_SOCKET, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        run.callback(self._clean)
        super().__init__(self.process.stdout)
        self._log = Stream(self.process.stderr)
        try:
            run.node.wait_connected("%s-%s" % (idx, name))
        except Unmet as unmet:
            raise Unmet("%s\n       the plugin's log: %s" % (unmet, "\n".join(self._log.all())[-1500:])) from None

    def log(self):
        """The lines on standard error of a process that has ended."""
        self._log.join()
        return self._log.all()

    def signal(self, number):
        self.process.send_signal(number)

    def ended(self):
        """The exit status, once the process has ended by itself."""
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Unmet("the plugin does not end") from None
        self._stream.join()
        return status

    def stops_quietly(self, run):
        """SIGTERM ends it with status 0, and it had nothing to warn about in all its life."""
        self.signal(signal.SIGTERM)
        run.equal("the plugin's exit status on SIGTERM", self.ended(), 0)
        run.equal("warnings in its log", self.log(), [])

    def _clean(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        self._stream.join()
        self._log.join()
        self.process.stdout.close()
        self.process.stderr.close()


class Installed(Told):
    """A pre-installed plugin: a program in the runtime's plugin directory with a configuration file. The runtime gives
    its output no place to go, so the configuration names a FIFO to write to."""

    def __init__(self, run, program, file_name, *config, config_name=None):
        os.makedirs(node.PLUGIN_DIR, exist_ok=True)
        os.makedirs(node.CONFIG_DIR, exist_ok=True)
        path = os.path.join(node.PLUGIN_DIR, file_name)
        config_path = os.path.join(node.CONFIG_DIR, (config_name or file_name) + ".conf")
        fifo = "/run/nri-e2e-%s.fifo" % file_name
        os.mkfifo(fifo)
        # Opened for both directions, the FIFO is never at its end while a plugin comes and goes.
        self._fd = os.open(fifo, os.O_RDWR | os.O_CLOEXEC)
        self.config = "".join(line + "\n" for line in ("output=" + fifo, *config))
        os.symlink(program, path)
        with open(config_path, "w", encoding="utf-8") as file:
            file.write(self.config)
        self._paths = (path, config_path, fifo)
        run.callback(self._clean)
        super().__init__(os.fdopen(os.dup(self._fd), encoding="utf-8"), THE_END)

    def _clean(self):
        os.write(self._fd, THE_END.encode())
        self._stream.join()
        os.close(self._fd)
        for path in self._paths:
            os.unlink(path)
