#!/usr/bin/env python3
"""Runs everything there is to run, and ends in a table: what, how long, which seed, result.

    tools/test_all.py               goes on where the last run was
    tools/test_all.py --fresh       from the beginning
    tools/test_all.py asan fuzz     these steps only
    tools/test_all.py --list        what there is

Each step's output is in build/test-all/<step>.log, and what came of it in state.json beside it. A step
that passed is not run again as long as the tree is what it was; one that failed or was broken off is.
"""

import argparse
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STATE = ROOT / "build/test-all"
FUZZ_SECONDS = 300
STRESS_SCALE = 4
TORTURE_SECONDS = 300
TRACES = 1000
KILLS = 100
FAULTS = 1000  # of each kind of system call: more than there are


@dataclass(frozen=True)
class Step:
    name: str
    command: str       # for bash, at the root; with VOLE_SEED
    minutes: int = 40  # the limit


def preset(name, minutes=40):
    return Step(name, f"make --no-print-directory test-{name}", minutes=minutes)


def stress(build, launcher=""):
    return Step(f"stress-{build}", f"make --no-print-directory build-{build} && "
                f"export VOLE_STRESS_SCALE={STRESS_SCALE} && "
                f"for each in build/{build}/tests/stress_*.files; do "
                f"{launcher} ${{each%.files}} || exit; done")


def torture(build, settings, *procs, launcher=""):
    return Step(f"torture-{build}-{settings or 'plain'}", f"make --no-print-directory build-{build} && "
                f"VOLE_DEBUG={settings} {launcher} build/{build}/tests/torture {TORTURE_SECONDS} "
                f"{' '.join(map(str, procs))}")


STEPS = [
    preset("dev"),
    preset("release"),
    preset("asan"),
    preset("tsan"),
    preset("ubsan"),
    preset("clang"),
    preset("lto"),
    preset("arm64", 90),
    Step("mutants", "make --no-print-directory mutants", minutes=60),
    stress("release"),
    stress("tsan", "tools/fixed_layout.sh"),
    torture("release", ""),
    torture("release", "storm=200", 2, 8, 64),
    torture("release", "strictprocs=1", 2, 8),
    torture("tsan", "", 2, 8, launcher="tools/fixed_layout.sh"),
    Step("traces", "make --no-print-directory build-tsan build-release && "
         f"VOLE_TRACES={TRACES} tools/fixed_layout.sh build/tsan/tests/stress_trace_stress_test "
         "--gtest_filter='*FilesComeAndGo/2Procs:*SnapshotsOfARing/2Procs' && "
         f"VOLE_KILLS={KILLS} build/release/tests/crash_tests --gtest_filter='TraceCrash.WhatWasInTheRing*'"),
    Step("faults", "make --no-print-directory build-dev && "
         f"VOLE_FAULTS={FAULTS} build/dev/tests/crash_tests --gtest_filter='Faults*'", minutes=60),
    Step("fuzz", "make --no-print-directory build-dev && "
         "cmake --build --preset dev --target vole_fuzzers && tools/fuzz.sh "
         f"--seconds {FUZZ_SECONDS} build/dev/tools"),
    Step("documents", "tools/setup.sh site && python3 -B tools/check_spelling.py --root . && "
         "python3 -B tools/make_site.py --root . --out build/site && "
         "python3 -B tools/check_readme.py --root . --with-run && "
         "make --no-print-directory build-dev && VOLE_ALL_COMMANDS=1 ctest --test-dir build/dev "
         "--output-on-failure --no-tests=error -R tools_commands_test"),
    Step("packages", "tools/setup.sh packages && python3 -B tools/check_packages.py --root . --build build/packages"),
    Step("build-matrix", "tools/setup.sh matrix && tools/build_matrix.sh", minutes=90),
    # Debian's releases in chroots; skipped (77) where there is no debootstrap or no mirror.
    Step("fresh-machine", "tools/setup.sh fresh && tools/fresh_machine.sh bookworm trixie || [ $? = 77 ]",
         minutes=120),
]


def tree():
    """Names the tree as it is, with what is not committed; empty without git."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout
    try:
        new = git("ls-files", "--others", "--exclude-standard", "-z").split(b"\0")
        texts = [git("rev-parse", "HEAD"), git("diff", "HEAD")]
        texts += [name + (ROOT / os.fsdecode(name)).read_bytes() for name in new if name]
    except (OSError, subprocess.CalledProcessError):
        return ""
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def summary(text):
    """What a log says of itself, in a few words."""
    tests = re.findall(r"^(\d+)% tests passed, (\d+) tests? failed out of (\d+)", text, re.M)
    if tests:
        return ", ".join(f"{int(n) - int(failed)} of {n} tests" for _, failed, n in tests)
    last = [line for line in text.splitlines() if line.strip()]
    return last[-1][:60] if last else ""


def run(step, log):
    """A row of the state."""
    seed = int(os.environ.get("VOLE_SEED", random.SystemRandom().randrange(1, 1 << 31)))
    environment = {**os.environ, "VOLE_SEED": str(seed)}
    begin = time.monotonic()
    with log.open("w", encoding="utf-8", errors="replace") as out:
        job = subprocess.Popen(["bash", "-c", step.command], cwd=ROOT, env=environment, stdout=out,
                               stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = job.wait(timeout=60 * step.minutes)
            result = "passed" if status == 0 else f"FAILED ({status})"
        except subprocess.TimeoutExpired:
            result = f"FAILED (not done in {step.minutes} min)"
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)  # it and all that it started
                job.wait()
    return {"result": result, "seconds": round(time.monotonic() - begin), "seed": seed,
            "says": summary(log.read_text(encoding="utf-8", errors="replace"))}


def table(rows):
    yield f"{'what':<16} {'result':<14} {'time':>8}  {'seed':<11} says"
    for name, row in rows:
        if row is None:
            yield f"{name:<16} not run"
            continue
        took = f"{row['seconds'] // 60}:{row['seconds'] % 60:02}"
        yield f"{name:<16} {row['result']:<14} {took:>8}  {row['seed']:<11} {row['says']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", help="all if none is named")
    parser.add_argument("--fresh", action="store_true", help="forget what passed")
    parser.add_argument("--list", action="store_true", help="say what the steps are")
    arguments = parser.parse_args()
    unknown = set(arguments.steps) - {step.name for step in STEPS}
    if unknown:
        sys.exit(f"test_all: there is no step {', '.join(sorted(unknown))}")
    steps = [step for step in STEPS if not arguments.steps or step.name in arguments.steps]
    if arguments.list:
        for step in steps:
            print(f"{step.name:<16} {step.command}")
        return

    STATE.mkdir(parents=True, exist_ok=True)
    path, now = STATE / "state.json", tree()
    state = json.loads(path.read_text()) if path.is_file() and not arguments.fresh else {}
    if state.get("tree") != now:
        state = {"tree": now, "rows": {}}
    rows = state["rows"]
    for step in steps:
        if rows.get(step.name, {}).get("result") == "passed":
            print(f"{step.name}: passed before", flush=True)
            continue
        log = STATE / f"{step.name}.log"
        print(f"{step.name}: {log.relative_to(ROOT)}", flush=True)
        rows.pop(step.name, None)
        rows[step.name] = run(step, log)
        path.write_text(json.dumps(state, indent=1) + "\n")
        print(f"{step.name}: {rows[step.name]['result']}", flush=True)

    print()
    print("\n".join(table([(step.name, rows.get(step.name)) for step in steps])))
    if any(rows[step.name]["result"] != "passed" for step in steps):
        sys.exit(1)


if __name__ == "__main__":
    main()
