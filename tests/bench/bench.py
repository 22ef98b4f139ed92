#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py BUILD RECORDING [--json FILE]: what one CreateContainer costs a libnri plugin.

Instructions and allocations are counted (valgrind); times stand beside a floor of the same run, and only their ratio says
something. Run it on a build with optimisation: tools/bench.sh does.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

FEW, MANY = 200, 1200
LIVES = 100000, 1000000  # events; the difference of a long and a short run counts
SYNC_ROUNDS = 7
GO_VERSION = "0.12.5"


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("bench: %s failed:\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return done


def values(text):
    lines = (line.split() for line in text.splitlines() if not line.startswith("{"))  # the Go plugin's own words
    return {name: float(value) for name, value in lines}


class Bench:
    def __init__(self, build, recording, scratch):
        self.recording, self.scratch = recording, scratch
        here = os.path.join(build, "tests", "bench")
        self.driver, self.plugin, self.plain, self.floor, self.unpack = (
            os.path.join(here, "bench_" + name) for name in ("driver", "plugin", "plain", "floor", "unpack"))
        self.here, self.build = here, build
        self.library = os.path.realpath(os.path.join(build, "lib", "libnri.so"))
        self.logger = os.path.join(build, "examples", "nri-logger")
        self.logger_static = os.path.join(here, "nri-logger-static")

    def instructions(self, *command):
        out = os.path.join(self.scratch, "callgrind.out")
        run(*command[0], shutil.which("valgrind"), "--tool=callgrind", "--callgrind-out-file=" + out, *command[1])
        with open(out, encoding="ascii", errors="replace") as file:
            return int(re.search(r"^summary: (\d+)", file.read(), re.MULTILINE).group(1))

    def per_request(self, count):
        """The difference of a long and a short run, so that starting and ending do not count."""
        return (count(MANY) - count(FEW)) / (MANY - FEW)

    def plugin_instructions(self, count):
        return self.instructions([self.driver, "feed", self.recording, str(count)], [self.plugin])

    def plain_instructions(self, count):
        return self.instructions([self.driver, "feed", self.recording, str(count)], [self.plain])

    def plugin_allocations(self, count):
        log = os.path.join(self.scratch, "memcheck.log")
        run(self.driver, "feed", self.recording, str(count), shutil.which("valgrind"), "--log-file=" + log, self.plugin)
        with open(log, encoding="utf-8") as file:
            return int(re.search(r"total heap usage: ([\d,]+) allocs", file.read()).group(1).replace(",", ""))

    def unpack_instructions(self, how, count):
        payload = os.path.join(self.scratch, "payload")
        run(self.driver, "payload", self.recording, payload)
        return self.instructions([], [self.unpack, how, str(count), payload])

    def lives(self):
        """Allocations and resident memory over a million events."""
        result = {}
        for mode in ("loop", "worker", "state"):
            runs = []
            for events in LIVES:
                say("%s events, %s ..." % (number(events), mode))
                runs.append(values(run(os.path.join(self.here, "bench_life"), self.recording, str(events),
                                       os.path.join(self.here, "bench_life_plugin"), mode).stdout))
                if runs[-1]["events"] != events:
                    sys.exit("bench: the plugin saw %d events of %d" % (runs[-1]["events"], events))
            few, many = runs
            result[mode] = {"allocations": (many["allocations"] - few["allocations"]) / (LIVES[1] - LIVES[0]),
                            "rss": [many["rss_%d_kb" % i] for i in range(1, 11)]}
        return result

    def go_plugin(self):
        """The plugin with the Go stub, or None where it cannot be built."""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop", "plugin.sh")
        work = os.path.join(self.build, "tests", "interop", "bench-" + GO_VERSION)
        say("building the plugin with the Go stub %s ..." % GO_VERSION)
        done = subprocess.run([script, work, GO_VERSION], capture_output=True, text=True)
        if done.returncode == 77:
            say("  not beside the Go stub: " + done.stdout.strip())
            return None
        if done.returncode != 0:
            sys.exit("bench: %s failed:\n%s%s" % (script, done.stdout, done.stderr))
        return os.path.join(work, "go-plugin")

    def syncs(self):
        """Time, processor time and peak of memory for a Synchronize of 51 MB; medians, in turn."""
        plugin = os.path.join(self.here, "bench_sync_plugin")
        programs = {mode: [plugin, mode] for mode in ("parts", "whole", "none", "state")}
        go = self.go_plugin()
        if go is not None:
            programs["go"] = [go, "--name", "go", "--idx", "10"]
        runs = {name: [] for name in programs}
        for i in range(SYNC_ROUNDS):
            say("Synchronize of 5000 containers, round %d of %d ..." % (i + 1, SYNC_ROUNDS))
            for name, command in programs.items():
                runs[name].append(values(run(os.path.join(self.here, "bench_sync"), *command).stdout))
        return {name: {key: statistics.median(r[key] for r in of) for key in of[0]} for name, of in runs.items()}

    def stripped(self, path):
        copy = os.path.join(self.scratch, "stripped")
        run("strip", "-o", copy, path)
        return os.path.getsize(copy)

    def measure(self):
        result = {}
        say("counting instructions ...")
        result["instructions"] = self.per_request(self.plugin_instructions)
        result["plain instructions"] = self.per_request(self.plain_instructions)
        for how in ("libnri", "protobuf-c"):
            result["unpack instructions, " + how] = self.per_request(lambda n, how=how: self.unpack_instructions(how, n))
        say("counting allocations ...")
        result["allocations"] = self.per_request(self.plugin_allocations)
        say("timing round trips against a bare socket on one CPU ...")
        result.update(values(run(self.driver, "trip", self.recording, self.plugin, self.plain).stdout))
        say("timing starts ...")
        result.update(values(run(self.driver, "start", self.recording, self.plugin, self.floor).stdout))
        result["synchronize"] = self.syncs()
        result["lives"] = self.lives()
        result["libnri.so"] = self.stripped(self.library)
        result["nri-logger"] = self.stripped(self.logger)
        result["nri-logger with libnri.a"] = self.stripped(self.logger_static)
        return result


def number(value):
    return format(round(value), ",").replace(",", " ")


def table(r):
    us = lambda name: "%.1f us" % (r[name] / 1e3)  # noqa: E731
    mb = lambda name: "%.2f MB" % (r[name] / 1024)  # noqa: E731
    rows = [
        ("allocations per request", "%.2f" % r["allocations"], "", ""),
        ("user instructions per request", number(r["instructions"]), number(r["plain instructions"]), ""),
        ("  decoding the message alone", number(r["unpack instructions, libnri"]),
         number(r["unpack instructions, protobuf-c"]), ""),
        ("round trip", us("plugin_ns"), us("plain_ns"), us("bare_ns")),
        ("  in times of the bare socket", "%.2f" % r["ratio"], "%.2f" % r["plain_ratio"], "1"),
        ("resident memory", mb("rss_kb"), mb("plain_rss_kb"), mb("start_floor_rss_kb")),
        ("  its own", mb("rss_anonymous_kb"), mb("plain_rss_anonymous_kb"), mb("start_floor_rss_anonymous_kb")),
        ("start to the first byte sent", "%.2f ms" % (r["start_ns"] / 1e6), "", "%.2f ms" % (r["start_floor_ns"] / 1e6)),
        ("  in times of the floor", "%.2f" % r["start_ratio"], "", "1"),
        ("stripped: libnri.so", number(r["libnri.so"]) + " B", "", ""),
        ("stripped: nri-logger", number(r["nri-logger"]) + " B", "", ""),
        ("stripped: nri-logger with libnri.a", number(r["nri-logger with libnri.a"]) + " B", "", ""),
    ]
    rows.insert(0, ("", "libnri", "by hand", "floor"))
    width = max(len(row[0]) for row in rows)
    lines = ["One CreateContainer of %d bytes, answered with env, annotation and CPU shares in %d bytes." % (
        r["request_bytes"], r["reply_bytes"])]
    lines.append("By hand: epoll, protobuf-c, one arena, no checks (tests/bench/bench_plain.c). Floor: a bare socket, or a")
    lines.append("process that does nothing. Times say something only beside those of the same run.")
    lines.append("")
    for row in rows:
        lines.append(("%-*s  %14s  %12s  %12s" % (width, *row)).rstrip())
    return "\n".join(lines)


def sync_table(r):
    names = {"parts": "on_synchronize_part, nothing kept", "whole": "on_synchronize", "none": "no handler",
             "state": "nri_state", "go": "Go stub " + GO_VERSION}
    first = r["parts"]
    base = r.get("go", r["parts"])
    lines = ["Synchronize of 1000 pods and 5000 containers, %.1f MB in %d messages; medians of %d runs." % (
        first["bytes"] / 1e6, first["parts"], SYNC_ROUNDS), "",
        "%-36s  %8s  %8s  %10s  %14s" % ("", "time", "CPU", "peak RSS", "time, RSS as 1")]
    for name, of in r.items():
        lines.append("%-36s  %5.0f ms  %5.0f ms  %7.1f MB  %6.2f  %6.2f" % (
            names[name], of["taken_ns"] / 1e6, of["cpu_ns"] / 1e6, of["peak_kb"] / 1024,
            of["taken_ns"] / base["taken_ns"], of["peak_kb"] / base["peak_kb"]))
    return "\n".join(lines)


def lives_table(r):
    names = {"loop": "handlers on the loop", "worker": "handlers on the library's thread",
             "state": "on the loop, with nri_state"}
    lines = ["The life of a container, 11 events, until there were %s; what libnri allocates, resident memory." % number(
        LIVES[1]), "", "%-34s  %14s  %12s  %12s  %12s" % ("", "allocs/event", "after 10 %", "after 50 %", "at the end")]
    for name, of in r.items():
        lines.append("%-34s  %14.4f  %9.0f kB  %9.0f kB  %9.0f kB" % (
            names[name], of["allocations"], of["rss"][0], of["rss"][4], of["rss"][9]))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("recording")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("bench: valgrind is not installed (Debian: apt-get install valgrind)")
    with tempfile.TemporaryDirectory() as scratch:
        result = Bench(os.path.abspath(args.build), args.recording, scratch).measure()
    print(table(result), sync_table(result["synchronize"]), lives_table(result["lives"]), sep="\n\n")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)
            file.write("\n")


main()
