"""`vole trace export`, read by parsers that are not ours: protoc, pprof, Node."""

import json
import os
import re
import shutil
import subprocess
import unittest

from traces import NODE, TraceTest, vole

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOC, GO = shutil.which("protoc"), shutil.which("go")


def parsed(lines):
    """protoc's text as nested dicts of lists."""
    out = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            return out
        if line.endswith("{"):
            out.setdefault(line[:-1].strip(), []).append(parsed(lines))
        else:
            key, value = line.split(": ", 1)
            out.setdefault(key, []).append(value)
    return out


def number(message, key):
    return int(message.get(key, ["0"])[0])


def slices_of(packets):
    """Track, begin and end of every slice; fails if they do not nest."""
    events = []
    for order, packet in enumerate(packets):
        for event in packet.get("track_event", []):
            events.append((number(packet, "timestamp"), order, number(event, "track_uuid"), event))
    events.sort(key=lambda e: e[:2])
    stacks, found = {}, []
    for time, _, track, event in events:
        kind = event["type"][0]
        if kind == "TYPE_SLICE_BEGIN":
            stacks.setdefault(track, []).append((time, event["name"][0]))
        elif kind == "TYPE_SLICE_END":
            begun, name = stacks[track].pop()
            found.append((track, name, begun, time))
    assert not any(stacks.values()), stacks
    return found


class Export(TraceTest):
    def export(self, trace, *arguments):
        out = self.path("out")
        done = vole("export", *arguments, trace, "-o", out)
        if "without protozero" in done.stderr:
            self.skipTest("this vole was built without protozero")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(out, "rb") as file:
            return file.read()

    def traces(self):
        yield self.sample("three")
        yield self.sample("unfinished")
        if NODE:
            yield self.made_by_node("small()")
            yield self.made_by_node("many({ goroutines: 2000 })")
            yield self.made_by_node("pairs({ events: 20000, generationEvents: 5000 })")

    def summary(self, trace):
        return json.loads(vole("summary", "--json", trace).stdout)

    def test_what_cannot_be_exported_is_refused(self):
        good, out = self.sample("small"), self.path("out")
        self.assert_refused(["export", "--format", "svg", good, "-o", out], "--format")
        self.assert_refused(["export", good, "-o", out], "--format is required")
        self.assert_refused(["export", "--format", "chrome", good], "--output is required")
        self.assert_refused(["export", "--format", "chrome", "/nowhere", "-o", out], "No such file")
        text = self.file("text", b"hello")
        self.assert_refused(["export", "--format", "chrome", text, "-o", out], "not a vole trace")
        self.assertFalse(os.path.exists(out))

    @unittest.skipUnless(PROTOC, "no protoc (protobuf-compiler)")
    def test_perfetto(self):
        for trace in self.traces():
            content = self.export(trace, "--format", "perfetto")
            decoded = subprocess.run(
                [PROTOC, "--decode=Trace", f"--proto_path={HERE}", "perfetto_subset.proto"],
                input=content, capture_output=True, check=True).stdout.decode()
            # A field that the subset does not have is shown by its number.
            self.assertIsNone(re.search(r"(?m)^\s*\d+[:{ ]", decoded))
            packets = parsed(iter(decoded.splitlines()))["packet"]
            self.check_cpus(packets, self.summary(trace))
            self.check_slices(packets, self.summary(trace))

    def check_cpus(self, packets, summary):
        running, busy, wakes = {}, 0, 0  # by CPU: thread and since when
        events = []
        for packet in packets:
            for bundle in packet.get("ftrace_events", []):
                cpu, last = number(bundle, "cpu"), 0
                for event in bundle["event"]:
                    time = number(event, "timestamp")
                    self.assertGreaterEqual(time, last)
                    last = time
                    events.append((time, cpu, event))
        # Of several at one moment, those of one CPU stay in order; a goroutine leaves one CPU
        # before it is on another.
        events.sort(key=lambda e: e[0])
        for time, cpu, event in events:
            wakes += len(event.get("sched_waking", []))
            for switch in event.get("sched_switch", []):
                before, since = running.get(cpu, (0, time))
                self.assertEqual(number(switch, "prev_pid"), before)
                if before:
                    busy += time - since
                running[cpu] = (number(switch, "next_pid"), time)
        self.check_one_cpu_each(events)
        self.assertEqual(wakes, sum(w["count"] for w in summary["wakes"]))
        self.assertAlmostEqual(busy, sum(p["running"] + p["calls"] for p in summary["ps"]),
                               delta=len(events))

    def check_one_cpu_each(self, events):
        stays = {}  # of a thread: from, to
        begun = {}
        for time, cpu, event in events:
            for switch in event.get("sched_switch", []):
                thread = begun.get(cpu, (0, 0))
                if thread[0]:
                    stays.setdefault(thread[0], []).append((thread[1], time))
                begun[cpu] = (number(switch, "next_pid"), time)
        for thread, times in stays.items():
            times.sort()
            for (_, end), (start, _) in zip(times, times[1:]):
                self.assertLessEqual(end, start, f"thread {thread} runs twice")

    def check_slices(self, packets, summary):
        tracks = {number(d, "uuid"): d for p in packets for d in p.get("track_descriptor", [])}
        total = 0
        for track, name, begin, end in slices_of(packets):
            self.assertIn(track, tracks)
            self.assertGreaterEqual(end, begin)
            if "thread" in tracks[track]:
                total += end - begin
        states = {}
        for f in summary["functions"]:
            for state, ns in f["states"].items():
                states[state] = states.get(state, 0) + ns
        self.assertAlmostEqual(total, states["waiting"] + states["call"] + states["evicted"],
                               delta=2 * len(packets))
        threads = [d["thread"][0] for d in tracks.values() if "thread" in d]
        self.assertEqual(len({number(t, "tid") for t in threads}), summary["goroutines"])

    def test_chrome(self):
        for trace in self.traces():
            content = self.export(trace, "--format", "chrome")
            if NODE:
                subprocess.run([NODE, "--eval", "JSON.parse(require('fs').readFileSync(0, 'utf8'))"],
                               input=content, check=True)
            events, summary = json.loads(content)["traceEvents"], self.summary(trace)
            on_ps = sum(e["dur"] for e in events if e["ph"] == "X" and e["pid"] == 1)
            self.assertAlmostEqual(on_ps * 1000,
                                   sum(p["running"] + p["calls"] for p in summary["ps"]),
                                   delta=len(events))
            alive = sum(e["dur"] for e in events if e["ph"] == "X" and e["pid"] == 2)
            self.assertAlmostEqual(alive * 1000, summary["lifetimes"], delta=len(events))
            starts = [e["id"] for e in events if e["ph"] == "s"]
            self.assertEqual(starts, [e["id"] for e in events if e["ph"] == "f"])
            self.check_rows_do_not_overlap([e for e in events if e["ph"] == "X"])

    def check_rows_do_not_overlap(self, slices):
        rows = {}
        for e in slices:
            rows.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
        for row in rows.values():
            row.sort()
            for (_, end), (start, _) in zip(row, row[1:]):
                self.assertLessEqual(end, start + 0.002)

    @unittest.skipUnless(GO, "no go (golang-go)")
    def test_pprof(self):
        trace = self.sample("three")
        raw = self.raw_profile(trace, "block")
        self.assertIn("contentions/count delay/nanoseconds", raw)
        self.assertEqual(self.samples(raw), (6, 57000))
        self.assertIn("work(int)", raw)
        self.assertEqual(self.samples(self.raw_profile(trace, "mutex")), (3, 45000))
        raw = self.raw_profile(trace, "creation")
        self.assertIn("goroutines/count", raw)
        self.assertEqual(self.samples(raw)[0], 6)
        summary = self.summary(trace)
        count, delay = self.samples(self.raw_profile(trace, "sched"))
        self.assertGreaterEqual(count, summary["latency"]["count"])
        self.assertGreaterEqual(delay, summary["latency"]["mean"] * summary["latency"]["count"])

    def raw_profile(self, trace, name):
        self.export(trace, "--format", "pprof", "--profile", name)
        environment = dict(os.environ, HOME=self.folder, PPROF_TMPDIR=self.folder)
        done = subprocess.run([GO, "tool", "pprof", "-raw", "-symbolize=none", self.path("out")],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    @staticmethod
    def samples(raw):
        """The sums of the first and the second value."""
        first = second = 0
        for line in raw[raw.index("Samples:"):raw.index("Locations")].splitlines():
            numbers = re.match(r"\s+(\d+)(?:\s+(\d+))?:", line)
            if numbers:
                first += int(numbers[1])
                second += int(numbers[2] or 0)
        return first, second


if __name__ == "__main__":
    unittest.main()
