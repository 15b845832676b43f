#!/usr/bin/env python3
"""Which lines and branches of src/ the tests run through, room by room.

    tools/coverage.py                    builds build/coverage, runs the tests that are not slow, counts
    tools/coverage.py --tests 'unit|api' only those labels of ctest; --add: to what ran before
    tools/coverage.py --no-run           counts what the last run has left
    tools/coverage.py --gaps sched/work  and lists the lines there that nothing has run

A branch that only an exception takes does not count. A program that aborts writes down what it did
before; one that is killed, faults, or ends by _Exit does not. The models compile what they check into
themselves: they are left out.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LABELS = "unit|api|regress|crash|stress"
NOT_BUILT = "hooks|release_|optimised"  # libraries of their own
PROGRAMS = ["unit_tests", "api_tests", "regress_tests", "crash_tests", "stress_tests"]
FLAGS = "--coverage -fprofile-update=atomic"
# Linked with every program: most of those that die do so by abort().
LAST_WORDS = """
#include <signal.h>
void __gcov_dump(void);
static void at_abort(int number) {
  signal(number, SIG_DFL);
  __gcov_dump();
  raise(number);
}
__attribute__((constructor)) static void begin(void) { signal(SIGABRT, at_abort); }
"""


def build(directory, jobs):
    Path(directory).mkdir(parents=True, exist_ok=True)
    last_words = Path(directory) / "last_words.o"
    subprocess.run(["cc", "-x", "c", "-c", "-", "-o", str(last_words)], input=LAST_WORDS, text=True, check=True)
    subprocess.run(["cmake", "--preset", "dev", "-B", directory, "-DVOLE_TOGETHER=OFF",
                    f"-DCMAKE_CXX_FLAGS={FLAGS}", f"-DCMAKE_EXE_LINKER_FLAGS={last_words}",
                    "--log-level=WARNING"], cwd=ROOT, check=True)
    known = subprocess.run(["ninja", "-C", directory, "-t", "targets", "all"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    names = [line.split(":")[0] for line in known.splitlines()]
    programs = [n for n in names if n.startswith("tests/") and n.endswith("_test")] + PROGRAMS
    subprocess.run(["cmake", "--build", directory, "--parallel", str(jobs), "--target",
                    *sorted({n for n in programs if not n.startswith("tests/model")})],
                   cwd=ROOT, check=True)


def run(directory, labels, jobs, anew):
    for old in Path(directory).rglob("*.gcda") if anew else ():
        old.unlink()
    subprocess.run(["ctest", "--test-dir", directory, "-L", labels, "-LE", "slow", "-E", NOT_BUILT, "-j", str(jobs),
                    "--output-on-failure"], check=False)


def counts_of(file):
    """What gcov knows of one object, as its own JSON."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["gcov", "--json-format", "--branch-probabilities", str(file)], cwd=folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"coverage: gcov: {done.stderr}")
        for path in Path(folder).glob("*.gcov.json.gz"):
            with gzip.open(path, "rt") as text:
                yield json.load(text)


def gather(directory, jobs):
    """{file: ({line: count}, {(line, nth branch): count})}, of src/ without its tests."""
    found = defaultdict(lambda: (defaultdict(int), defaultdict(int)))
    files = sorted(Path(directory).rglob("*.gcda"))
    if not files:
        sys.exit(f"coverage: nothing has run in {directory}")
    with ThreadPoolExecutor(jobs) as pool:
        for reports in pool.map(lambda f: list(counts_of(f)), files):
            for report in reports:
                for entry in report["files"]:
                    path = os.path.relpath(os.path.join(report["current_working_directory"], entry["file"]),
                                           ROOT)
                    if not path.startswith("src/") or path.endswith("_test.cc"):
                        continue
                    lines, branches = found[path]
                    for line in entry["lines"]:
                        number = line["line_number"]
                        lines[number] += line["count"]
                        taken = [b for b in line["branches"] if not b["throw"]]
                        for i, branch in enumerate(taken):
                            branches[number, i] += branch["count"]
    return found


def room_of(path):
    parts = path.split("/")[1:-1]
    return "/".join(parts[:2] if parts[:1] == ["sched"] else parts[:1]) or "src"


def share(counts):
    run_through = sum(1 for count in counts if count)
    return f"{run_through:5}/{len(counts):<5} {100 * run_through / len(counts):5.1f} %" if counts else f"{'':>19}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(ROOT / "build/coverage"))
    parser.add_argument("--tests", default=LABELS, help="labels of ctest")
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--add", action="store_true", help="to what the last run has left")
    parser.add_argument("--gaps", default=None, help="a room, or part of a path")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("VOLE_JOBS", os.cpu_count())))
    arguments = parser.parse_args()
    if not arguments.no_run:
        build(arguments.build, arguments.jobs)
        run(arguments.build, arguments.tests, arguments.jobs, not arguments.add)
    found = gather(arguments.build, arguments.jobs)
    rooms = defaultdict(lambda: ([], []))
    for path, (lines, branches) in found.items():
        for name in (room_of(path), "all"):
            rooms[name][0].extend(lines.values())
            rooms[name][1].extend(branches.values())
    print(f"{'room':<16} {'lines':>19} {'branches':>19}")
    for name in sorted(rooms, key=lambda n: (n == "all", n)):
        print(f"{name:<16} {share(rooms[name][0])} {share(rooms[name][1])}")
    if arguments.gaps is None:
        return
    for path in sorted(found):
        missed = sorted(number for number, count in found[path][0].items() if not count)
        if arguments.gaps in path and missed:
            print(f"{path}: {' '.join(map(str, missed))}")


if __name__ == "__main__":
    main()
