#!/usr/bin/env python3
"""Shows that each mechanism's test fails without it.

Builds each mutant of the lists beside this file, runs the test that it names, and prints who caught
whom. Fails if one survives, if a test fails without a mutant or with a control (built as mutants are,
with nothing changed), or if a list no longer fits the code (catalogue.py says what is in the lists).
A test that hangs is tried again, for longer: it may have been slow.

    tools/mutants/run.py                    all of them, beside build/dev
    tools/mutants/run.py ring_of_128 [14]   by name, or by mechanism
    tools/mutants/run.py --check            the lists alone; nothing is built
"""

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import catalogue  # noqa: E402
from build import Build, BuildError  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 120.0     # seconds, for a test that ends
PATIENCE = 10     # so many times as long as without the mutant looks like a hang,
SHORTEST = 5.0    # but so many seconds at least,
LONGEST = 20.0    # and at most;
CERTAIN = 3       # and is one if the same test does not end in so many times that


def run_test(program, case, limit, crash_dir=None):
    """(how it ended, seconds, output): passed, failed, died, hung, or no test."""
    pattern = ":".join(f"{before}{case}{after}" for before in ("", "*/") for after in ("", "/*"))
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("VOLE_STRESS_SCALE", "VOLE_MODEL_SCALE")}
    if crash_dir is not None:
        environment["VOLE_TEST_CRASH_DIR"] = str(crash_dir)
    begin = time.monotonic()
    test = subprocess.Popen([program, f"--gtest_filter={pattern}", "--gtest_fail_fast"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", env=environment, start_new_session=True)
    try:
        output, _ = test.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(test.pid, signal.SIGKILL)  # and its children
        test.communicate()
        return "hung", time.monotonic() - begin, ""
    took = time.monotonic() - begin
    if test.returncode == 0:
        ran = re.search(r"^\[  PASSED  \] [1-9]", output, re.MULTILINE)
        return "passed" if ran else "no test", took, output
    return "died" if test.returncode < 0 else "failed", took, output


def run_scenario(bare, hooked, scenario, limit):
    """The same for a scenario of tests/hooks."""
    begin = time.monotonic()
    outputs = []
    for program in (bare, hooked):
        test = subprocess.Popen([program, scenario], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, errors="replace", start_new_session=True)
        try:
            outputs.append(test.communicate(timeout=limit)[0])
        except subprocess.TimeoutExpired:
            os.killpg(test.pid, signal.SIGKILL)  # and its children
            test.communicate()
            return "hung", time.monotonic() - begin, ""
        if test.returncode != 0:
            return "died", time.monotonic() - begin, outputs[-1]
    return ("passed" if outputs[0] == outputs[1] else "failed"), time.monotonic() - begin, "".join(outputs)


class Trial:
    def __init__(self, build):
        self.build = build
        self.baseline = {}

    def test_program(self, mutant):
        return self.build.test_program(mutant.program)

    def run(self, name, program, case, limit, crash_dir=None):
        if name != catalogue.HOOKS:
            return run_test(program, case, limit, crash_dir)
        return run_scenario(self.build.directory / "hooks" / f"{catalogue.HOOKS}_bare", program, case, limit)

    def plain(self, key):
        """The test without a mutant; returns a problem or None."""
        program, case = key
        how, took, output = self.run(program, self.build.test_program(program), case, LIMIT)
        self.baseline[key] = took
        return None if how == "passed" else f"{program}: {case}: {how} without a mutant\n{output}"

    def limits(self, mutant):
        """How long it may take: for a test that hangs, at the first try and at the second."""
        if not mutant.hangs:
            return [LIMIT]
        first = PATIENCE * self.baseline[mutant.program, mutant.case]
        first = min(max(SHORTEST, first), LONGEST)
        return [first, CERTAIN * first]

    def mutated(self, mutant):
        """(how, seconds)"""
        begin = time.monotonic()
        program = self.build.mutate(mutant)
        crash_dir = program.parent if mutant.child else None
        if mutant.child:
            program = self.test_program(mutant)
        how = "hung"
        for limit in self.limits(mutant):
            if how == "hung":
                how, _, _ = self.run(mutant.program, program, mutant.case, limit, crash_dir)
        self.build.drop(mutant)
        return how, time.monotonic() - begin


def verdict(mutant, how):
    """(is it as it should be, what to print)"""
    if mutant.old == mutant.new:
        return how == "passed", how
    caught = how in ("failed", "died") or (how == "hung" and mutant.hangs)
    return caught, how if caught else f"SURVIVES ({how})"


def selected(mutants, words):
    if not words:
        return mutants
    numbers = {int(w.strip("[]")) for w in words if w.strip("[]").isdigit()}
    chosen = [m for m in mutants if m.name in words or numbers & set(m.mechanisms)]
    unknown = [w for w in words if not w.strip("[]").isdigit() and w not in {m.name for m in chosen}]
    if unknown:
        sys.exit(f"mutants: there is no {', '.join(unknown)}")
    return chosen


def show(mutant, how, took):
    numbers = "".join(f"[{n}]" for n in mutant.mechanisms)
    print(f"{numbers:<13} {mutant.name:<38} {how:<8} {mutant.program}: {mutant.case}  {took:.1f} s",
          flush=True)


def try_all(mutants, trial, jobs):
    """Problems, after the table; and the slowest row."""
    tests = list(dict.fromkeys((m.program, m.case) for m in mutants))
    slowest = (0.0, "none")
    with ThreadPoolExecutor(jobs) as pool:
        problems = [p for p in pool.map(trial.plain, tests) if p is not None]
        futures = [(m, pool.submit(trial.mutated, m)) for m in mutants if not problems]
        for mutant, future in futures:
            try:
                how, took = future.result()
            except BuildError as error:
                problems.append(f"{mutant.name} cannot be built: {error}")
                continue
            good, words = verdict(mutant, how)
            show(mutant, words, took)
            slowest = max(slowest, (took, mutant.name))
            if not good:
                problems.append(f"{mutant.name}: {words}: {mutant.program}: {mutant.case}")
    return problems, slowest


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", nargs="*", help="names or [numbers]; all if there is none")
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--build", type=Path, default=None, help="a built tree: build/dev")
    parser.add_argument("--scratch", type=Path, default=None, help="where to work: build/mutants")
    parser.add_argument("--check", action="store_true", help="the lists alone")
    parser.add_argument("--sample", action="store_true", help="only those marked as a sample")
    parser.add_argument("--no-build", action="store_true", help="all programs are there")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("VOLE_JOBS", os.cpu_count())))
    arguments = parser.parse_args()
    begin = time.monotonic()
    problems, mutants = catalogue.check(arguments.root)
    what = "fit the code"
    if not problems and not arguments.check:
        chosen = selected([m for m in mutants if m.sample or not arguments.sample], arguments.which)
        tried = catalogue.controls(mutants, chosen) + chosen
        build = Build(arguments.root, arguments.build or arguments.root / "build/dev",
                      arguments.scratch or arguments.root / "build/mutants")
        if not arguments.no_build:
            targets = {build.test_target(m.program) for m in tried}
            targets |= {build.target(m) for m in tried}
            targets |= {f"{catalogue.HOOKS}_bare" for m in tried if m.program == catalogue.HOOKS}
            build.make(sorted(targets), arguments.jobs)
        problems, (longest, slowest) = try_all(tried, Trial(build), arguments.jobs)
        what = (f"caught in {time.monotonic() - begin:.0f} s, {processor_seconds():.0f} s of processor "
                f"time; the slowest was {slowest}, {longest:.0f} s")
        mutants = chosen
    for line in problems:
        print(line)
    if problems:
        sys.exit(1)
    rows = {number for mutant in mutants for number in mutant.mechanisms}
    print(f"mutants: {len(mutants)} of {len(rows)} mechanisms, all {what}")


if __name__ == "__main__":
    main()
