"""Every address of a program's own dump has the function and line that addr2line gives it, inlined
functions included: unoptimised and with -O2."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from dump_test import Child

TOOLS = Path(os.environ["VOLE_TOOLS_DIR"])


def bias_of(pid, program):
    """Where the program's first byte is"""
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if len(words) >= 6 and words[5] == str(program) and int(words[2], 16) == 0:
            return int(words[0].split("-")[0], 16)
    raise AssertionError("the program is not mapped")


def places_of(program, addresses):
    """{address: ["file:line", ...]}, innermost first, by addr2line"""
    words = ["addr2line", "-a", "-i", "-e", str(program), *map(hex, addresses)]
    out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            here = found.setdefault(int(line, 16), [])
        else:
            here.append(re.sub(r" \(discriminator \d+\)", "", line))
    return found


class Addresses(unittest.TestCase):
    maxDiff = None

    def compare(self, program):
        with Child("named", program=program, environment={"VOLE_DEBUG": "frames=all"}) as child:
            bias = bias_of(child.pid, program)
        frames = {}
        for goroutine in json.loads(child.own):
            for frame in goroutine["stack"]:
                if frame["line"] == 0:
                    continue  # in a library, or without a line
                frames.setdefault(int(frame["pc"], 16), []).append(
                    f"{Path(frame['file']).name}:{frame['line']}")
        self.assertGreater(len(frames), 1)
        expected = places_of(program, [pc - 1 - bias for pc in frames])
        checked = 0
        for pc, ours in frames.items():
            theirs = [Path(place).name for place in expected[pc - 1 - bias]]
            if theirs[0].startswith("?") or theirs[0].endswith(("?", ":0")):
                continue  # addr2line does not know
            # Several goroutines may have the same frame.
            self.assertEqual(ours[: len(theirs)], theirs, hex(pc - bias))
            checked += 1
        self.assertGreater(checked, 1)

    def test_unoptimised(self):
        self.compare(TOOLS / "outside_child")

    def test_optimised(self):
        program = TOOLS / "outside_optimised"
        if not program.exists():
            self.skipTest("this build is the optimised one")
        self.compare(program)


if __name__ == "__main__":
    unittest.main()
