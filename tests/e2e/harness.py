# SPDX-License-Identifier: Apache-2.0
"""Named checks, the list of scenarios, and the cleaning up after each."""

import contextlib
import sys
import time
import traceback

SCENARIOS = {}

# Far above what any step needs; reaching it means that the awaited event did not come.
PATIENCE = 20.0


class Unmet(Exception):
    """An awaited event did not come: the scenario cannot go on."""


def scenario(function):
    """Register FUNCTION(run) under its own name; its docstring is what the report prints."""
    SCENARIOS[function.__name__] = function
    return function


class Run(contextlib.ExitStack):
    """One scenario in progress: counts its checks and owns all that it starts."""

    def __init__(self, report, version):
        super().__init__()
        self.report = report
        self.version = version

    def check(self, what, holds, seen=None):
        """Count one expectation, and show what was seen instead when it does not hold."""
        self.report.passed += bool(holds)
        self.report.failed += not holds
        print("  %s %s" % ("ok  " if holds else "FAIL", what), flush=True)
        if not holds and seen is not None:
            print("       seen: %s" % (str(seen)[:2000],), flush=True)
        return bool(holds)

    def equal(self, what, seen, expected):
        return self.check("%s: %s" % (what, short(expected)), seen == expected, short(seen))

    def note(self, text):
        """Tell what the runtime does where this project has no expectation."""
        print("  note %s" % text, flush=True)


class Report:
    """The sum over all scenarios."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def play(self, name, version):
        function = SCENARIOS[name]
        print("%s: %s" % (name, " ".join((function.__doc__ or "").split())), flush=True)
        began = time.monotonic()
        run = Run(self, version)
        try:
            with run:
                function(run)
        except Unmet as unmet:
            run.check("%s goes on" % name, False, unmet)
        except Exception as error:  # a fault of the runtime or of the driver: the other scenarios still run
            if hasattr(error, "details"):  # gRPC's own text is long
                traceback.print_tb(error.__traceback__, limit=3, file=sys.stdout)
                print("       %s" % error.details())
            else:
                traceback.print_exc(file=sys.stdout)
            run.check("%s ends without an exception" % name, False)
        print("  (%.1f s)" % (time.monotonic() - began), flush=True)

    def end(self):
        print("%d passed, %d failed" % (self.passed, self.failed), flush=True)
        return 1 if self.failed or not self.passed else 0


def short(value):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 400 else "%s... (%d characters)" % (text[:400], len(text))
