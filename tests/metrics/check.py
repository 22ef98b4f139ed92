#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a plugin's metrics with Prometheus's own client, checks what they say, and that
doc/metrics.md and the dashboard name what there is, and nothing else.

    check.py METRICS_TEXT DOC
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    print("skipped: no prometheus_client (Debian: python3-prometheus-client)")
    sys.exit(77)

failures = []


def check(what, holds):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def metrics(**environment):
    """The text, as a program gets it whose locale is the environment's."""
    return subprocess.run([sys.argv[1]], check=True, capture_output=True,
                          env={**os.environ, **environment}).stdout.decode("utf-8")


def check_locale(text):
    """A comma for a point, as in German, would be no number to a collector."""
    with tempfile.TemporaryDirectory() as directory:
        try:
            made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8",
                                   directory + "/de_DE.UTF-8"], capture_output=True).returncode
        except FileNotFoundError:
            made = 1
        if made > 1 or not os.path.exists(directory + "/de_DE.UTF-8"):
            print("no German locale can be made here (Debian: locales): the C locale alone")
            return
        check("the text is the same in any locale",
              metrics(LOCPATH=directory, LC_ALL="de_DE.UTF-8") == text)


def main():
    text = metrics(LC_ALL="C")
    check_locale(text)
    doc = pathlib.Path(sys.argv[2])
    families = {family.name: family for family in text_string_to_metric_families(text)}
    samples = {}
    for family in families.values():
        check("%s has a help text" % family.name, family.documentation)
        for sample in family.samples:
            samples[sample.name, tuple(sorted(sample.labels.items()))] = sample.value

    def value(name, **labels):
        return samples.get((name, tuple(sorted(labels.items()))))

    check("five creates", value("nri_plugin_requests_total", event="CreateContainer") == 5)
    check("their replies", value("nri_plugin_replies_total", event="CreateContainer") == 5)
    check("one refused", value("nri_plugin_refused_total", event="UpdateContainer") == 1)
    check("one guarded", value("nri_plugin_guarded_total", event="StopContainer") == 1)
    check("one pending", value("nri_plugin_pending_requests") == 1)
    check("synchronized", value("nri_plugin_synchronized") == 1)
    check("one state", sum(value("nri_plugin_state", nri_plugin_state=state) for state in
                           ("idle", "connecting", "registering", "ready", "stopping")) == 1)
    check("time of creates", abs(value("nri_plugin_reply_seconds_sum", event="CreateContainer")
                                 - 0.015) < 1e-9)
    check("buckets of creates", value("nri_plugin_reply_seconds_bucket", event="CreateContainer",
                                      le="0.0025") == 0
          and value("nri_plugin_reply_seconds_bucket", event="CreateContainer", le="0.005") == 5)
    info = families["nri_plugin_build"].samples[0].labels
    check("bounds are canonical", {'0.0001', '0.0025', '0.1', '1.0', '2.0', '+Inf'} <=
          {dict(labels)["le"] for name, labels in samples if name.endswith("_bucket")})
    check("a long version is cut between characters",
          info["runtime_version"] == "v" + 84 * "\u20ac")
    check("the runtime's name is whole", info["runtime"] == 'run"time\\with\nall')
    for name, labels in samples:
        if name == "nri_plugin_requests_total":
            event = dict(labels)["event"]
            answered = sum(value("nri_plugin_%s_total" % kind, event=event) for kind in
                           ("replies", "refused", "errors", "guarded"))
            pending = 1 if event == "StopContainer" else 0
            check("requests of %s are all accounted for" % event,
                  samples[name, labels] == answered + pending)

    document = (doc / "metrics.md").read_text()
    named = set(re.findall(r"^\| `(nri_plugin_\w+)`", document, re.M))
    check("doc/metrics.md has every metric: %s" % sorted(set(families) ^ named),
          set(families) == named)
    dashboard = json.loads((doc / "grafana-dashboard.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    check("the dashboard has queries", len(queries) > 5)
    known = {name for name, _ in samples}
    for query in queries:
        for name in re.findall(r"nri_plugin_\w+", query):
            check("the dashboard's %s exists" % name,
                  name in known or name == "nri_plugin_state")
    check("the text ends as it should", text.endswith("# EOF\n"))
    print("%d families, %d samples, %d queries" % (len(families), len(samples), len(queries)))
    sys.exit(1 if failures else 0)


main()
