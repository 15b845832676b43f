#!/usr/bin/env python3
"""Tests of the curves: what is run at each point, what becomes of a point that fails, what is drawn."""

import contextlib
import dataclasses
import io
import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
import curves
import run

NAMESPACE = "{http://www.w3.org/2000/svg}"

# Stands where vole_bench would: says what it was asked, and fails at 1,000.
PROGRAM = f"""#!{sys.executable}
import os, sys
n = sys.argv[2] if len(sys.argv) > 2 else "0"
if n == "1000": sys.exit(3)
print(sys.argv[1], os.environ.get("VOLE_MAXPROCS", n), "ns/op")
"""


def record(axis, metric, x, median, unit="ns/op", noisy=False):
    return {"axis": axis, "x": x, "name": metric, "metric": metric, "unit": unit, "status": "ok",
            "median": median, "noisy": noisy, "disturbed": False}


def document_of(records):
    return {"date": "2001-02-03T04:05Z", "commit": "abc", "command": "bench/curves.py",
            "machine": {"cpu": "Z80 <&>", "cores": 2, "memory_mb": 2048, "kernel": "Linux 9", "load_before": 0.5},
            "compilers": {"vole": "g++ 1"}, "rules": {"rounds": 3}, "measurements": records}


RECORDS = [
    *(record("procs", "yield1k", x, 20.0 * x) for x in (1, 2, 4)),
    *(record("procs", "chan_mpmc", x, 30.0, "ns/msg", noisy=x == 2) for x in (1, 2, 4)),
    *(record("connections", "echo", x, 1e4 * x, "roundtrips/s") for x in (1, 10)),
    record("connections", "echo_p99", 1, 0.0, "us"),
    record("connections", "echo_p99", 10, 70.0, "us"),
    {"axis": "connections", "x": 100, "name": "echo", "metric": "echo", "status": "timed out"},
]


class Points(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.setting = curves.Setting(pathlib.Path(folder.name), quick=False, timeout=20)
        program = self.setting.folder / "vole_bench"
        program.write_text(PROGRAM)
        program.chmod(0o755)

    def test_an_axis_of_ps_sets_the_ps_and_leaves_n_alone(self):
        done = curves.with_procs(self.setting, "yield1k", 16)
        self.assertEqual(done.metrics, [("yield1k", 16.0, "ns/op")])

    def test_an_axis_of_sizes_passes_the_size(self):
        self.assertEqual(curves.with_n(self.setting, "crowd", 100).metrics, [("crowd", 100.0, "ns/op")])

    def measured(self, axis, **changes):
        with contextlib.redirect_stderr(io.StringIO()):
            return curves.measure([axis], dataclasses.replace(self.setting, **changes), 3, 0)

    def test_a_point_that_fails_is_told_and_leaves_the_others(self):
        records = self.measured("waiters")
        self.assertEqual([(r["x"], r["status"]) for r in records],
                         [(1, "ok"), (10, "ok"), (100, "ok"), (1000, "failed (exit 3)")])
        self.assertEqual([len(r["samples"]) for r in records[:3]], [3, 3, 3])
        self.assertEqual(curves.failures(records), ["waiters at 1000: failed (exit 3)"])
        self.assertIn("waiters at 1000: failed (exit 3)", curves.table(records))

    def test_quick_is_two_points_an_axis(self):
        self.assertEqual([r["x"] for r in self.measured("waiters", quick=True)], [1, 10])

    def test_a_program_that_is_not_there_is_a_failure(self):
        records = self.measured("timers", quick=True)
        self.assertTrue(all(r["status"].startswith("failed") for r in records), records)

    def test_timers_are_read_from_google_benchmarks_json(self):
        found = [{"name": "add_stop/1000/manual_time", "real_time": 9e5, "add": 20.0, "stop": 30.0},
                 {"name": "fire/1000/manual_time", "real_time": 9e5, "fire": 40.0},
                 {"name": "user_reset/1000", "real_time": 50.0}]
        metrics = curves.of_timers(json.dumps({"benchmarks": found}))
        self.assertEqual([(m, v) for m, v, _ in metrics],
                         [("timer_add", 20.0), ("timer_stop", 30.0), ("timer_fire", 40.0), ("timer_reset", 50.0)])
        for text in ("", '{"benchmarks": []}'):
            with self.assertRaises(ValueError):
                curves.of_timers(text)

    def test_every_name_of_the_axis_of_ps_has_a_quick_n(self):
        self.assertLessEqual(set(curves.AXES["procs"].names), set(run.NAMES))

    def test_fewer_than_three_rounds_are_refused(self):
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            curves.arguments(["--rounds", "2"])


class Shown(unittest.TestCase):
    def test_the_table_has_a_column_per_x_and_marks_the_restless(self):
        lines = curves.table(RECORDS).splitlines()
        self.assertEqual(lines[0].split(), ["Ps", "1", "2", "4"])
        self.assertEqual(lines[1].split(), ["yield1k", "ns/op", "20", "40", "80"])
        self.assertEqual(lines[2].split(), ["chan_mpmc", "ns/msg", "30", "30*", "30"])
        self.assertIn(["echo", "roundtrips/s", "10,000", "100,000", "-"], [line.split() for line in lines])

    def test_costs_of_one_unit_share_a_panel_and_rates_do_not_join_them(self):
        self.assertEqual([(key, unit, list(lines)) for key, unit, lines in curves.panels(RECORDS)],
                         [("procs", "ns", ["yield1k", "chan_mpmc"]), ("connections", "roundtrips/s", ["echo"]),
                          ("connections", "us", ["echo_p99"])])

    def test_the_picture_is_xml_with_a_line_per_metric_and_a_mark_per_point(self):
        root = ElementTree.fromstring(curves.drawing(document_of(RECORDS)))
        lines = [len(e.get("points").split()) for e in root.iter(f"{NAMESPACE}polyline")]
        self.assertEqual(lines, [3, 3, 2, 1])  # a point at zero has no place on this scale
        marks = [e.get("class") for e in root.iter(f"{NAMESPACE}circle")]
        self.assertEqual((len(marks), marks.count("hollow")), (9, 1))
        words = " ".join(e.text for e in root.iter(f"{NAMESPACE}text"))
        self.assertIn("echo at 100: timed out", words)
        self.assertIn("Z80 <&>", words)

    def test_equal_steps_of_x_are_equal_ratios(self):
        root = ElementTree.fromstring(curves.drawing(document_of(RECORDS)))
        spots = next(root.iter(f"{NAMESPACE}polyline")).get("points").split()
        a, b, c = (float(spot.split(",")[0]) for spot in spots)
        self.assertAlmostEqual(b - a, c - b, delta=0.2)

    def test_everything_lies_inside(self):
        root = ElementTree.fromstring(curves.drawing(document_of(RECORDS)))
        width, height = float(root.get("width")), float(root.get("height"))
        for e in root.iter(f"{NAMESPACE}circle"):
            self.assertTrue(0 < float(e.get("cx")) < width and 0 < float(e.get("cy")) < height)


if __name__ == "__main__":
    unittest.main()
