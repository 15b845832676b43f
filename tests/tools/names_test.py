"""What was inlined has its whole name in a dump, from inside and from outside: that which it has where
nothing is inlined."""

import os
import re
import subprocess
import unittest
from pathlib import Path

from dump_test import Child, timeless, vole

TOOLS = Path(os.environ["VOLE_TOOLS_DIR"])

MAIN = "main::{lambda#1}"
EXPECTED = {
    "plain": ["app::receive", f"{MAIN}::{{lambda#1}}"],
    "nested": ["app::receive", f"{MAIN}::{{lambda#2}}::{{lambda#1}}::{{lambda#1}}",
               f"{MAIN}::{{lambda#2}}::{{lambda#1}}", f"{MAIN}::{{lambda#2}}"],
    "second": ["app::receive", f"{MAIN}::{{lambda#3}}", f"{MAIN}::{{lambda#4}}"],
    "generic": ["app::receive", f"{MAIN}::{{lambda#5}}::{{lambda#1}}",
                "app::(anonymous namespace)::shelf::through", f"{MAIN}::{{lambda#5}}"],
    "hidden": ["app::receive", "app::(anonymous namespace)::hidden::{lambda#1}",
               "app::(anonymous namespace)::hidden", f"{MAIN}::{{lambda#6}}"],
}


def as_compiled(names):
    """clang counts a file's lambdas, not a function's: then only who is in whom is compared."""
    if "clang" not in os.environ["VOLE_CXX"]:
        return names
    return {key: [re.sub(r"\{lambda#\d+\}", "{lambda}", name) for name in all_of]
            for key, all_of in names.items()}


def bare(name):
    """Without arguments: an inlined function's are not known."""
    name = name.replace("(anonymous namespace)", "@")
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)", "", name)) != name:
        name = shorter
    return name.replace("@", "(anonymous namespace)")


def names_of(dump):
    found = {}
    for block in dump.strip().split("\n\n"):
        head, *lines = block.split("\n")
        match = re.match(r"goroutine \d+ \((\w+)\)", head)
        if match is None or match[1] == "main":
            continue
        lines = lines[:next(i for i, line in enumerate(lines) if line.startswith("created by"))]
        found[match[1]] = [bare(line) for line in lines if not line.startswith("\t")]
    return found


class Names(unittest.TestCase):
    maxDiff = None

    def check(self, program):
        with Child(program=program) as child:
            outside = vole("dump", child.pid)
            self.assertEqual(outside.returncode, 0, outside)
        self.assertEqual(as_compiled(names_of(child.own)), as_compiled(EXPECTED))
        self.assertEqual(timeless(outside.stdout), timeless(child.own))

    def optimised(self):
        program = TOOLS / "lambdas_optimised"
        if not program.exists():
            self.skipTest("this build is the optimised one")
        return program

    def test_as_the_build_is(self):
        self.check(TOOLS / "lambdas_child")

    def test_optimised_and_inlined(self):
        self.check(self.optimised())

    def test_debug_information_in_a_file_of_its_own(self):
        source = self.optimised()
        program = source.with_name("lambdas_stripped")
        for words in (["--only-keep-debug", source, f"{program}.debug"],
                      ["--strip-debug", f"--add-gnu-debuglink={program}.debug", source, program]):
            subprocess.run(["objcopy", *map(str, words)], check=True)
        self.check(program)


if __name__ == "__main__":
    unittest.main()
