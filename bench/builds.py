#!/usr/bin/env python3
"""Compares two builds of vole_bench, run by turns: is the second one slower?

  builds.py BEFORE AFTER [--names a,b] [--rounds N] [--most PERCENT]

BEFORE and AFTER are programs (build/release/bench/vole_bench of two trees). Each round runs every
name once with each program, the order turned from round to round. Of each name it prints the median
of both, for the program's own figure and for the processor time of the run, and the median of the
ratios of the rounds, which is what a machine that drifts disturbs least.

Where the linker places a row's functions moves it, too (chan_mpmc on one P: 6.8 and 7.6 ns, the
objects of one build linked in two orders). A row that is slower while callgrind counts the same
instructions (tests/budget) is to be linked in another order before it is believed.

Exit: 0; 1: a name's ratio of processor times is above --most (in percent; default: never).
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

NAMES = "spawn_join,yield1k,pingpong,chan_mpmc,select4,mutex64,skynet"
# Half a second and more of each: the programs' own defaults are over in a twentieth. skynet's is what
# memory allows.
SIZES = {"spawn_join": 5_000_000, "yield1k": 40_000_000, "pingpong": 10_000_000,
         "chan_mpmc": 40_000_000, "select4": 6_000_000, "mutex64": 40_000_000}


def run(program, name, n):
    """(the program's first figure, seconds of processor time)"""
    command = [program, name] + ([str(n)] if n else [])
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return float(re.search(r"\s([0-9.]+)\s", text + " ")[1]), usage.ru_utime + usage.ru_stime


def row(name, before, after):
    """before, after: [(figure, cpu) of each round]. Returns the line, and the ratio of cpu."""
    cells, ratios = [], []
    for k in (0, 1):
        pair = [statistics.median(x[k] for x in side) for side in (before, after)]
        ratios.append(statistics.median(b[k] / a[k] for a, b in zip(before, after)))
        cells.append(f"{pair[0]:>10.4g} {pair[1]:>10.4g} {ratios[-1]:>6.3f}")
    return f"{name:<12}" + "   ".join(cells), ratios[1]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--names", default=NAMES)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--most", type=float)
    args = parser.parse_args()
    names = args.names.split(",")
    seen = {(name, side): [] for name in names for side in (0, 1)}
    for r in range(args.rounds):
        for name in names:
            for side in ((0, 1) if r % 2 == 0 else (1, 0)):
                seen[name, side].append(run((args.before, args.after)[side], name, SIZES.get(name)))
    print(f"{'':<12}{'figure':>10} {'after':>10} {'ratio':>6}   {'cpu s':>10} {'after':>10} {'ratio':>6}")
    slower = []
    for name in names:
        line, ratio = row(name, seen[name, 0], seen[name, 1])
        print(line)
        if args.most is not None and ratio > 1 + args.most / 100:
            slower.append(name)
    if slower:
        sys.exit("slower: " + ", ".join(slower))


if __name__ == "__main__":
    main()
