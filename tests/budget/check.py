#!/usr/bin/env python3
"""The instruction budget of the hot paths: is any of them longer than it was?

  check.py [--build DIR]                compares with budgets.txt; what the test runs
  check.py [--build DIR] --record       measures and writes budgets.txt
  check.py [--build DIR] --where PATH   where a turn of PATH spent its instructions when last
                                        measured; nothing is run

DIR is build/dev unless told; it holds the program, tests/budget_paths, and callgrind's dumps,
budget/.

Instructions are counted by callgrind, in the program built from paths.cc: unlike time they are the
same on a busy machine. A path fails if it is more than 10 % (and more than one instruction) above
its budget. One that far below it is only told: record it, or the gain may be lost unnoticed.

callgrind follows calls, not switches: what runs between a switch and the next call is charged to
the door in --where (callgrind_annotate shows even less). The totals are exact.

Exit: 0 within the budget, 1 not, 2 could not be measured, 77 skipped.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
TOLERANCE = 0.10
HEADER = """\
# Instructions of one turn of each path in paths.cc. Written by check.py --record.
"""


def costs_by_function(lines):
    """What each function of a callgrind dump spent itself, without what it called."""
    names, costs, function, of_call = {}, collections.Counter(), None, False
    for line in lines:
        if match := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
            if match[2]:
                names[match[1]] = match[2]
            if line.startswith("fn="):
                function = names[match[1]]
        elif line.startswith("calls="):
            of_call = True
        elif re.match(r"[\d+*-]", line) and function:
            if not of_call:  # the line after calls= is what the called one spent
                # A recursive call's name ends in '2; every goroutine is one to callgrind.
                costs[re.sub(r"'\d+$", "", function)] += int(line.split()[1])
            of_call = False
    return costs


def read_dumps(folder):
    """{path: {n: [(total, file) of each round]}}"""
    dumps = collections.defaultdict(lambda: collections.defaultdict(list))
    for file in folder.glob("paths.*"):
        text = file.read_text()
        walk = re.search(r"^desc: Trigger: Client Request: (\S+) (\d+)$", text, re.M)
        if walk:
            total = int(re.search(r"^summary: (\d+)$", text, re.M)[1])
            dumps[walk[1]][int(walk[2])].append((total, file))
    return dumps


def per_turn(dumps_of_path):
    """2n turns less n turns, each in its cheapest round: what is paid once falls out."""
    (n, once), (twice_n, twice) = sorted(dumps_of_path.items())
    return (min(twice)[0] - min(once)[0]) / (twice_n - n)


def where(dumps_of_path):
    (n, once), (twice_n, twice) = sorted(dumps_of_path.items())
    costs = costs_by_function(min(twice)[1].read_text().splitlines())
    costs.subtract(costs_by_function(min(once)[1].read_text().splitlines()))
    return [(cost / (twice_n - n), name) for name, cost in costs.most_common()]


def read_budgets(text):
    toolchain, budgets = None, {}
    for line in text.splitlines():
        if line.startswith("for "):
            toolchain = line[4:]
        elif line and not line.startswith("#"):
            name, instructions = line.split()
            budgets[name] = float(instructions)
    return toolchain, budgets


def write_budgets(toolchain, figures):
    lines = [f"{name:<20} {figures[name]:>8.1f}\n" for name in sorted(figures)]
    return HEADER + f"for {toolchain}\n" + "".join(lines)


def verdict(budget, now):
    """What is to be said about a path, and whether it passes."""
    if budget is None:
        return "has no budget: --record", False
    if now is None:
        return "has a budget and was not measured", False
    if abs(now - budget) <= max(TOLERANCE * budget, 1):
        return "", True
    if now < budget:
        return "shorter: --record, to keep it so", True
    return "LONGER", False


def compare(budgets, figures):
    """A table, and the names of what fails."""
    rows, failed = [f"{'path':<20} {'budget':>8} {'now':>8}"], []
    for name in sorted(budgets.keys() | figures.keys()):
        budget, now = budgets.get(name), figures.get(name)
        words, passes = verdict(budget, now)
        change = f"{now / budget - 1:+7.1%}" if budget and now is not None else ""
        show = lambda x: "-" if x is None else f"{x:.1f}"
        rows.append(f"{name:<20} {show(budget):>8} {show(now):>8} {change} {words}".rstrip())
        if not passes:
            failed.append(name)
    return "\n".join(rows), failed


def measure(program, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # One thread runs everything, and keeps its P however slowly it gets on.
    environment = {**os.environ, "VOLE_MAXPROCS": "1", "VOLE_DEBUG": "evict=0"}
    run = subprocess.run(
        ["valgrind", "-q", "--tool=callgrind", "--separate-threads=yes",
         f"--callgrind-out-file={folder}/paths", program],
        env=environment, capture_output=True, text=True)
    if run.returncode != 0:
        sys.stderr.write(run.stdout + run.stderr)
        print(f"budget: {program} under valgrind: exit status {run.returncode}", file=sys.stderr)
        sys.exit(2)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent.parent / "build/dev")
    parser.add_argument("--budgets", type=pathlib.Path, default=HERE / "budgets.txt")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--where", metavar="PATH")
    parser.add_argument("--skip", metavar="WHY", help="say so and exit with status 77")
    args = parser.parse_args()
    program, folder = args.build / "tests/budget_paths", args.build / "budget"

    if args.skip:
        skip(args.skip)
    if args.where:
        dumps = read_dumps(folder)
        if args.where not in dumps:
            sys.exit(f"budget: no path {args.where} in {folder}: {' '.join(sorted(dumps))}")
        for cost, name in where(dumps[args.where]):
            if abs(cost) >= 0.05:
                print(f"{cost:8.1f}  {name}")
        return
    if not program.exists():
        print(f"budget: {program} is missing; build the target budget_paths", file=sys.stderr)
        sys.exit(2)
    made_by = subprocess.check_output([program, "--toolchain"], text=True).strip()
    toolchain, budgets = read_budgets(args.budgets.read_text())
    if made_by != toolchain and not args.record:
        skip(f"the budgets are for {toolchain}, this is {made_by}")
    measure(program, folder)
    figures = {name: per_turn(runs) for name, runs in read_dumps(folder).items()}
    table, failed = compare(budgets, figures)
    print(table)
    if args.record:
        args.budgets.write_text(write_budgets(made_by, figures))
        return
    if not failed:
        return
    command = f"{pathlib.Path(__file__)} --build {args.build}"
    print("\nWhere a turn's instructions went:")
    for name in failed:
        print(f"  {command} --where {name}")
    print(f"If they are worth it, in the commit that adds them:\n  {command} --record")
    sys.exit(1)


if __name__ == "__main__":
    main()
