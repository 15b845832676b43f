#!/usr/bin/env python3
"""Runs the table of races: each racy program must be reported, its correct twin must not.

usage: run.py CHILD [--runs N] [--procs 1,2,4] [--only NAME] [--launcher PROGRAM]

CHILD is races_child, built under ThreadSanitizer. The twins run one after the other in one process, the
racy ones each in its own. Prints a line for each failure, and a table with --table.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

REPORTED = 66  # TSan's exit status
SENTENCE = "WARNING: ThreadSanitizer: "


class Runner:
    def __init__(self, options):
        self.command = ([options.launcher] if options.launcher else []) + [options.child]
        self.timeout = options.timeout
        # Where two accesses meet in the same instant TSan may miss both: the quick run looks again.
        self.tries = 3 if options.runs == 1 else 1

    def run(self, procs, *arguments):
        environment = dict(os.environ, VOLE_MAXPROCS=str(procs))
        # Without names: a symbolizer takes longer than the program. And where TSan finds a race, but has
        # forgotten the other access or is just forgetting it, it shall look at that address again.
        environment["TSAN_OPTIONS"] = "symbolize=0 suppress_equal_addresses=0 exitcode=%d" % REPORTED
        try:
            done = subprocess.run(self.command + list(arguments), env=environment, timeout=self.timeout,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except subprocess.TimeoutExpired as expired:
            return None, (expired.stdout or b"").decode(errors="replace")
        return done.returncode, done.stdout

    def names(self):
        status, text = self.run(1, "list")
        if status != 0:
            sys.exit("races: cannot list the programs: %s" % text)
        return text.split()

    def racy(self, name, procs):
        for _ in range(self.tries):
            status, text = self.run(procs, name, "racy")
            if status == REPORTED and SENTENCE in text:
                break
        return status == REPORTED and SENTENCE in text, status, text

    def twin(self, name, procs):
        status, text = self.run(procs, name, "twin")
        return status == 0 and SENTENCE not in text, status, text


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("child")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--procs", default="1,2,4")
    parser.add_argument("--only")
    parser.add_argument("--twins", action="store_true", help="no racy programs")
    parser.add_argument("--launcher")
    parser.add_argument("--timeout", type=int, default=120)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def main():
    options = parse()
    runner = Runner(options)
    procs = [int(p) for p in options.procs.split(",")]
    names = [options.only] if options.only else runner.names()
    jobs = [(name, p, racy) for _ in range(options.runs) for name in names for p in procs
            for racy in (True, False) if not (racy and options.twins)]
    if not options.only and options.runs == 1 and not options.table:
        jobs = [(name, p, True) for name in names for p in procs] + [("all", p, False) for p in procs]
    as_expected = {}
    failures = 0

    def run(job):
        name, p, racy = job
        return job, (runner.racy if racy else runner.twin)(name, p)

    with ThreadPoolExecutor(options.jobs) as pool:
        for (name, p, racy), (good, status, text) in pool.map(run, jobs):
            key = (name, p, racy)
            as_expected[key] = as_expected.get(key, 0) + good
            if good:
                continue
            failures += 1
            what = "is not reported" if racy else "is reported, or does not end"
            print("races: %s, the %s one, at %d Ps %s (status %s)"
                  % (name, "racy" if racy else "correct", p, what, status))
            if options.verbose or not racy:
                print(text[-6000:])
    if options.table:
        for name in names:
            cells = ["%d/%d" % (as_expected[name, p, racy], options.runs)
                     for racy in (True, False) for p in procs]
            print("%-40s %s" % (name, "  ".join(cells)))
    print("races: %d programs and their twins, %d runs, %d not as they should be"
          % (len(names), len(jobs), failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
