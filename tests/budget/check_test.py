#!/usr/bin/env python3
"""Tests of check.py: what it reads out of dumps, and what it says about figures."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check


def dump(path, n, total, yielding):
    return f"""\
version: 1
desc: Trigger: Client Request: {path} {n}
events: Ir
summary: {total}

fn=(1) vole_goroutine_main
0 {total - yielding}
cfn=(2) vole::v0::yield()
calls={n} 0
0 {yielding}
+3 0

fn=(2)
0 {yielding - 4}

fn=(3) vole::v0::yield()'2
0 4
"""


class Dumps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Three rounds. The first is cold, and in the last a slice ended.
        totals = [(1900, 2500), (1500, 2400), (1500, 2450)]
        for i, (once, twice) in enumerate(totals):
            (self.folder / f"paths.{2 * i}-04").write_text(dump("yield", 100, once, 1000))
            (self.folder / f"paths.{2 * i + 1}-04").write_text(dump("yield", 200, twice, 1800))
        (self.folder / "paths-04").write_text("desc: Trigger: Program termination\nsummary: 9\n")

    def test_a_turn_is_the_difference_of_the_cheapest_rounds(self):
        dumps = check.read_dumps(self.folder)
        self.assertEqual(list(dumps), ["yield"])
        self.assertEqual(check.per_turn(dumps["yield"]), 9)

    def test_a_function_is_charged_for_itself_and_its_recursion(self):
        self.assertEqual(check.where(check.read_dumps(self.folder)["yield"]),
                         [(8, "vole::v0::yield()"), (1, "vole_goroutine_main")])


class Verdicts(unittest.TestCase):
    def compare(self, budget, now):
        return check.compare({"p": budget} if budget else {}, {"p": now} if now else {})

    def test_longer_by_more_than_a_tenth_fails(self):
        self.assertEqual(self.compare(100, 110)[1], [])
        table, failed = self.compare(100, 111)
        self.assertEqual(failed, ["p"])
        self.assertRegex(table, r"p +100\.0 +111\.0 +\+11\.0% LONGER")

    def test_one_instruction_more_passes_on_the_shortest_path(self):
        self.assertEqual(self.compare(9, 10)[1], [])
        self.assertEqual(self.compare(9, 10.5)[1], ["p"])

    def test_shorter_is_told_and_passes(self):
        table, failed = self.compare(100, 89)
        self.assertEqual(failed, [])
        self.assertIn("shorter: --record", table)

    def test_paths_and_budgets_must_agree(self):
        self.assertEqual(self.compare(None, 5)[1], ["p"])
        self.assertEqual(self.compare(5, None)[1], ["p"])


class Files(unittest.TestCase):
    def test_what_is_recorded_is_read_back(self):
        figures = {"yield_2": 207.25, "checkpoint": 12.0}
        text = check.write_budgets("g++ 12, amd64", figures)
        self.assertEqual(check.read_budgets(text),
                         ("g++ 12, amd64", {"yield_2": 207.2, "checkpoint": 12.0}))

    def test_skip_says_why(self):
        said = io.StringIO()
        with mock.patch.object(sys, "argv", ["check.py", "--skip", "no valgrind"]), \
                contextlib.redirect_stdout(said), self.assertRaises(SystemExit) as end:
            check.main()
        self.assertEqual((end.exception.code, said.getvalue()), (77, "skipped: no valgrind\n"))


if __name__ == "__main__":
    unittest.main()
