"""Every address of a program's own dump has the function and line that addr2line gives it, inlined
functions included: unoptimised and with -O2."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from dump_test import Child
from names_test import bare

TOOLS = Path(os.environ["VOLE_TOOLS_DIR"])


def bias_of(pid, program):
    """Where the program's first byte is"""
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if len(words) >= 6 and words[5] == str(program) and int(words[2], 16) == 0:
            return int(words[0].split("-")[0], 16)
    raise AssertionError("the program is not mapped")


def last_name(function):
    """Without scopes and arguments, which debug information does not give of all"""
    function = re.sub(r"\[clone [^]]*\]", "", function).replace("operator()", "lambda ")
    last = re.sub(r"( const| mutable)*$", "", bare(function)).strip().rsplit("::", 1)[-1]
    return "lambda" if last.startswith("{lambda") else last.rsplit(" ", 1)[-1]


def places_of(program, addresses):
    """{address: [(function, "file:line"), ...]}, innermost first, by addr2line"""
    words = ["addr2line", "-a", "-f", "-C", "-i", "-e", str(program), *map(hex, addresses)]
    out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found, lines = {}, iter(out.splitlines())
    for line in lines:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            here = found.setdefault(int(line, 16), [])
        else:
            place = re.sub(r" \(discriminator \d+\)", "", next(lines))
            here.append((line, Path(place).name))
    return found


class Addresses(unittest.TestCase):
    maxDiff = None

    def compare(self, program, scenario):
        environment = {"VOLE_DEBUG": "frames=all", "OUTSIDE_JSON": "1"}
        with Child(scenario, program=program, environment=environment) as child:
            bias = bias_of(child.pid, program)
        frames = {}
        for goroutine in json.loads(child.own):
            of_one = {}
            for frame in goroutine["stack"]:
                if frame["line"] != 0:  # 0: in a library, or without a line
                    of_one.setdefault(int(frame["pc"], 16), []).append(
                        (frame["function"], f"{Path(frame['file']).name}:{frame['line']}"))
            frames.update(of_one)
        self.assertGreater(len(frames), 1)
        expected = places_of(program, [pc - 1 - bias for pc in frames])
        checked = 0
        for pc, ours in frames.items():
            theirs = expected[pc - 1 - bias]
            if theirs[0][1].startswith("?") or theirs[0][1].endswith(("?", ":0")):
                continue  # addr2line does not know
            self.assertEqual([place for _, place in ours[:len(theirs)]],
                             [place for _, place in theirs], hex(pc - bias))
            # addr2line gives the innermost the name of the function that holds all, in some versions.
            for (mine, _), (name, _) in list(zip(ours, theirs))[len(theirs) > 1:]:
                if mine.startswith("_Z"):
                    continue  # the C++ library cannot demangle it; binutils can
                self.assertEqual(last_name(mine), last_name(name), hex(pc - bias))
            checked += 1
        self.assertGreater(checked, 1)
        if scenario != "named":  # it has JSON alone
            known = {place for ours in frames.values() for place in ours}
            self.compare_text(program, scenario, known)

    # A text has no addresses: each of its places is one of those that were just compared.
    def compare_text(self, program, scenario, known):
        with Child(scenario, program=program, environment={"VOLE_DEBUG": "frames=all"}) as child:
            places = re.findall(r"(?m)^(.+)\n\t(.+:\d+)$", child.own)
        ours = {(function, Path(place).name) for function, place in places
                if not function.startswith("created by")}
        self.assertGreater(len(ours), 1)
        self.assertLessEqual(ours, known)

    def compare_all(self, kind):
        for program, scenario in ((f"outside_{kind}", "named"), (f"outside_{kind}", "parked"),
                                  (f"outside_{kind}", "deadlocked"), (f"lambdas_{kind}", "")):
            with self.subTest(program=program, scenario=scenario):
                self.compare(TOOLS / program, scenario)

    def test_unoptimised(self):
        self.compare_all("child")

    def test_optimised(self):
        if not (TOOLS / "outside_optimised").exists():
            self.skipTest("this build is the optimised one")
        self.compare_all("optimised")


if __name__ == "__main__":
    unittest.main()
