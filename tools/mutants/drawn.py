#!/usr/bin/env python3
"""Draws mutants from the code itself, and shows which of them no test notices.

    tools/mutants/drawn.py                       20 of them, beside build/dev
    tools/mutants/drawn.py --count 200 --seed 7  these, again
    tools/mutants/drawn.py --rooms chan,sync     in these rooms only
    tools/mutants/drawn.py --orders --count 999  every order that a model sees, made weaker; the models only
    tools/mutants/drawn.py --list                what would be changed; nothing is built

A mutant is one place changed: a condition turned round, a call left out, the order of an atomic made
weaker. The unit tests run first, then those of the API, then the regress tests. Of a header the tests
beside it are compiled anew, and the models that include it. What survives is either not tested, or the
same program: somebody has to look. Fails if less than 80 % of those that compile are caught.
"""

import argparse
import os
import random
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run  # noqa: E402
from build import Build, BuildError  # noqa: E402
from catalogue import Mutant  # noqa: E402

ROOMS = "sched,chan,sync,timer,queue"
PROGRAMS = ("unit_tests", "api_tests", "regress_tests")
WANTED = 0.8

# What is changed, and into what.
RULES = (
    (re.compile(r" == "), " != "),
    (re.compile(r" != "), " == "),
    (re.compile(r" < (?![a-z_]+>)"), " >= "),
    (re.compile(r" > "), " <= "),
    (re.compile(r" <= "), " > "),
    (re.compile(r" >= "), " < "),
    (re.compile(r" && "), " || "),
    (re.compile(r" \|\| "), " && "),
    (re.compile(r"\bif \(!"), "if ("),
    (re.compile(r"\breturn true;"), "return false;"),
    (re.compile(r"\breturn false;"), "return true;"),
    (re.compile(r"\b(?:std::memory_order_)?(?:seq_cst|acq_rel|acquire|release)(?=[,)])"), "std::memory_order_relaxed"),
    (re.compile(r"(?m)^ +(?!return\b|delete\b)[a-z_]\w*(?:(?:::|\.|->)\w+)*\([^;{}\n]*\);$"), "  ;"),
)


WEAKER = "std::memory_order_relaxed"


def code_of(text):
    """The text with what is no code blanked, every character in its place."""
    return re.sub(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|(?m:^ *#.*$)', lambda m: " " * len(m.group()), text)


def places(root, rooms):
    """Every change that the rules know: (file, begin, end, new)"""
    for room in rooms:
        for path in sorted((root / "src" / room).rglob("*")):
            if path.suffix not in (".cc", ".h") or path.stem.endswith("_test"):
                continue
            text = code_of(path.read_text(encoding="utf-8"))
            for pattern, new in RULES:
                for found in pattern.finditer(text):
                    yield path.relative_to(root).as_posix(), found.start(), found.end(), new


class Drawn(Mutant):
    """One place by its position; its old text may be there more than once."""

    def apply(self, root):
        begin, end = map(int, self.old.split(":"))
        text = (Path(root) / self.file).read_text(encoding="utf-8")
        return text[:begin] + self.new + text[end:]


def models_of(root, file):
    name = file.removeprefix("src/")
    return [f"model_{path.stem}" for path in sorted((root / "tests/model").glob("*_model.cc"))
            if f'"{name}"' in path.read_text(encoding="utf-8")]


def programs_for(root, build, file, orders):
    """Those that see this file changed, quick ones first. x86 keeps most orders by itself: of orders only models tell."""
    if orders:
        return models_of(root, file)
    if file.endswith(".cc"):
        return list(PROGRAMS)
    name = file.removeprefix("src/")
    return [test for test, source in sorted(build.sources().items())
            if f'"{name}"' in (root / source).read_text(encoding="utf-8")] + models_of(root, file)


def suite_of(build, root, program):
    """The suites of one file of a program, for gtest; everything if it is a program of its own."""
    source = build.sources().get(program)
    if source is None:
        return "*"
    text = (root / source).read_text(encoding="utf-8")
    return ":".join(f"*{suite}.*" for suite in sorted(set(re.findall(r"^TEST(?:_[PF])?\((\w+),", text, re.M))))


def verdict(build, root, place, orders):
    """caught by, "survives", or why it is no mutant"""
    file, begin, end, new = place
    seen = False
    for program in programs_for(root, build, file, orders):
        units = (f"tests/model/{program.removeprefix('model_')}.cc",) if orders else ()  # it includes the file
        mutant = Drawn(name=f"drawn_{os.getpid()}", mechanisms=(), file=file, old=f"{begin}:{end}", new=new,
                       program=program, case="*", units=units)
        try:
            path = build.mutate(mutant)
        except BuildError as error:
            if seen or "error:" in str(error):
                return "does not compile"
            continue
        seen = True
        how, _, _ = run.run_test(path, suite_of(build, root, program), run.LIMIT)
        build.drop(mutant)
        if how not in ("passed", "no test"):
            return f"caught by {program} ({how})"
    return "survives" if seen else "is seen by no program"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=run.ROOT)
    parser.add_argument("--build", type=Path, default=None, help="a built tree: build/dev")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("VOLE_SEED", random.randrange(1 << 31))))
    parser.add_argument("--rooms", default=ROOMS)
    parser.add_argument("--seconds", type=int, default=0, help="draws no more after so many; 0: no limit")
    parser.add_argument("--orders", action="store_true", help="made weaker; what the models say")
    parser.add_argument("--no-build", action="store_true", help="the tests are built already")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    all_places = list(places(root, arguments.rooms.split(",")))
    if arguments.orders:
        all_places = [place for place in all_places if place[3] == WEAKER and models_of(root, place[0])]
    drawn = random.Random(arguments.seed).sample(all_places, min(arguments.count, len(all_places)))
    print(f"drawn: {len(drawn)} of {len(all_places)} places, VOLE_SEED={arguments.seed}", flush=True)
    build = None
    if not arguments.list:
        build = Build(root, arguments.build or root / "build/dev", root / "build/mutants")
        if not arguments.no_build:
            tests = {program for place in drawn for program in programs_for(root, build, place[0], arguments.orders)}
            build.make(sorted({build.test_target(test) for test in tests}), os.cpu_count())
    caught = survive = 0
    begin = time.monotonic()
    for place in drawn:
        if arguments.seconds and time.monotonic() - begin > arguments.seconds:
            print("drawn: the time is over")
            break
        file, at, end, new = place
        text = (root / file).read_text(encoding="utf-8")
        where = f"{file}:{text.count(chr(10), 0, at) + 1}: {text[at:end].strip()} -> {new.strip()}"
        if arguments.list:
            print(where)
            continue
        said = verdict(build, root, place, arguments.orders)
        caught += said.startswith("caught")
        survive += said == "survives"
        print(f"{said:<40} {where}", flush=True)
    if arguments.list:
        return 0
    tried = caught + survive
    print(f"drawn: {caught} of {tried} caught")
    return 1 if tried and caught < WANTED * tried else 0


if __name__ == "__main__":
    sys.exit(main())
