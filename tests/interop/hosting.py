# SPDX-License-Identifier: Apache-2.0
"""What the tests of libnri's runtime side share: interop-host and plugins as processes that tell JSON lines."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

# Far above what any step needs: reaching it means that the awaited did not come.
PATIENCE = 60
# The runtime's time-outs where a scenario is not about them: a busy machine must not cost a good plugin its connection.
UNREACHED = 600.0

LIFE = ["RunPodSandbox", "UpdatePodSandbox", "PostUpdatePodSandbox", "CreateContainer", "PostCreateContainer",
        "StartContainer", "PostStartContainer", "UpdateContainer", "PostUpdateContainer", "StopContainer",
        "RemoveContainer", "StopPodSandbox", "RemovePodSandbox"]


class Unmet(Exception):
    """A scenario cannot go on."""


class Process:
    """A program that tells JSON lines on its standard output; all of them are kept."""

    def __init__(self, argv, **options):
        self.argv, self.lines, self.log, self.over = argv, [], [], False
        self.changed = threading.Condition()
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, **options)
        self.threads = [threading.Thread(target=self._read), threading.Thread(target=self._read_log)]
        for thread in self.threads:
            thread.start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(json.loads(line))
                self.changed.notify_all()
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line)

    @property
    def pid(self):
        return self.process.pid

    def all(self, **members):
        with self.changed:
            return [one for one in self.lines if all(one.get(k) == v for k, v in members.items())]

    def wait(self, count=1, **members):
        """The countth line with these members."""
        deadline = time.monotonic() + PATIENCE
        with self.changed:
            while True:
                found = [one for one in self.lines if all(one.get(k) == v for k, v in members.items())]
                if len(found) >= count:
                    return found[count - 1]
                if self.over or not self.changed.wait(max(0, deadline - time.monotonic())):
                    if self.over or time.monotonic() >= deadline:
                        raise Unmet("%s: not %d times %s; it told %s %s" % (
                            os.path.basename(self.argv[0]), count, members, str(self.lines)[-1500:], self.log[-5:]))

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """Ends it however it is; no process is left behind."""
        try:
            self.process.kill()
        finally:
            self.process.wait()
            for thread in self.threads:
                thread.join()
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass


class Host(Process):
    """interop-host."""

    def __init__(self, program, directory, plugins=None, configs=None, request=UNREACHED, registration=UNREACHED):
        self.socket = os.path.join(directory, "nri", "nri.sock")
        self.request, self.registration = request, registration
        times = [str(int(1000 * seconds)) for seconds in (request, registration)]
        super().__init__([program, self.socket, *times] + ([plugins, configs] if plugins else []))
        self.wait(what="ready")

    def tell(self, *words):
        self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.process.stdin.flush()

    def call(self, event, name):
        """One event; its outcome."""
        before = len(self.all(what="outcome", event=event, name=name))
        self.tell("call", event, name)
        return self.wait(count=before + 1, what="outcome", event=event, name=name)

    def lives(self, *names):
        """The whole lives of some containers at once; all outcomes."""
        before = len(self.all(what="outcome"))
        for event in LIFE:
            for name in names:
                self.tell("call", event, name)
        for name in names:
            self.wait(what="outcome", event=LIFE[-1], name=name)
        return self.all(what="outcome")[before:]

    def connected(self, plugin):
        return self.wait(what="connected", plugin=plugin)

    def lost(self, plugin):
        return self.wait(what="lost", plugin=plugin)

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def quit(self):
        """Its exit status."""
        self.tell("quit")
        return self.process.wait(PATIENCE)


class Test:
    """One scenario: its checks, and all that it started."""

    def __init__(self, report, name):
        self.report, self.started = report, []
        self.directory = tempfile.TemporaryDirectory(prefix="nri-%s-" % name)

    def start(self, made):
        self.started.append(made)
        return made

    def check(self, what, holds, seen=""):
        self.report["passed" if holds else "failed"] += 1
        print("  %s %s" % ("ok  " if holds else "FAIL", what))
        if not holds:
            print("       seen:", str(seen)[:2000])
        sys.stdout.flush()

    def equal(self, what, seen, expected):
        self.check("%s: %s" % (what, str(expected)[:200]), seen == expected, seen)

    def end(self):
        for one in reversed(self.started):
            one.kill()
        self.directory.cleanup()


def play(scenarios, wanted):
    """Plays them, or those that are wanted; the exit status."""
    report = {"passed": 0, "failed": 0}
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    for scenario in scenarios:
        if wanted and scenario.__name__ not in wanted:
            continue
        print("%s: %s" % (scenario.__name__, scenario.__doc__))
        began = time.monotonic()
        test = Test(report, scenario.__name__)
        try:
            scenario(test)
        except Unmet as why:
            test.check("it goes on", False, why)
        finally:
            test.end()
        print("  (%.1f s)" % (time.monotonic() - began))
    print("%(passed)d passed, %(failed)d failed" % report)
    return 1 if report["failed"] or not report["passed"] else 0
