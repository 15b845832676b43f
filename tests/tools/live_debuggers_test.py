"""lldb and eu-stack on live processes: a goroutine that runs is the stack of its thread, whole and with
the names of the program's own dump, with -O2 and a vole without -g; and the process goes on. Parked
goroutines are no threads: `vole core take` (core_test.py)."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from dump_test import Child, blocks_of, vole

TOOLS = Path(os.environ["VOLE_TOOLS_DIR"])
SPINNERS = 2


class LiveDebuggers(unittest.TestCase):
    def setUp(self):
        self.program = TOOLS / "outside_optimised"
        if not self.program.exists():
            self.skipTest("this build is the optimised one")

    def run_on(self, pid, *words):
        done = subprocess.run(list(words), capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL)
        self.assertNotIn("unwind", done.stderr)  # an error of either would say so
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        self.assertIn("TracerPid:\t0", status)
        self.assertNotIn("State:\tT", status)
        return done.stdout

    def check(self, child, threads):
        """`threads`: the lines of each thread's stack, as text"""
        lines = [int(place.rsplit(":", 1)[1]) for _, _, frames, _ in
                 blocks_of(vole("dump", child.pid).stdout)
                 for name, place in frames if name == "app::spin()"]
        self.assertNotEqual(lines, [])
        spinning = [text for text in threads if "app::spin()" in text]
        self.assertEqual(len(spinning), SPINNERS, threads)
        for text in spinning:
            self.assertIn("vole_goroutine_start", text.rstrip().splitlines()[-1])
            where = re.search(r"app::spin\(\)[^#]*outside_child\.cc:(\d+)", text)
            if where is not None:  # somewhere in the loop that vole names, too
                self.assertLessEqual(min(abs(int(where[1]) - line) for line in lines), 3, text)

    @unittest.skipUnless(shutil.which("eu-stack"), "no eu-stack here")
    def test_eu_stack(self):
        with Child("spinning", SPINNERS, program=self.program) as child:
            out = self.run_on(child.pid, "eu-stack", "-s", "-p", str(child.pid))
            self.check(child, out.split("\nTID ")[1:])

    @unittest.skipUnless(shutil.which("lldb"), "no lldb here")
    def test_lldb(self):
        with Child("spinning", SPINNERS, program=self.program) as child:
            out = self.run_on(child.pid, "lldb", "--no-lldbinit", "--batch",
                              "-o", f"process attach --pid {child.pid}",
                              "-o", "thread backtrace all", "-o", "detach")
            out = out.split("thread backtrace all")[-1].split("(lldb) detach")[0]
            self.check(child, re.split(r"\n[* ] thread #", out))


if __name__ == "__main__":
    unittest.main()
