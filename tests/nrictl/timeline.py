# SPDX-License-Identifier: Apache-2.0
"""A strict reader of the Chrome trace event format, in its array form, and of what nrictl promises of it."""
import collections
import decimal
import json

# What each phase needs beside ph, pid and tid.
MEMBERS = {"X": {"ts", "dur", "cat", "name", "args"}, "i": {"ts", "s", "cat", "name", "args"}, "M": {"name", "args"},
           "s": {"ts", "id", "cat", "name"}, "f": {"ts", "id", "bp", "cat", "name"}}
METADATA = {"process_name": ("name", str), "thread_name": ("name", str), "process_sort_index": ("sort_index", int),
            "thread_sort_index": ("sort_index", int)}

Slice = collections.namedtuple("Slice", "name cat thread begin end args")
Instant = collections.namedtuple("Instant", "name cat thread at args")


def nanoseconds(number):
    """Of microseconds: a whole number, or the time was not written exactly."""
    value = decimal.Decimal(number) * 1000
    assert value == value.to_integral_value() and value >= 0, number
    return int(value)


class Timeline:
    def __init__(self, text):
        self.events = json.loads(text, parse_float=decimal.Decimal)
        assert isinstance(self.events, list)
        self.processes, self.threads, self.process_of = {}, {}, {}
        self.slices, self.instants, self.ends_of_flows = [], [], {}
        for event in self.events:
            self.take(event)
        for thread in self.process_of:
            assert thread in self.threads and self.process_of[thread] in self.processes, thread
        self.check_nesting()
        self.check_flows()

    def take(self, event):
        phase = event["ph"]
        assert set(event) == MEMBERS[phase] | {"ph", "pid", "tid"}, event
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int), event
        if phase == "M":
            key, kind = METADATA[event["name"]]
            assert list(event["args"]) == [key] and isinstance(event["args"][key], kind), event
            if event["name"] == "process_name":
                self.processes[event["pid"]] = event["args"]["name"]
            elif event["name"] == "thread_name":
                self.threads[event["tid"]] = event["args"]["name"]
            return
        # A thread's id is of one process only, and of no process.
        assert self.process_of.setdefault(event["tid"], event["pid"]) == event["pid"], event
        assert event["tid"] not in self.processes, event
        assert isinstance(event["name"], str) and isinstance(event["cat"], str), event
        at = nanoseconds(event["ts"])
        if phase == "X":
            self.slices.append(Slice(event["name"], event["cat"], event["tid"], at, at + nanoseconds(event["dur"]), event["args"]))
        elif phase == "i":
            assert event["s"] == "t", event
            self.instants.append(Instant(event["name"], event["cat"], event["tid"], at, event["args"]))
        else:
            flow = self.ends_of_flows.setdefault(event["id"], {})
            assert phase not in flow and event.get("bp", "e") == "e", event
            flow[phase] = (event["tid"], at, event["name"])

    def check_nesting(self):
        """Of two slices of a thread one is within the other, or they have no time in common; the outer one comes first."""
        by_thread = collections.defaultdict(list)
        for slice_ in self.slices:
            by_thread[slice_.thread].append(slice_)
        for slices in by_thread.values():
            around = []
            for slice_ in sorted(slices, key=lambda s: s.begin):  # of those that begin together the order stays
                while around and around[-1].end <= slice_.begin and not (
                        around[-1].begin == slice_.begin and around[-1].end >= slice_.end):
                    around.pop()
                assert not around or slice_.end <= around[-1].end, (around[-1], slice_)
                around.append(slice_)

    def check_flows(self):
        self.flows = []
        for flow in self.ends_of_flows.values():
            assert set(flow) == {"s", "f"}, flow
            ends = [next(s for s in self.slices if s.thread == thread and s.begin == at) for thread, at, _ in
                    (flow["s"], flow["f"])]
            assert ends[0].end <= ends[1].begin and flow["s"][2] == flow["f"][2], flow
            self.flows.append(ends)

    def of(self, category):
        return [s for s in self.slices if s.cat == category]

    def told(self, category):
        """(row, what, args) of instants."""
        return [(self.threads[i.thread], i.name, i.args) for i in self.instants if i.cat == category]

    def chain(self, event):
        """The slices inside an event's, in order."""
        inside = [s for s in self.of("plugin") if s.args["number"] == event.args["number"]]
        for slice_ in inside:
            assert slice_.thread == event.thread and event.begin <= slice_.begin <= slice_.end <= event.end, (event, slice_)
        for before, after in zip(inside, inside[1:]):
            assert before.end <= after.begin, (before, after)
        return inside

    def check_simulated(self, killed=False):
        """Each event has its plugins in the order of their indices, and each plugin its request in its own row.

        Of a program that was killed the last event may be without some of them."""
        requests = collections.defaultdict(list)
        for slice_ in self.of("request"):
            requests[slice_.args["number"]].append(slice_)
        events = self.of("event")
        if killed:
            requests.pop(events.pop().args["number"], None)
        for event in events:
            asked = [s.name for s in self.chain(event) if s.name != "ValidateContainerAdjustment"]
            assert asked == sorted(asked), asked
            own = [s for s in requests.pop(event.args["number"], []) if s.args["event"] == event.args["event"]]
            assert [s.args["plugin"] for s in own] == asked, (event, own)
            for slice_ in own:
                assert self.threads[slice_.thread].split(" ")[0] == slice_.args["plugin"], slice_
                assert event.begin <= slice_.begin <= slice_.end <= event.end and slice_.name == event.name, slice_
        assert not requests, requests
