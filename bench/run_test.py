#!/usr/bin/env python3
"""Tests of the runner: its numbers, what it refuses, how it ends a program."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
import machine
import programs
import report
import run


def series_of(values, metric="yield", unit="ns/op", foreign_s=0.0):
    s = run.Series()
    for v in values:
        s.add(run.Run("ok", [(metric, v, unit)], 0.1, 1000, wall_s=1.0, foreign_s=foreign_s))
    return s


def records_of(**programs):
    """Measurements of one name, `yield`: program → its values, or a status."""
    series = {}
    for program, values in programs.items():
        s = run.Series() if isinstance(values, str) else series_of(values)
        if isinstance(values, str):
            s.add(run.Run(values))
        series["yield", program] = s
    return report.measurements(series)


QUIET = [100.0, 101.0, 99.0, 100.0, 102.0]
HALF = [50.0, 50.0, 51.0, 49.0, 50.0]
NOISY = [50.0, 100.0, 150.0, 200.0, 60.0]


class Numbers(unittest.TestCase):
    def test_median_ignores_one_wild_run(self):
        self.assertEqual(report.summary([1.0, 2.0, 3.0, 4.0, 1000.0])["median"], 3.0)

    def test_median_of_an_even_count_lies_between(self):
        self.assertEqual(report.summary([1.0, 2.0, 3.0, 10.0])["median"], 2.5)

    def test_spread_is_iqr_over_median(self):
        self.assertAlmostEqual(report.spread([10.0, 20.0, 30.0, 40.0, 50.0]), 20 / 30, places=4)

    def test_spread_of_equal_runs_is_zero_and_of_one_run_unknown(self):
        self.assertEqual(report.spread([7.0, 7.0, 7.0]), 0.0)
        self.assertEqual(report.spread([0.0, 0.0, 0.0]), 0.0)
        self.assertIsNone(report.spread([7.0]))

    def test_spread_about_a_zero_median_is_unknown_and_so_noisy(self):
        self.assertIsNone(report.spread([-1.0, 0.0, 1.0]))
        self.assertTrue(records_of(vole=[-1.0, -1.0, 0.0, 1.0, 1.0])[0]["noisy"])

    def test_ratio_is_base_over_peer(self):
        base, peer = records_of(vole=HALF, go=QUIET)
        self.assertEqual(report.ratio(base, peer), 0.5)

    def test_ratio_of_different_units_or_a_zero_is_none(self):
        ns, ms = report.measurements({("a", "vole"): series_of(QUIET), ("a", "go"): series_of(QUIET, unit="ms")})
        self.assertIsNone(report.ratio(ns, ms))
        zero, some = records_of(vole=[0.0] * 5, go=QUIET)
        self.assertIsNone(report.ratio(zero, some))


class Publishing(unittest.TestCase):
    def reasons(self, **programs):
        published, withheld = report.compare(records_of(**programs), "vole")
        self.assertEqual(published, [])
        return [row["reason"] for row in withheld]

    def test_two_quiet_sides_are_published(self):
        published, withheld = report.compare(records_of(vole=HALF, go=QUIET), "vole")
        self.assertEqual(withheld, [])
        self.assertEqual([(r["metric"], r["peer"], r["ratio"]) for r in published], [("yield", "go", 0.5)])

    def test_a_noisy_side_is_refused_on_either_side(self):
        self.assertIn("go noisy", self.reasons(vole=QUIET, go=NOISY)[0])
        self.assertIn("vole noisy", self.reasons(vole=NOISY, go=QUIET)[0])

    def test_a_noisy_peer_does_not_hide_a_quiet_one(self):
        published, withheld = report.compare(records_of(vole=HALF, go=QUIET, boost_fiber=NOISY), "vole")
        self.assertEqual([r["peer"] for r in published], ["go"])
        self.assertEqual([r["peer"] for r in withheld], ["boost_fiber"])

    def test_a_steady_neighbour_is_refused_though_the_runs_agree(self):
        beside = series_of(QUIET, foreign_s=0.5 * os.cpu_count())
        series = {("yield", "vole"): beside, ("yield", "go"): series_of(QUIET)}
        published, withheld = report.compare(report.measurements(series), "vole")
        self.assertEqual(published, [])
        self.assertEqual(withheld[0]["reason"], "vole disturbed: others used 50% of the processors")

    def test_too_few_rounds_are_refused(self):
        self.assertIn("fewer than 5", self.reasons(vole=QUIET[:4], go=QUIET)[0])

    def test_a_program_that_timed_out_is_refused_and_said(self):
        self.assertIn("go timed out", self.reasons(vole=QUIET, go="timed out")[0])
        self.assertIn("timed out", report.table(records_of(vole=QUIET, go="timed out"), "vole"))

    def test_a_name_not_offered_is_a_dash_and_leaves_the_others_alone(self):
        records = records_of(vole=HALF, go=QUIET, boost_fiber=report.NOT_OFFERED)
        words = report.table(records, "vole").splitlines()[3].split()
        self.assertEqual(words, ["yield", "boost_fiber", "-", "not", "offered"])
        published, withheld = report.compare(records, "vole")
        self.assertEqual([r["peer"] for r in published], ["go"])
        self.assertEqual([r["reason"] for r in withheld], ["boost_fiber not offered"])

    def test_table_marks_noise_and_shows_the_ratio(self):
        text = report.table(records_of(vole=HALF, go=QUIET, boost_fiber=NOISY), "vole").splitlines()
        self.assertIn("0.50", text[2])
        self.assertTrue(text[3].endswith("noisy"))

    def test_a_metric_is_compared_with_the_same_metric_only(self):
        two = run.Series()
        for v in QUIET:
            two.add(run.Run("ok", [("skynet", v, "ms"), ("skynet_rss", v * 9, "KB")]))
        published, _ = report.compare(report.measurements({("skynet", "vole"): two, ("skynet", "go"): two}), "vole")
        self.assertEqual([(r["metric"], r["ratio"]) for r in published], [("skynet", 1.0), ("skynet_rss", 1.0)])


class Running(unittest.TestCase):
    def execute(self, script, timeout=10):
        return run.execute([sys.executable, "-c", script], {}, timeout)

    def test_output_is_parsed(self):
        done = self.execute("print('yield 12.50 ns/op')")
        self.assertEqual((done.status, done.metrics), ("ok", [("yield", 12.5, "ns/op")]))
        self.assertGreater(done.max_rss_kb, 0)

    def test_its_own_work_is_not_foreign(self):
        done = self.execute("import time\nwhile time.process_time() < 0.5: pass\nprint('a 1 s')", timeout=60)
        self.assertGreater(done.cpu_s, 0.3)
        self.assertLess(done.foreign_s, os.cpu_count() * done.wall_s - done.cpu_s + 0.1)

    def test_chatter_is_a_failure(self):
        self.assertTrue(self.execute("print('hello')").status.startswith("failed"))
        self.assertTrue(self.execute("").status.startswith("failed"))

    def complain(self, words, status=2):
        said, run.say = run.say, lambda *_: None
        try:
            return self.execute(f"import sys; print({words!r}, file=sys.stderr); sys.exit({status})").status
        finally:
            run.say = said

    def test_an_unknown_name_is_not_offered(self):
        self.assertEqual(self.complain("unknown x"), report.NOT_OFFERED)
        self.assertEqual(self.complain("x_bench: unknown name: y\nusage: x_bench NAME [N]"), report.NOT_OFFERED)

    def test_another_complaint_or_status_is_a_failure_though_it_says_unknown(self):
        self.assertEqual(self.complain("x_bench: bad N: 0\nunknown"), "failed (exit 2)")
        self.assertEqual(self.complain("panic: 7\n\ngoroutine 1: unknown pc"), "failed (exit 2)")
        self.assertEqual(self.complain("unknown x", status=1), "failed (exit 1)")

    def test_a_crash_and_an_exit_status_are_told_apart(self):
        self.assertEqual(self.execute("import os; os.kill(os.getpid(), 11)").status, "failed (signal 11)")
        self.assertEqual(self.execute("raise SystemExit(3)").status, "failed (exit 3)")

    def test_a_program_that_ignores_sigterm_still_times_out(self):
        began = time.monotonic()
        script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
        self.assertEqual(self.execute(script, timeout=0.5).status, "timed out")
        self.assertLess(time.monotonic() - began, 20)

    def test_rounds_interleave_turn_and_stop_after_a_failure(self):
        order = []

        def run_one(program, name, n, timeout):
            order.append(program)
            return run.Run("timed out") if program == "c" else run.Run("ok", [(name, 1.0, "ms")])

        said, run.say = run.say, lambda *_: None
        try:
            series = run.measure(["fib"], ["a", "b", "c"], 3, 1, lambda name: None, run_one)
        finally:
            run.say = said
        self.assertEqual("".join(order), "abc" + "ba" + "ab")
        self.assertEqual(series["fib", "c"].status, "timed out")
        self.assertEqual(len(series["fib", "a"].values["fib"]), 3)


class Programs(unittest.TestCase):
    def test_every_program_has_a_builder_and_every_default_peer_is_a_program(self):
        self.assertEqual({p.build for p in programs.PROGRAMS.values()}, set(programs.BUILDERS))
        self.assertLessEqual(set(run.DEFAULT_PEERS), set(programs.PROGRAMS))

    def test_the_floor_runs_only_when_asked_for_and_is_never_what_others_are_compared_with(self):
        self.assertNotIn(report.FLOOR, run.DEFAULT_PEERS)
        self.assertEqual(run.arguments(["--peers", "go,floor"]).peers, ["go", report.FLOOR])
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            run.arguments(["--base", report.FLOOR])

    def test_programs_of_one_file_differ_in_their_environment(self):
        for a in programs.PROGRAMS.values():
            same = [b for b in programs.PROGRAMS.values() if (b.path, b.env) == (a.path, a.env)]
            self.assertEqual(len(same), 1)

    def test_what_cannot_be_built_is_told_and_the_rest_is_built(self):
        built = []

        def refuse():
            raise FileNotFoundError("cargo")

        builders, said = programs.BUILDERS, programs.say
        programs.BUILDERS, programs.say = {"go": lambda: built.append("go"), "tokio": refuse}, lambda *_: None
        try:
            self.assertEqual(programs.build(["tokio", "tokio1", "go"]), {"tokio", "tokio1"})
        finally:
            programs.BUILDERS, programs.say = builders, said
        self.assertEqual(built, ["go"])

    @unittest.skipUnless(shutil.which("g++"), "no g++")
    def test_the_bare_server_offers_no_other_name_whatever_its_n(self):
        with tempfile.TemporaryDirectory() as folder:
            server = str(pathlib.Path(folder) / "bare")
            source = str(programs.BENCH / "bare" / "epoll.cc")
            subprocess.run(["g++", "-std=c++20", "-o", server, source], check=True)
            for words in (["fib"], ["fib", "20"]):
                self.assertEqual(run.execute([server, *words], {}, 10).status, report.NOT_OFFERED)

    @unittest.skipUnless(shutil.which("g++"), "no g++")
    def test_the_floor_runs_every_name_it_has_and_offers_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            floor = str(pathlib.Path(folder) / "floor")
            sources = [str(path) for path in (programs.BENCH / "floor").glob("*.cc")]
            subprocess.run(["g++", *programs.CC_FLAGS, "-o", floor, *sources], check=True)
            self.assertEqual(run.execute([floor, "fib", "20"], {}, 10).status, report.NOT_OFFERED)
            self.assertEqual(run.execute([floor, "http", "127.0.0.1:1"], {}, 10).status, report.NOT_OFFERED)
            offered = [name for name in run.NAMES if self.offers(floor, name)]
            self.assertIn("syscall", offered)

    def offers(self, program, name):
        """Whether it has a name; what it prints must be of that name."""
        done = subprocess.run([program, name, "1000"], capture_output=True, text=True)
        if done.returncode == 2:
            return False
        if "MADV_GUARD_INSTALL" in done.stderr:
            return True  # this kernel has none
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(all(metric.startswith(name) for metric, _, _ in run.parse(done.stdout)))
        return True

    def test_cargo_is_given_debians_crates_only(self):
        config = (programs.BENCH / "tokio" / ".cargo" / "config.toml").read_text()
        self.assertIn('directory = "/usr/share/cargo/registry"', config)
        self.assertIn("offline = true", config)


class Record(unittest.TestCase):
    def test_memory_is_warmed_only_as_far_as_there_is_some(self):
        self.assertEqual(machine.affordable_mb(5000, 24000), 5000)
        self.assertEqual(machine.affordable_mb(5000, 4000), 2000)
        self.assertEqual(machine.affordable_mb(0, 4000), 0)
        self.assertEqual(set(run.MEMORY_MB) - set(run.NAMES), set())
        machine.warm_memory(1)
        machine.warm_memory(0)

    def test_nothing_saved_names_the_machine_or_its_paths(self):
        text = json.dumps([machine.machine(), programs.compilers(programs.PROGRAMS), programs.commit()])
        self.assertNotIn(str(programs.ROOT), text)
        self.assertNotIn(str(pathlib.Path.home()), text)
        if len(socket.gethostname()) > 3:
            self.assertNotIn(socket.gethostname(), text)

    def test_an_earlier_record_is_never_overwritten(self):
        with tempfile.TemporaryDirectory() as folder:
            document = {"date": "2001-02-03T04:05Z", "commit": "abc"}
            paths = [report.save(document, pathlib.Path(folder)) for _ in range(2)]
        self.assertEqual([p.name for p in paths], ["2001-02-03-abc.json", "2001-02-03-abc-2.json"])


if __name__ == "__main__":
    unittest.main()
