"""`vole core`: gdb, lldb and eu-stack show goroutines as threads, with the names and lines of the
program's own dump; what is no core, or no program of ours, is refused with a sentence."""

import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from looked_at import TOOLS, Child, gdb, goroutines_of, own_frames, plain

VOLE = os.environ["VOLE_COMMAND"]
FIRST = 1_000_000_000


def vole(*words, **more):
    return subprocess.run([VOLE, "core", *map(str, words)], capture_output=True, text=True,
                          errors="replace", **more)


def parked(dump):
    return {number: frames for number, (state, _, frames) in goroutines_of(dump).items()
            if state.startswith("waiting")}


class Core(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def make(self, *words, at):
        done = vole(*words, "-o", at)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(at.stat().st_mode & 0o777, 0o600)
        return at

    def take(self, kind, *options):
        with Child(TOOLS / f"parked_{kind}", self.folder) as child:
            core = self.make("take", child.pid, *options, at=self.folder / "taken")
            self.assertEqual(child.end(), 7, "it goes on afterwards")
        return child, core

    def assert_debuggers_agree(self, child, core):
        expected = parked(child.dump)
        self.assertEqual(len(expected), 8, child.dump)
        by_gdb = self.by_gdb(child.program, core)
        by_elfutils = self.by_elfutils(child.program, core)
        for number, frames in expected.items():
            lines = [(plain(function), place) for function, place in frames]
            self.assertEqual([(plain(f), at) for f, at in own_frames(by_gdb[number])], lines)
            self.assertIn("vole_goroutine_start", by_gdb[number])
            # eu-stack shows no inlined calls and no lines: the outermost named function is enough.
            self.assertIn("vole_goroutine_start", by_elfutils[number])
            named = [function for function, _ in lines if function != "lambda"]
            if named:
                self.assertIn(named[-1], by_elfutils[number])

    def by_gdb(self, program, core):
        out, err = gdb("thread apply all backtrace", target=[program, core], script=None)
        parts = re.split(r"(?m)^Thread \d+ \(.*LWP (\d+)\)+:\n", out)
        found = {int(lwp) - FIRST: text for lwp, text in zip(parts[1::2], parts[2::2])}
        self.assertGreater(len([lwp for lwp in found if lwp > 0]), 0, out + err)
        return found

    def by_elfutils(self, program, core):
        done = subprocess.run(["eu-stack", "-e", program, "--core", core], capture_output=True,
                              text=True, errors="replace")
        parts = re.split(r"(?m)^TID (\d+):\n", done.stdout)
        return {int(tid) - FIRST: text for tid, text in zip(parts[1::2], parts[2::2])}

    def test_taken_from_a_live_process(self):
        for kind in ("child", "release", "shared"):
            with self.subTest(kind):
                self.assert_debuggers_agree(*self.take(kind))

    def test_made_of_a_core(self):
        for kind in ("child", "release"):
            with self.subTest(kind):
                child, core = self.take(kind, "--plain")
                before = core.read_bytes()
                made = self.make("threads", child.program, core, at=self.folder / "made")
                self.assertEqual(core.read_bytes(), before)
                self.assert_debuggers_agree(child, made)

    def test_made_of_a_core_of_the_kernels(self):
        pattern = Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8").strip()
        if "/" in pattern or "|" in pattern or "%" in pattern:
            self.skipTest(f"cores go elsewhere here: {pattern}")
        with Child(TOOLS / "parked_release", self.folder) as child:
            self.assertEqual(child.end("abort\n"), -6)
        cores = list(self.folder.iterdir())
        if not cores:
            self.skipTest("no core was written: the limit is below its size")
        made = self.make("threads", child.program, cores[0], at=self.folder / "made")
        self.assert_debuggers_agree(child, made)
        # What was a hole is one: goroutines' stacks are large and hardly touched.
        self.assertLess(made.stat().st_blocks, cores[0].stat().st_blocks + 2048)
        out, _ = gdb("info threads", target=[child.program, made], script=None)
        self.assertRegex(out, r"(?m)^\* 1 .*raise|^\* 1 .*pthread_kill", "who crashed stays first")

    def by_lldb(self, kind):
        """the expected frames, and the texts of those threads that are goroutines"""
        child, core = self.take(kind)
        done = subprocess.run(
            ["lldb", "--no-lldbinit", "--batch", "-o", "thread backtrace all", "-c", core,
             child.program], capture_output=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL)
        threads = re.split(r"(?m)^[ *] thread #", done.stdout)[1:]
        return parked(child.dump).values(), [text for text in threads if "`vole_land" in text]

    @unittest.skipUnless(shutil.which("lldb"), "no lldb here")
    def test_lldb_shows_the_same_lines(self):
        expected, threads = self.by_lldb("child")
        self.assertEqual(sorted(re.findall(r"parked_child\.cc:\d+", text) for text in threads),
                         sorted([place for _, place in frames] for frames in expected))

    @unittest.skipUnless(shutil.which("lldb"), "no lldb here")
    def test_lldb_shows_optimised_ones(self):
        # lldb 14 leaves out some inlined calls, so the functions are compared.
        expected, threads = self.by_lldb("release")
        self.assertEqual(len(threads), len(expected))
        for frames in expected:
            for name in (plain(function) for function, _ in frames):
                self.assertTrue(name == "lambda" or any(name in text for text in threads), name)
        for text in threads:
            self.assertIn("vole_goroutine_start", text)

    def test_script_and_dump_work_on_such_a_core(self):
        child, core = self.take("release")
        out, err = gdb("info goroutines", target=[child.program, core])
        self.assertIn("goroutine 5 (locksmith) [waiting, mutex", out, err)
        done = subprocess.run([VOLE, "dump", "--core", core, child.program], capture_output=True,
                              text=True)
        self.assertEqual({n: [place for _, place in f] for n, f in parked(done.stdout).items()},
                         {n: [place for _, place in f] for n, f in parked(child.dump).items()},
                         done.stdout + done.stderr)

    def assert_refused(self, done, words):
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(list(self.folder.glob("out*")), [], "no half of a file is left")

    def test_bad_input_is_refused(self):
        out = self.folder / "out"
        text = self.folder / "text"
        text.write_text("no core\n" * 1000)
        empty = self.folder / "empty"
        empty.touch()
        program = TOOLS / "parked_child"
        for core, words in ((text, "text"), (empty, "empty"), (program, "not a core"),
                            (self.folder / "none", "none"), (self.folder, str(self.folder))):
            self.assert_refused(vole("threads", program, core, "-o", out), words)
        child, core = self.take("child", "--plain")
        for wrong, words in ((text, "text"), ("/bin/true", "build ids differ"),
                             (self.folder / "none", "none")):
            self.assert_refused(vole("threads", wrong, core, "-o", out), words)
        self.assert_refused(vole("threads", child.program, core, "-o", core), "another file")
        self.assert_refused(vole("threads", child.program, core, "-o", self.folder), "not a file")
        self.assert_refused(vole("threads", child.program, core, "-o", "/nowhere/x"), "/nowhere/x")
        self.assert_refused(vole("threads", child.program, core), "output")
        self.assert_refused(vole(), "subcommand")

    def test_a_cut_core_is_refused_or_read_as_far_as_it_goes(self):
        child, core = self.take("child", "--plain")
        whole = core.read_bytes()
        out = self.folder / "made"
        for eighths in range(8):
            core.write_bytes(whole[: len(whole) * eighths // 8 + 100])
            done = vole("threads", child.program, core, "-o", out)
            self.assertIn(done.returncode, (0, 2), done)
            self.assertLessEqual(done.stderr.count("\n"), 1, done.stderr)
            if done.returncode == 2:
                self.assertNotEqual(done.stderr, "")
                self.assertNotIn("unfinished", done.stderr)

    def test_bad_processes_are_refused(self):
        out = self.folder / "out"
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.assert_refused(vole("take", gone.pid, "-o", out), "no process")
        self.assert_refused(vole("take", "seven", "-o", out), "seven")
        plain_program = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(plain_program.wait)
        self.addCleanup(plain_program.kill)
        self.assert_refused(vole("take", plain_program.pid, "-o", out), "vole")

    def test_a_process_that_ends_meanwhile_is_no_crash(self):
        out = self.folder / "out"
        for delay in (0, 0.01, 0.03, 0.06):
            with Child(TOOLS / "parked_release") as child:
                killer = threading.Timer(delay, child.process.kill)
                killer.start()
                done = vole("take", child.pid, "-o", out)
                killer.join()
            if done.returncode == 0:  # it was quicker
                out.unlink()
            else:
                self.assert_refused(done, "process")

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_users_process_is_refused(self):
        self.folder.chmod(0o777)
        with Child(TOOLS / "parked_child") as child:
            done = subprocess.run([VOLE, "core", "take", str(child.pid), "-o",
                                   str(self.folder / "out")], capture_output=True, text=True,
                                  user=65534, group=65534, extra_groups=[])
            self.assert_refused(done, "not permitted")
            self.assertEqual(child.end(), 7)

    def test_output_that_cannot_be_written_lets_the_process_go_on(self):
        with Child(TOOLS / "parked_child") as child:
            done = vole("take", child.pid, "-o", "/nowhere/x")
            self.assert_refused(done, "/nowhere/x")
            self.assertEqual(child.end(), 7)


if __name__ == "__main__":
    unittest.main()
