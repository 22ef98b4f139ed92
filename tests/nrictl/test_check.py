#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_check.py NRICTL PROGRAMS: nrictl check, on good plugins of three kinds, on programs that are none, and on mutants."""
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree

import case

HERE = os.path.dirname(os.path.realpath(__file__))
SCRIPTED = os.path.join(os.path.dirname(case.PROGRAMS), "tests", "plugins", "scripted", "nri-scripted")
BY_HAND = [sys.executable, os.path.join(HERE, "check", "plugin.py")]
MUTANT = [sys.executable, os.path.join(HERE, "check", "mutant.py")]
TEMPLATE = os.path.join(case.PROGRAMS, "nri-template")
EXTERNAL = ["--socket", "{socket}", "--name", "{name}", "--idx", "{index}"]
DOC = os.path.join(HERE, "..", "..", "doc", "nrictl.md")
# A whole suite on a machine that does ten other things.
LONG = 900
# Limits that are reached by broken plugins only.
PATIENT = ["--timeout", "60s", "--slow", "3"]


class Check(case.Case):
    def check(self, *options, plugin, expect=case.OK):
        """The report, as JSON."""
        done = subprocess.run([case.NRICTL, "check", "--format", "json", *options, "--", *plugin], cwd=self.directory,
                              env=self.environment(), capture_output=True, text=True, timeout=LONG, check=False)
        self.assertEqual(done.returncode, expect, done.stdout[-6000:] + done.stderr)
        return json.loads(done.stdout)

    def listed(self, *options):
        return self.run_json("check", "--list", *options)


def results(report, result):
    return [one["id"] for one in report["checks"] if one["result"] == result]


class Good(Check):
    def passes(self, plugin, comes_back, all_events):
        report = self.check(*PATIENT, plugin=plugin)
        self.assertEqual(results(report, "fail"), [])
        self.assertEqual((report["failed"], report["failed_must"]), (0, 0))
        left_out = [] if comes_back else ["end.alone", "reconnect.restart", "reconnect.parts", "reconnect.older",
                                          "reconnect.refused", "growth.connections"]
        left_out += ["events.unsubscribed"] if all_events else []
        self.assertEqual(set(results(report, "not applicable")), set(left_out))
        self.assertEqual(report["plugin"]["reconnects"], comes_back)
        self.assertEqual((report["plugin"]["name"], report["plugin"]["index"]), ("checked", "42"))
        self.assertEqual([one["id"] for one in report["checks"]],
                         [one["id"] for one in self.listed() if not one["optional"]])

    def test_logger(self):
        self.passes(["nri-logger", *EXTERNAL], comes_back=False, all_events=True)

    def test_template(self):
        self.passes(["nri-template", *EXTERNAL], comes_back=False, all_events=True)

    def test_scripted(self):
        if not os.path.exists(SCRIPTED):
            self.skipTest("nri-scripted was not built")
        self.passes([SCRIPTED, *EXTERNAL], comes_back=True, all_events=True)

    def test_plugin_by_hand(self):
        self.passes([*BY_HAND, *EXTERNAL], comes_back=True, all_events=False)

    def test_launched_only(self):
        report = self.check(*PATIENT, "--skip", "hostile.*", "--skip", "growth.*", plugin=["nri-template"])
        self.assertEqual(results(report, "fail"), [])
        self.assertLessEqual({"registration.external", "registration.environment"}, set(results(report, "not applicable")))
        self.assertEqual((report["plugin"]["name"], report["plugin"]["index"]), ("launched", "07"))

    def test_optional(self):
        report = self.check(*PATIENT, "--only", "sync.51mb", plugin=["nri-logger", *EXTERNAL])
        self.assertEqual(results(report, "pass"), ["sync.51mb"])
        report = self.check(*PATIENT, "--all", "--only", "sync.*", plugin=["nri-logger", *EXTERNAL])
        self.assertIn("sync.51mb", results(report, "pass"))
        report = self.check(*PATIENT, "--only", "sync.*", plugin=["nri-logger", *EXTERNAL])
        self.assertNotIn("sync.51mb", results(report, "pass"))

    def test_plugin_that_must_not_come_back(self):
        report = self.check("--no-reconnect", "--only", "end.close-ready", plugin=[*BY_HAND, *EXTERNAL],
                            expect=case.FINDING)
        self.assertIn("came back", report["checks"][0]["seen"])
        report = self.check("--no-reconnect", "--only", "end.close-ready", "--only", "reconnect.*",
                            plugin=[*BY_HAND, "--once", *EXTERNAL])
        self.assertEqual(results(report, "pass"), ["end.close-ready"])

    def test_refusals_by_policy_are_answers(self):
        if not os.path.exists(SCRIPTED):
            self.skipTest("nri-scripted was not built")
        script = self.write("script.json", '{"rules": [{"event": "CreateContainer", "error": "never"}]}')
        report = self.check(*PATIENT, "--only", "events.*", "--only", "versions.*",
                            plugin=[SCRIPTED, "--script", script, *EXTERNAL])
        self.assertEqual(results(report, "fail"), [])
        self.assertEqual(report["plugin"]["refused"], 1 << 3)

    def test_long_answers(self):
        if not os.path.exists(SCRIPTED):
            self.skipTest("nri-scripted was not built")
        script = self.write("script.json", '{"rules": [{"event": "CreateContainer", "echo": "annotations"}]}')
        report = self.check(*PATIENT, "--only", "large.*", plugin=[SCRIPTED, "--script", script, *EXTERNAL])
        self.assertEqual(results(report, "fail"), [])


class Reports(Check):
    ONE = ["--only", "registration.*", "--", "nri-template", *EXTERNAL]
    # A must and a should fail, one is not applicable: a plugin by hand that is given no name.
    FAILS = ["--only", "registration.environment", "--only", "registration.identity", "--only", "end.alone", "--",
             *BY_HAND, "--once", "--socket", "{socket}", "--name", "a,b\x1b[2J", "--idx", "{index}"]

    def test_text(self):
        text = self.run_nrictl("check", *self.ONE).stdout
        self.assertEqual(len(re.findall(r"^pass  registration\.", text, re.M)), 7)
        self.assertIn("plugin 42-checked, made for NRI v0.12.2, 14 events, does not come back\n", text)
        self.assertTrue(text.endswith("7 checks: 7 passed, 0 failed (0 must, 0 should), 0 not applicable\n"))
        text = self.run_nrictl("check", *self.FAILS, expect=case.FINDING).stdout
        self.assertRegex(text, r"(?m)^FAIL  registration\.identity ")
        self.assertRegex(text, r"(?m)^fail  registration\.environment .* \(should\)$")
        self.assertIn("seen: the name 'a,b\\x1b[2J'\n", text)
        self.assertIn("expected: a name of A-Z", text)
        self.assertIn("why it matters: runtimes refuse others", text)
        self.assertIn("because: it ends with its runtime", text)
        self.assertIn("3 checks: 0 passed, 2 failed (1 must, 1 should), 1 not applicable\n", text)
        self.assertNotIn("\x1b", text)

    def test_colours(self):
        text = self.run_nrictl("check", "--color", "always", *self.FAILS, expect=case.FINDING).stdout
        self.assertIn("\x1b[31mFAIL\x1b[0m", text)
        self.assertNotIn("\x1b[2J", text)

    def test_output_is_shown(self):
        text = self.run_nrictl("check", "--only", "registration.identity", "--", "sh", "-c",
                               "echo a line; printf 'evil \\033[2J\\n' >&2; exit 4", expect=case.FINDING).stdout
        self.assertIn("ended with status 4", text)
        self.assertIn("| a line\n", text)
        self.assertIn("| evil \\x1b[2J\n", text)

    def test_json(self):
        report = json.loads(self.run_nrictl("check", "-o", "json", *self.FAILS, expect=case.FINDING).stdout)
        self.assertEqual(list(report), ["plugin", "passed", "failed", "failed_must", "not_applicable", "checks"])
        self.assertEqual((report["passed"], report["failed"], report["failed_must"], report["not_applicable"]), (0, 2, 1, 1))
        one = report["checks"][0]
        self.assertEqual(list(one), ["id", "severity", "title", "expected", "why", "result", "seen", "milliseconds", "output"])
        self.assertEqual(json.loads(self.run_nrictl("check", "--format", "json", *self.ONE).stdout)["passed"], 7)

    def test_junit(self):
        suite = xml.etree.ElementTree.fromstring(
            self.run_nrictl("check", "--format", "junit", *self.FAILS, expect=case.FINDING).stdout)
        self.assertEqual({key: suite.get(key) for key in ("tests", "failures", "skipped", "errors")},
                         {"tests": "3", "failures": "1", "skipped": "2", "errors": "0"})
        kinds = {one.get("name"): [inner.tag for inner in one if inner.tag != "system-out"] for one in suite}
        self.assertEqual(kinds, {"registration.environment": ["skipped"], "registration.identity": ["failure"],
                                 "end.alone": ["skipped"]})
        self.assertEqual(suite[0].get("classname"), "registration")

    def test_tap(self):
        lines = self.run_nrictl("check", "--format", "tap", *self.FAILS, expect=case.FINDING).stdout.splitlines()
        self.assertEqual(lines[:3], ["TAP version 13", "1..3", "not ok 1 - registration.environment # TODO should"])
        self.assertIn("not ok 2 - registration.identity", lines)
        self.assertIn("ok 3 - end.alone # SKIP it ends with its runtime", lines)
        self.assertIn("  seen: 'the name ''a,b\\x1b[2J'''", lines)

    def test_list(self):
        checks = self.listed()
        ids = [one["id"] for one in checks]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreater(len(ids), 80)
        text = self.run_nrictl("check", "--list").stdout
        for one in checks:
            self.assertRegex(text, r"(?m)^%s +%s +" % (re.escape(one["id"]), one["severity"]))
        self.assertEqual([one["id"] for one in self.listed("--only", "sync.*", "--skip", "*.empty*")],
                         ["sync.whole", "sync.split", "sync.large", "sync.51mb"])

    def test_keep(self):
        for _ in range(2):  # what was there is replaced
            self.run_nrictl("check", "--keep", "kept", "--only", "order.*", "--", "nri-template", *EXTERNAL)
        names = ["first-look", "order.configure", "order.no-synchronize", "order.synchronize"]
        self.assertEqual(sorted(os.listdir(self.path("kept"))), [name + ".output" for name in names])
        self.assertIn("configured by containerd 2.3.4", self.read("kept/order.configure.output"))
        self.refused("check", "--keep", "absent/kept", "--only", "order.*", "--", "nri-template", *EXTERNAL,
                     says="--keep absent/kept: No such file", expect=case.ENVIRONMENT)


class Documentation(Check):
    def test_table(self):
        with open(DOC, encoding="utf-8") as file:
            documented = [line for line in file.read().splitlines() if re.match(r"\| (must|should)(, optional)? \| `", line)]
        rows = ["| %s%s | `%s` | %s | %s | %s |" % (one["severity"], ", optional" if one["optional"] else "", one["id"],
                                                  one["title"], one["expected"], one["why"]) for one in self.listed()]
        self.assertEqual(documented, rows)


class Wrong(Check):
    def test_usage(self):
        self.refused("check", says="a plugin's command line is needed")
        self.refused("check", "--only", "no.such", "--", "x", says="--only 'no.such' is the name of no check")
        self.refused("check", "--skip", "", "--", "x", says="--skip '' is the name of no check")
        self.refused("check", "--only", "sync.*", "--skip", "sync.*", "--", "x", says="leave no check")
        self.refused("check", "--timeout", "0", "--", "x", says="--timeout is a time")
        self.refused("check", "--timeout", "2h", "--", "x", says="--timeout is a time")
        self.refused("check", "--slow", "0", "--", "x", says="--slow is a number from 1 to 1000")
        self.refused("check", "--tolerance", "-1", "--", "x", says="--tolerance is a number")
        self.refused("check", "--format", "xml", "--", "x", says="text, json, junit or tap, not 'xml'")
        self.refused("check", *["--only", "sync.*"] * 33, "--", "x", says="--only may be given 32 times")

    def test_no_program(self):
        self.refused("check", "--", "./no-such-plugin", says="./no-such-plugin: No such file", expect=case.ENVIRONMENT)
        self.refused("check", "--", "./config.json", says="./config.json: Permission denied", expect=case.ENVIRONMENT)

    def test_program_that_is_no_plugin(self):
        report = self.check("--timeout", "5s", plugin=["true"], expect=case.FINDING)
        self.assertIsNone(report["plugin"])
        self.assertIn("registration.launched", results(report, "fail"))
        self.assertEqual([one["seen"] for one in report["checks"] if one["id"] == "sync.empty"], ["it does not register"])

    def test_plugin_that_says_nothing(self):
        report = self.check("--timeout", "200ms", "--only", "registration.launched", plugin=["sleep", "600"],
                            expect=case.FINDING)
        self.assertEqual(report["checks"][0]["seen"], "nothing came in 200 ms while RegisterPlugin was awaited")

    def test_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.setUp()
                above = os.path.dirname(self.directory)
                os.mkfifo(self.path("fifo"))
                process = subprocess.Popen([case.NRICTL, "check", "--only", "order.*", "--timeout", "10m", "--", "sh", "-c",
                                            "echo $$ > fifo; exec sleep 600"], cwd=self.directory,
                                           env={**self.environment(), "TMPDIR": above}, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True)
                with open(self.path("fifo"), encoding="ascii") as fifo:
                    plugin = int(fifo.read())
                process.send_signal(number)
                out, err = process.communicate(timeout=case.PATIENCE)
                self.assertEqual(process.returncode, case.ENVIRONMENT, out + err)
                self.assertIn("interrupted: 3 checks were not run", err)
                self.assertEqual(os.listdir(above), ["examples"])
                with self.assertRaises(ProcessLookupError):
                    os.kill(plugin, 0)


# ---- mutants ----

# Each reply of a good plugin dropped, delayed until the runtime says more, sent twice, on another stream, cut, longer than any
# message may be, and garbage: the check that is meant to see it.
RULES = ("drop", "delay", "double", "wrong-id", "cut", "oversized", "garbage")
MEANT = {
    "RegisterPlugin": "registration.first",
    "Configure": "events.mask",
    "Synchronize": "sync.whole",
    "event": "events.many",
    "Shutdown": "end.shutdown",
    "unknown": "unknown.method",
}

# Each check with one of the rules: what is broken in those that tell no event before their end.
WITHOUT_EVENTS = {
    **dict.fromkeys(("registration.identity", "registration.time", "registration.refused", "deadline.gone", "end.close-unanswered",
                     "end.close-registered", "end.close-configuring", "end.close-in-frame", "end.close-between-parts",
                     "end.close-ready", "end.close-in-event", "end.half-closed", "end.sigterm", "end.sigterm-early"),
                    "RegisterPlugin"),
    **dict.fromkeys(("events.mask", "events.mask-old"), "Configure"),
    "end.shutdown": "Shutdown",
}
# No reply is looked at, or none where a plugin does not come back or wants all events; or it takes too long.
NO_REPLY = ("end.close-at-once", "end.alone", "events.unsubscribed", "hostile.random", "hostile.lengths", "reconnect.", "growth.",
            "sync.51mb")

# What each check is for: a plugin with that fault, and the check that sees it. Names are of check/mutant.py.
BEHAVIOURS = [
    ("registration.external", "Renamed"),
    ("registration.environment", "Renamed"),
    ("registration.launched", "Renamed"),
    ("registration.identity", "BadIndex"),
    ("registration.first", "wrong-id:RegisterPlugin"),
    ("registration.time", "Slow"),
    ("registration.refused", "Stays"),
    ("order.configure", "WaitsForRegistration"),
    ("order.synchronize", "SynchronizesLater"),
    ("order.no-synchronize", "NeedsSynchronize"),
    ("cuts.bytes", "OneRead"),
    ("cuts.header", "OneRead"),
    ("cuts.each", "OneRead"),
    ("cuts.frames", "FrameIsMessage"),
    ("cuts.together", "FirstOfRead"),
    ("cuts.shared", "FrameIsMessage"),
    ("cuts.odd", "Strict"),
    ("cuts.large-4097", "FrameIsMessage"),
    ("cuts.large-64k", "FrameIsMessage"),
    ("sync.empty", "AlwaysMore"),
    ("sync.whole", "AlwaysMore"),
    ("sync.split", "NoMore"),
    ("sync.split", "UpdatesPart"),
    ("sync.empty-part", "NoMore"),
    ("sync.large", "Small"),
    ("sync.51mb", "Small"),
    ("events.own-calls", "Classic"),
    ("events.state-change", "Modern"),
    ("events.unsubscribed", "CreatesOnly"),
    ("events.mask", "UnknownBit"),
    ("events.mask-old", "Masks"),
    ("events.many", "double:event"),
    ("versions.0.6.1", "Refuses=" + b"1.7.24".hex()),
    ("versions.0.7.0", "Refuses=" + b"2.0.0-beta.0".hex()),
    ("versions.0.8.0", "Refuses=" + b"2.1.9+unknown".hex()),
    ("versions.0.9.0", "Refuses=" + b"cri-o".hex()),
    ("versions.0.10.0", "Refuses=" + b"example.com/gpu=0".hex()),
    ("versions.0.11.0", "Refuses=" + b"net.ipv4.ip_forward".hex()),
    ("versions.0.12.2", "Refuses=" + b"v0.12.2".hex()),
    ("versions.newer", "Refuses=" + b"v0.99.0".hex()),
    ("unknown.fields", "Refuses=" + b"from later".hex()),
    ("unknown.inner-fields", "Refuses=" + b"/later".hex()),
    ("unknown.enums", "Refuses=2063"),
    ("unknown.event", "Refuses=08c801"),
    ("unknown.method", "Agrees"),
    ("unknown.service", "Agrees"),
    ("streams.parallel", "OneAtATime"),
    ("streams.skipped", "SmallStreams"),
    ("streams.wrong", "Agrees"),
    ("streams.type", "Types"),
    ("streams.data", "Types"),
    ("streams.response", "Types"),
    ("deadline.absent", "NeedsTimeout"),
    ("deadline.odd", "Deadlines"),
    ("deadline.passed", "Deadlines"),
    ("deadline.late", "Late"),
    ("deadline.gone", "Stays"),
    ("deadline.metadata", "Refuses=" + b"twice".hex()),
    ("end.close-at-once", "Stays"),
    ("end.close-unanswered", "Stays"),
    ("end.close-registered", "Stays"),
    ("end.close-configuring", "Stays"),
    ("end.close-in-frame", "Stays"),
    ("end.close-between-parts", "Stays"),
    ("end.close-ready", "Stays"),
    ("end.close-in-event", "Stays"),
    ("end.half-closed", "Holds"),
    ("end.shutdown", "refused:Shutdown"),
    ("end.idle", "Spins"),
    ("end.alone", "Spins"),
    ("end.sigterm", "Deaf"),
    ("end.sigterm", "BadStatus"),
    ("end.sigterm-early", "Deaf"),
    ("reconnect.restart", "BackRenamed"),
    ("reconnect.restart", "BackTwice"),
    ("reconnect.parts", "BackInPart"),
    ("reconnect.older", "BackWithMask"),
    ("reconnect.refused", "BackOnce"),
    ("large.4mib", "Small"),
    ("large.4mib", "SmallFrames"),
    ("large.row", "Small"),
    ("large.8mib", "Small"),
    ("large.16mib", "Small"),
    ("hostile.random", "Crashes=" + "ff" * 20),
    ("hostile.lengths", "Crashes=" + "ff" * 20),
    ("hostile.protobuf", "Crashes=0a7f61"),
    ("hostile.nesting", "Crashes=" + "0b" * 30),
    ("hostile.bomb", "Bombed"),
    ("hostile.mutated", "Mutilated"),
    ("hostile.flood", "Flooded"),
    ("growth.events", "Leaks"),
    ("growth.events", "LeaksDescriptors"),
    ("growth.connections", "LeaksConnections"),
]
# Nothing comes of the mutant, or nothing more: how long that is awaited. Others have the patience of good plugins.
SILENT = "4s"


class Mutants(Check):
    def one(self, check, mutant, inner=TEMPLATE):
        """How the check ended, and what it says."""
        done = subprocess.run([case.NRICTL, "check", "--format", "json", "--timeout", SILENT, "--only", check, "--", *MUTANT,
                               check, mutant, inner, "--directory", "{directory}", *EXTERNAL], cwd=self.directory,
                              env=self.environment(), capture_output=True, text=True, timeout=LONG, check=False)
        try:
            report = json.loads(done.stdout)["checks"][0]
        except (ValueError, IndexError):
            return "no report", done.stdout + done.stderr
        return report["result"], "%s (%s)" % (report["seen"], report["severity"])

    def caught(self, pairs):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            ended = list(pool.map(lambda pair: self.one(*pair), pairs))
        missed = [(pair, end) for pair, end in zip(pairs, ended) if end[0] != "fail"]
        self.assertEqual(missed, [])
        for pair, end in zip(pairs, ended):
            print("    %-26s %-26s %s" % (*pair, end[1][:160]))

    def test_by_rule(self):
        self.caught([(check, "%s:%s" % (rule, message)) for message, check in MEANT.items() for rule in RULES])

    def test_each_check_by_a_rule(self):
        checks = [one["id"] for one in self.listed() if not one["id"].startswith(NO_REPLY)]
        pairs = []
        for at, check in enumerate(checks):
            message, rule = WITHOUT_EVENTS.get(check, "each"), RULES[at % len(RULES)]
            if (rule, message) == ("wrong-id", "RegisterPlugin"):
                rule = "drop"  # a call may leave out stream ids
            pairs.append((check, "%s:%s" % (rule, message)))
        self.caught(pairs)

    def test_by_behaviour(self):
        self.caught(BEHAVIOURS)

    def test_the_last_reply_twice(self):
        # Behind it comes nothing that these checks ask for.
        self.caught([(check, "double:first") for check in ("cuts.bytes", "cuts.together", "order.no-synchronize",
                                                           "registration.launched", "deadline.metadata")])

    def test_each_check_has_one(self):
        self.assertEqual({check for check, _ in BEHAVIOURS}, {one["id"] for one in self.listed()})

    def test_the_proxy_alone_is_no_fault(self):
        report = self.check(*PATIENT, "--skip", "growth.*",
                            plugin=[*MUTANT, "none", "drop:none", TEMPLATE, "--directory", "{directory}", *EXTERNAL])
        # It cuts frames anew, and gives up on bytes that are no runtime's.
        self.assertEqual(results(report, "fail"), [])


case.main()
