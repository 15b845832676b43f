#!/usr/bin/env python3
"""Tests of the picture and the table: what they show, what they must not, and that they can be read."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
import picture
import report
import run
import svg

NAMESPACE = "{http://www.w3.org/2000/svg}"


def series_of(metric, unit, value):
    """Five quiet runs about a value; a list is taken as it is, a word is a status."""
    s = run.Series()
    if isinstance(value, str):
        s.add(run.Run(value))
        return s
    for v in value if isinstance(value, list) else [value] * 5:
        s.add(run.Run("ok", [(metric, v, unit)], 0.1, 1000, wall_s=1.0))
    return s


def document_of(works):
    """{(metric, unit): {program: value}} as run.py would save it."""
    series = {(m, p): series_of(m, u, v) for (m, u), programs in works.items() for p, v in programs.items()}
    records = report.measurements(series)
    published, withheld = report.compare(records, "vole")
    return {
        "date": "2001-02-03T04:05Z", "commit": "abc", "command": "bench/run.py <all> & more",
        "machine": {"cpu": "Z80", "cores": 2, "memory_mb": 2048, "kernel": "Linux 9", "load_before": 0.5},
        "compilers": {"vole": "g++ 1", "go": "go 2"}, "rules": {"rounds": 5},
        "published": published, "withheld": withheld, "measurements": records,
    }


NOISY = [50.0, 100.0, 150.0, 200.0, 60.0]
DOCUMENT = document_of({
    ("yield", "ns/op"): {"vole": 10.0, "go": 40.0, "tokio": 5.0, "tbb": report.NOT_OFFERED},
    ("fib", "ms"): {"vole": 100.0, "go": NOISY, "tokio": "timed out", "tbb": 50.0},
    ("sieve", "ms"): {"vole": NOISY, "go": 7.0, "tokio": 9.0, "tbb": report.NOT_OFFERED},
    ("echo_c100", "roundtrips/s"): {"vole": 300.0, "go": 100.0, "tokio": 600.0, "tbb": report.NOT_OFFERED},
})


class Drawing(unittest.TestCase):
    def setUp(self):
        self.text = picture.drawing(DOCUMENT)
        self.root = ElementTree.fromstring(self.text)
        self.texts = [e.text for e in self.root.iter(f"{NAMESPACE}text")]
        self.caption = " ".join(self.texts)

    def bars(self, peer):
        """(left, right) of a peer's bars, from above; the first is its key in the legend."""
        of_peer = [e for e in self.root.iter(f"{NAMESPACE}rect") if e.get("fill") == picture.colour(peer)]
        spans = [(float(e.get("x")), float(e.get("x")) + float(e.get("width"))) for e in of_peer]
        return spans[1:]

    def line_of_one(self):
        axis = [e for e in self.root.iter(f"{NAMESPACE}line") if e.get("class") == "axis"]
        self.assertEqual(len(axis), 1)
        return float(axis[0].get("x1"))

    def test_it_is_xml_with_a_size_and_nothing_from_outside(self):
        self.assertEqual(self.root.tag, f"{NAMESPACE}svg")
        self.assertGreater(float(self.root.get("height")), 100)
        self.assertNotRegex(self.text.replace("http://www.w3.org/2000/svg", ""), r"https?:|url\(|@import|<script")

    def test_it_follows_the_readers_light(self):
        self.assertIn("prefers-color-scheme: dark", self.text)

    def test_a_bar_per_published_row_and_none_for_the_others(self):
        counts = {peer: len(self.bars(peer)) for peer in ("go", "tokio", "tbb")}
        self.assertEqual(counts, {"go": 2, "tokio": 2, "tbb": 1})  # yield and echo; the same; fib

    def test_a_metric_of_which_all_is_withheld_has_no_group_and_is_named(self):
        self.assertNotIn("sieve", self.texts)
        self.assertRegex(self.caption, r"Withheld .*sieve")

    def test_a_peer_that_is_withheld_is_named_and_one_that_offers_nothing_is_not(self):
        self.assertIn("fib (go, tokio)", self.caption)
        self.assertNotRegex(self.caption, r"yield \(")

    def test_right_of_the_line_is_who_does_worse_also_of_rates(self):
        one = self.line_of_one()
        slow_yield, low_echo = self.bars("go")
        fast_yield, high_echo = self.bars("tokio")
        for span in (slow_yield, low_echo):
            self.assertAlmostEqual(span[0], one, delta=0.2)
            self.assertGreater(span[1], one)
        for span in (fast_yield, high_echo):
            self.assertAlmostEqual(span[1], one, delta=0.2)
            self.assertLess(span[0], one)
        self.assertAlmostEqual(fast_yield[0], high_echo[0], delta=0.2)  # both twice as good

    def test_the_labels_are_ratios_of_costs(self):
        for label in ("4×", "3×", "0.5×"):
            self.assertIn(label, self.texts)

    def test_the_caption_has_machine_kernel_compilers_commit_and_date(self):
        for words in ("Z80", "2 cores", "Linux 9", "g++ 1", "go 2", "abc", "2001-02-03"):
            self.assertIn(words, self.caption)

    def test_everything_lies_inside(self):
        width, height = float(self.root.get("width")), float(self.root.get("height"))
        for e in self.root.iter(f"{NAMESPACE}text"):
            self.assertTrue(0 <= float(e.get("x")) <= width and 0 <= float(e.get("y")) <= height, e.text)

    def test_a_result_of_which_nothing_may_be_published_says_so(self):
        empty = document_of({("yield", "ns/op"): {"vole": NOISY, "go": 1.0}})
        root = ElementTree.fromstring(picture.drawing(empty))
        self.assertIn("Nothing in this result may be published.", [e.text for e in root.iter(f"{NAMESPACE}text")])
        self.assertNotIn("|", picture.table(empty))

    def test_a_ratio_too_small_for_its_four_digits_is_still_drawn(self):
        ElementTree.fromstring(picture.drawing(document_of({("fib", "ms"): {"vole": 1.0, "go": 1e6}})))


class Table(unittest.TestCase):
    def rows(self, document):
        lines = [line for line in picture.table(document).splitlines() if line.startswith("|")]
        cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines]
        self.assertEqual(len({len(row) for row in cells}), 1)
        return {row[0]: dict(zip(cells[0], row)) for row in cells[2:]}

    def test_medians_ratio_and_bar(self):
        row = self.rows(DOCUMENT)["yield"]
        expected = {"unit": "ns/op", "vole": "10", "go": "40", "tokio": "5", "tbb": "", "vole / go": "0.25",
                    "bar": "met"}
        self.assertEqual({key: row[key] for key in expected}, expected)

    def test_a_higher_rate_meets_the_bar_and_a_lower_does_not(self):
        self.assertEqual(self.rows(DOCUMENT)["echo_c100"]["bar"], "met")
        slower = document_of({("echo_c100", "roundtrips/s"): {"vole": 90.0, "go": 100.0}})
        row = self.rows(slower)["echo_c100"]
        self.assertEqual((row["vole / go"], row["bar"]), ("0.90", "missed"))

    def test_the_floor_is_a_column_that_meets_no_bar_and_is_not_drawn(self):
        beside = document_of({("yield", "ns/op"): {"vole": 10.0, "go": 40.0, "floor": 5.0},
                              ("fib", "ms"): {"vole": 10.0, "go": NOISY, "floor": 5.0}})
        rows = self.rows(beside)
        self.assertEqual([(r["floor"], r["bar"]) for r in (rows["yield"], rows["fib"])], [("5", "met"), ("5", "")])
        self.assertIn("no competitor", picture.table(beside))
        self.assertNotIn("no competitor", picture.table(DOCUMENT))
        self.assertNotIn("floor", picture.drawing(beside))

    def test_what_was_withheld_has_no_number(self):
        rows = self.rows(DOCUMENT)
        self.assertNotIn("sieve", rows)
        self.assertEqual((rows["fib"]["go"], rows["fib"]["vole / go"], rows["fib"]["bar"]), ("withheld", "", ""))

    def test_only_the_peers_and_metrics_asked_for(self):
        rows = self.rows(picture.narrowed(DOCUMENT, ["go"], ["yield"]))
        self.assertEqual(list(rows), ["yield"])
        self.assertNotIn("tokio", rows["yield"])

    def test_it_goes_between_the_marks_and_nowhere_else(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(f"before\n{picture.BEGIN}\nold\n{picture.END}\nafter\n")
            for _ in range(2):
                picture.put_into(page, "new\n")
            self.assertEqual(page.read_text(), f"before\n{picture.BEGIN}\nnew\n{picture.END}\nafter\n")
            page.write_text("no marks\n")
            with self.assertRaises(ValueError):
                picture.put_into(page, "new")
            self.assertEqual(page.read_text(), "no marks\n")


class Command(unittest.TestCase):
    def test_a_saved_result_is_drawn_and_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            path, out = report.save(DOCUMENT, pathlib.Path(folder)), pathlib.Path(folder) / "bench.svg"
            script = pathlib.Path(picture.__file__)
            command = [sys.executable, "-B", str(script), str(path), "-o", str(out), "--table"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout, picture.table(json.loads(path.read_text())))
            ElementTree.parse(out)

    def test_the_pictures_path_is_not_recorded(self):
        for words in (["--picture", "/home/x.svg", "--rounds", "5"], ["--picture=/home/x.svg", "--rounds", "5"]):
            self.assertEqual(run.recorded(words), "bench/run.py --rounds 5")

    def test_every_peer_has_a_colour_of_its_own(self):
        self.assertEqual(set(picture.ORDER) | {"vole", report.FLOOR}, set(run.PROGRAMS))
        self.assertEqual(len({picture.colour(peer) for peer in picture.ORDER}), len(picture.ORDER))


class Numbers(unittest.TestCase):
    def test_numbers_as_a_person_writes_them(self):
        shown = [svg.number(v) for v in (0, 0.1712, 9.5, 99.96, 136.4, 1_236_000)]
        self.assertEqual(shown, ["0", "0.171", "9.5", "100", "136", "1,240,000"])
        self.assertEqual([svg.short(v) for v in (0.5, 20, 1000, 2e6)], ["0.5", "20", "1k", "2M"])

    def test_a_logarithmic_scale_keeps_ratios_and_has_room_for_one_value(self):
        scale = svg.LogScale(0.6, 90, 0, 100)
        self.assertAlmostEqual(scale(2) - scale(1), scale(20) - scale(10))
        self.assertTrue(0 <= scale(0.6) and scale(90) <= 100)
        single = svg.LogScale(5, 5, 0, 100)
        self.assertTrue(0 <= single(5) <= 100)
        self.assertGreaterEqual(len(single.ticks), 2)


if __name__ == "__main__":
    unittest.main()
