"""`vole trace check` and `vole trace summary` on good, damaged and foreign files."""

import json
import os
import struct
import subprocess
import unittest

from traces import TraceTest, vole


class TraceCheck(TraceTest):
    def test_a_good_trace_is_good(self):
        done = vole("check", self.sample("three"))
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, "93 events in 3 generations can be read.\n")

    def test_what_is_no_trace_is_refused(self):
        for verb in ("check", "summary"):
            self.assert_refused([verb, "/nowhere"], "No such file")
            self.assert_refused([verb, self.folder], "not a file")
            self.assert_refused([verb, self.file("text", b"hello")], "not a vole trace")
            self.assert_refused([verb, self.file("empty", b"")], "empty")
            self.assert_refused([verb, self.file("ring", b"VOLERNG\n" + bytes(24))], "recover")
            self.assert_refused([verb], "FILE is required")

    def test_a_generation_that_is_damaged_is_named(self):
        with open(self.sample("three"), "rb") as whole:
            content = bytearray(whole.read())
        content[len(content) // 2] ^= 1
        damaged = self.file("damaged", content)
        done = vole("check", damaged)
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stdout, r"Generation 2 cannot be read: .* wrong checksum\.\n62 events")
        done = vole("summary", damaged)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Generation 2 is left out", done.stdout)
        self.assertIn("1 gap: 20.0 µs are missing", done.stdout)

    def test_a_file_cut_at_every_chunk_is_a_sentence_or_a_shorter_trace(self):
        with open(self.sample("three"), "rb") as whole:
            content = whole.read()
        ends, at = [0, 8, 31, 32], 32
        while at < len(content):
            at += 48 + struct.unpack_from("<I", content, at + 4)[0]
            ends += [at - 1, at, at + 20]
        for end in ends:
            cut = self.file("cut", content[:end])
            for verb in ("check", "summary"):
                done = vole(verb, cut)
                self.assertIn(done.returncode, (0, 1, 2), (end, done))
                self.assertNotIn("Sanitizer", done.stderr)
                if done.returncode == 2:
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class TraceSummary(TraceTest):
    def test_it_fits_into_a_hundred_columns(self):
        done = vole("summary", self.sample("three"))
        self.assertEqual(done.returncode, 0, done)
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 100, line)
        for words in ("Goroutines by function", "Blocked, by reason", "Places that block most",
                      "Scheduling latency", "What woke whom", "Ps  ", "work at demo.cc:12",
                      "3 taken, of these 3 from goroutines in calls"):
            self.assertIn(words, done.stdout)

    def test_main_is_called_main(self):
        path = self.path("main.trace")
        child = os.path.join(os.environ["VOLE_TOOLS_DIR"], "control_child")
        subprocess.run([child, "talk"], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, VOLE_TRACE=path))
        table = vole("summary", path).stdout.partition("Goroutines by function")[2].partition("\n\n")[0]
        self.assertRegex(table, r"\n  main +1 ")
        self.assertNotIn("vole::detail", table)

    def test_json_has_the_same_and_adds_up(self):
        done = vole("summary", "--json", self.sample("three"))
        self.assertEqual(done.returncode, 0, done)
        summary = json.loads(done.stdout)
        states = sum(sum(f["states"].values()) for f in summary["functions"])
        self.assertAlmostEqual(states, summary["lifetimes"], places=3)
        self.assertEqual(summary["duration"], 60000)
        work = next(f for f in summary["functions"] if f["name"] == "work(int)")
        self.assertEqual(work["goroutines"], 6)
        self.assertEqual(work["states"]["evicted"], 1500)
        self.assertEqual(work["blocked"], {"chan receive": 12000})
        self.assertEqual(sum(b["count"] for b in summary["latency"]["histogram"]),
                         summary["latency"]["count"])


class TraceRecover(TraceTest):
    def test_what_a_ring_holds_becomes_a_trace(self):
        out = self.path("out.trace")
        done = vole("recover", self.sample("ring"), "-o", out)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Generation 1 cannot be read: its begin is missing.", done.stdout)
        self.assertIn("62 events in 2 generations", done.stdout)
        self.assertEqual(vole("check", out).returncode, 0)
        done = vole("summary", out)
        self.assertIn("recovered from a ring", done.stdout)

    def test_what_is_no_ring_is_refused(self):
        out = self.path("out.trace")
        self.assert_refused(["recover", self.sample("small"), "-o", out], "a trace already")
        self.assert_refused(["recover", self.file("x", b"x"), "-o", out], "not a flight recorder")
        self.assert_refused(["recover", self.sample("ring"), "-o", "/nowhere/x"], "cannot be written")
        self.assert_refused(["recover", self.sample("ring")], "--output is required")
        self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    unittest.main()
