#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_sim_steps.py NRICTL PROGRAMS: each step of a scenario does what it says."""
import os

import case
from sim import HEAD, Sim


class Steps(Sim):
    def steps(self, text, plugins="", expect=case.OK):
        return self.sim(HEAD + plugins + "steps:\n" + text, expect=expect)

    def external(self, name):
        """A plugin that connects by itself, and again when it has to."""
        index, plain = name.split("-")
        return f"plugins:\n  - command: nri-scripted --socket {{socket}} --idx {index} --name {plain}\n"

    def test_the_runtime_restarts_and_plugins_come_back(self):
        for away in ("", "    away: 20ms\n"):
            result = self.steps("""
  - run: web
  - create: app
  - restart: runtime
%s  - wait: {plugin: a}
  - start: app
    expect:
      state: running
      plugins: [10-a]
      events: {plugin: a, equal: [StartContainer app, PostStartContainer app]}
""" % away, self.external("10-a"))
            self.assertEqual(result["plugins"], ["10-a"])

    def test_a_plugin_is_started_later_and_told_what_there_is(self):
        plugins = "plugins:\n" + self.scripted("10-a").replace("{name", "{later: true, name")
        self.steps("""
  - run: web
  - expect: {plugins: []}
  - connect: a
    expect: {plugins: [a]}
  - stop: web
    expect: {events: {plugin: a, equal: [StopPodSandbox web]}}
""", plugins)
        self.assertIn('"event": "Synchronize", "pod": "", "container": "", "ms": ', self.read("10-a.report"))
        self.assertIn('"pods": ["web"]', self.read("10-a.report"))

    def test_a_paused_plugin_does_not_answer(self):
        plugins = "request_timeout: 3s\n" + "plugins:\n" + self.scripted("10-a")
        self.steps("""
  - pause: a
  - run: web
    expect: {ok: true, skipped: [10-a]}
  - wait: {gone: a}
  - continue: a
    expect: {code: NRI_E_NOT_FOUND, error: no plugin of this name}
""", plugins)

    def test_a_paused_plugin_goes_on(self):
        self.steps("""
  - pause: a
  - run: web
    background: true
    name: running
  - continue: 10-a
  - wait: {step: running}
  - expect:
      step: running
      skipped: []
      events: {plugin: a, equal: [RunPodSandbox web]}
""", "plugins:\n" + self.scripted("10-a"))

    def test_plugins_are_killed(self):
        for signal in ("KILL", "TERM"):
            self.steps("""
  - run: web
  - kill: a
    signal: %s
  - wait: {gone: 10-a}
  - create: app
    expect: {plugins: [], adjustment: {env: {absent: true}}}
""" % signal, "plugins:\n" + self.scripted("10-a", self.setting("1")))
        self.steps("  - kill: nobody\n    expect: {code: NRI_E_NOT_FOUND}\n")

    def test_a_slow_reader_is_a_plugin_that_does_nothing(self):
        result = self.steps("""
  - slow_reader: slow
    bytes_per_second: 1000000
  - slow_reader: first
    index: "01"
    bytes_per_second: 1000000
  - run: web
    expect:
      plugins: [01-first, 99-slow]
      events: {plugin: slow, equal: [RunPodSandbox web]}
  - sleep: 1ms
""")
        self.assertEqual(result["plugins"], ["99-slow", "01-first"])

    def test_a_pod_sandbox_is_updated(self):
        self.steps("""
  - run: web
  - update: web
    resources: {cpu: {shares: 99}}
    overhead: {memory: {limit: 4096}}
    expect:
      events: [UpdatePodSandbox web, PostUpdatePodSandbox web]
      pod: {linux.pod_resources.cpu.shares: 99, linux.pod_overhead.memory.limit: 4096}
""")

    def test_an_update_comes_to_what_plugins_make_of_it(self):
        rule = ('{"event": "UpdateContainer", "update": [{"container_id": "app", "linux": {"resources": {"cpu": {"shares": 7}}}},'
                '{"container_id": "nobody", "linux": {"resources": {"cpu": {"shares": 8}}}}]}')
        self.steps("""
  - run: web
  - create: app
  - update: app
    resources: {memory: {limit: 1048576}}
    expect:
      resources: {cpu.shares: 7, memory.limit: 1048576}
      container: {linux.resources.cpu.shares: 7, linux.resources.memory.limit: 1048576}
      updates: {"update[nobody].linux.resources.cpu.shares": 8}
      not_updated: [nobody]
      oci:
        /linux/resources/cpu/shares: 7
        /linux/resources/memory/limit: 1048576
""", "plugins:\n" + self.scripted("10-a", rule))

    def test_what_is_in_the_background_is_waited_for_at_the_end(self):
        result = self.steps("""
  - run: web
    background: true
    expect: {state: stopped}
""", "plugins:\n" + self.scripted("10-a", '{"event": "RunPodSandbox", "defer_ms": 50}'), expect=case.FINDING)
        self.assertEqual(self.failures(result), [("run web", "state", "stopped", "ready")])

    def test_an_expectation_waits_for_the_step_that_it_is_about(self):
        self.steps("""
  - run: web
    name: running
    background: true
  - expect: {step: running, ok: true, events: [RunPodSandbox web]}
""", "plugins:\n" + self.scripted("10-a", '{"event": "RunPodSandbox", "defer_ms": 50}'))

    def test_waiting_in_vain_ends_the_scenario(self):
        for wait in ("plugin: nobody", "event: StopContainer app", "updated: a", "gone: a"):
            with self.subTest(wait):
                result = self.steps("  - run: web\n  - wait: {%s}\n    timeout: 10ms\n  - stop: web\n" % wait,
                                    "plugins:\n" + self.scripted("10-a"), expect=case.FINDING)
                self.assertEqual([step["state"] for step in result["steps"]], ["over", "over", "not begun"])
                self.assertEqual(result["incomplete"], "what was waited for did not come")
                self.assertEqual(self.failures(result)[0][3], "NRI_E_TIMEOUT: it did not come in time")

    def test_a_wait_for_an_event_of_the_step_before(self):
        self.steps("""
  - run: web
    background: true
  - wait: {event: RunPodSandbox web}
  - expect: {state: ready, of: web}
""", "plugins:\n" + self.scripted("10-a", '{"event": "RunPodSandbox", "defer_ms": 20}'))

    def test_a_wait_is_for_what_is_new(self):
        # An event of an earlier step does not count.
        self.steps("  - run: web\n  - create: app\n  - wait: {event: RunPodSandbox}\n    timeout: 10ms\n", expect=case.FINDING)
        self.steps("  - run: web\n  - create: app\n  - wait: {event: CreateContainer app}\n")

    def test_plugins_are_refused_by_policy_and_validator(self):
        plugins = "plugins:\n" + self.scripted("10-a", '{"event": "CreateContainer", "adjust": {"linux": {"sysctl": {"a.b": "1"}}}}')
        self.steps("""
  - run: web
  - create: app
    expect: {code: NRI_E_REJECTED, error: sysctl, state: removed}
""", "validator: {enable: true, reject_sysctl_adjustment: true}\n" + plugins)
        dead = "plugins:\n" + self.scripted("10-a", '{"event": "RunPodSandbox", "error": "no pods today"}')
        run = "  - run: web\n    expect: %s\n"
        self.steps(run % "{code: NRI_E_REJECTED, refused_by: a, error: no pods today, skipped: []}", dead)
        self.steps(run % "{ok: true, skipped: [10-a]}", "failure: permissive\n" + dead)
        self.steps(run % "{ok: false, refused_by: 10-a}", "failure: strict\n" + dead)

    def test_updates_after_synchronize_are_told(self):
        rule = '{"event": "Synchronize", "update_all": {"linux": {"resources": {"cpu": {"shares": 5}}}}}'
        plugins = "plugins:\n" + self.scripted("10-a", rule).replace("{name", "{later: true, name")
        result = self.steps("  - run: web\n  - create: app\n  - connect: a\n"
                            "  - expect: {of: app, container: {linux.resources.cpu.shares: 5}}\n", plugins)
        self.assertEqual(result["updates"], [{"plugin": "10-a", "synchronize": True, "done": ["app"], "failed": [], "ignored": []}])

    def test_an_eviction_stops_its_container(self):
        evict = ('{"event": "StartContainer", "background": [{"update": [{"container_id": "other", "linux": {"resources": {"cpu": {"shares": 9}}}}],'
                 ' "evict": [{"container_id": "app", "reason": "too \\u001b[31mloud"}]}]}')
        text = HEAD.replace("[app]", "[app, other]") + "plugins:\n" + self.scripted("10-a", evict) + self.scripted("20-b") + """
steps:
  - run: web
  - create: other
  - create: app
  - start: app
  - wait: {event: StopContainer app}
    expect:
      - {of: app, state: stopped, container: {exit_code: 143}}
      - {of: other, state: created, container: {linux.resources.cpu.shares: 9}}
      - {events: {plugin: b, since: start, contains: [StartContainer app, StopContainer app]}}
  - start: app
    expect: {code: NRI_E_STATE}
  - remove: app
    expect: {events: [RemoveContainer app]}
"""
        result = self.sim(text)
        self.assertEqual(result["evictions"], [{"container": "app", "plugin": "10-a", "reason": "too \x1b[31mloud"}])
        self.assertEqual(result["events"].count("StopContainer app"), 1)
        self.assertEqual(result["updates"], [{"plugin": "10-a", "synchronize": False, "done": ["other"], "failed": [], "ignored": []}])
        # For people: the plugin's name, and nothing that a terminal obeys.
        told = self.run_nrictl("sim", "test.yaml").stdout
        self.assertIn("  10-a evicted app: too \\x1b[31mloud\n", told)
        # A runtime whose NRI drops evictions goes on.
        self.sim(text[:text.index("  - wait")] + "  - wait: {updated: a}\n    expect: {of: app, state: running}\n",
                 "--runtime", "containerd@2.1")

    def test_plugins_that_end_at_their_start(self):
        later = 'plugins:\n  - {name: a, index: "10", later: true, command: [sh, -c, "%s"]}\n'
        for end, words in (("exit 5", "ended with status 5"), ("kill -9 $$", "was ended by signal 9")):
            # A time-out that nobody has the patience for: what cannot come is not waited for.
            result = self.steps("  - connect: a\n  - wait: {plugin: a}\n    timeout: 1h\n", later % end, expect=case.FINDING)
            self.assertEqual([finding[3] for finding in self.failures(result)],
                             ["NRI_E_CLOSED: it %s before it was registered" % words,
                              "NRI_E_CLOSED: it does not come: its process %s" % words])
        # Status 0 says nothing: it may have left something behind that comes.
        result = self.steps("  - connect: a\n  - wait: {plugin: a}\n    timeout: 10ms\n", later % "exit 0", expect=case.FINDING)
        self.assertEqual([finding[3].split(":")[0] for finding in self.failures(result)], ["NRI_E_CLOSED", "NRI_E_TIMEOUT"])

    def test_steps_about_plugins_that_have_ended(self):
        result = self.steps("""
  - run: web
  - kill: a
  - wait: {gone: a}
  - pause: a
  - continue: 10-a
  - kill: a
  - sleep: 1ms
  - create: app
    expect: {plugins: []}
  - restart: runtime
  - wait: {plugin: 10-a}
    timeout: 1h
  - stop: web
""", "plugins:\n" + self.scripted("10-a"), expect=case.FINDING)
        none = "NRI_E_NOT_FOUND: no plugin of this name, with a process of its own, is connected"
        self.assertEqual([(finding[0], finding[3]) for finding in self.failures(result)],
                         [("pause a", none), ("continue 10-a", none), ("kill a", none),
                          ("wait for plugin 10-a", "NRI_E_CLOSED: it does not come: its process was ended by signal 9")])
        self.assertEqual(result["steps"][-1]["state"], "not begun")

    def test_a_plugin_that_dies_while_it_is_asked(self):
        for step in ("kill: a", "restart: runtime"):
            self.steps("""
  - pause: a
  - run: web
    background: true
    name: running
  - %s
  - wait: {step: running}
  - create: app
    expect: {ok: true, plugins: []}
""" % step, "plugins:\n" + self.scripted("10-a"))

    def test_a_plugin_of_a_directory_that_ends_at_its_start(self):
        os.mkdir(self.path("launched-from"))
        for name in ("10-good", "20-bad"):
            program = os.path.join(case.PROGRAMS, "nri-template") if name == "10-good" else "false"
            script = self.write("launched-from/" + name, "#!/bin/sh\nexec %s\n" % program)
            os.chmod(self.path(script), 0o755)
        done = self.run_nrictl("sim", "--plugin-dir", "launched-from", expect=case.ENVIRONMENT)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, "nrictl sim: launched-from/20-bad: it did not start; plugin 20-bad: "
                                      r"(connection closed|process \d+ exited with status 1)")
        os.unlink(self.path("launched-from", "20-bad"))
        self.run_nrictl("sim", "--plugin-dir", "launched-from")

    def test_plugins_of_a_directory(self):
        os.mkdir(self.path("launched-from"))
        os.mkdir(self.path("configured-by"))
        script = self.write("launched-from/15-launched", "#!/bin/sh\nexec %s\n" % os.path.join(case.PROGRAMS, "nri-template"))
        os.chmod(self.path(script), 0o755)
        head = HEAD + 'plugin_directory: "{dir}/launched-from"\nconfig_directory: "{dir}/configured-by"\nsteps: [{expect: {plugins: [15-launched]}}]\n'
        self.sim(head)
        self.assertEqual(self.run_json("sim", "--plugin-dir", "launched-from", "--config-dir", "configured-by")["plugins"], ["15-launched"])
        # That both are looked at: a configuration that is no file.
        os.mkdir(self.path("configured-by", "15-launched.conf"))
        self.refused("sim", self.write("test.yaml", head), says="15-launched.conf", expect=case.ENVIRONMENT)
        self.refused("sim", "--plugin-dir", "launched-from", "--config-dir", "configured-by", says="15-launched.conf", expect=case.ENVIRONMENT)


if __name__ == "__main__":
    case.main()
