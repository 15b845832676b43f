#!/usr/bin/env python3
"""How long dumps take: from inside (dump_goroutines, and how long the world stands still meanwhile), and
from outside (`vole dump`, and how long the process stands still). Medians, and the worst of all.

    bench/dumps.py build/release

The tables of docs/debugging.md are what this prints.
"""

import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 7


class Child:
    def __init__(self, program, *words):
        self.process = subprocess.Popen([str(program), *map(str, words)], stdout=subprocess.PIPE,
                                        text=True)
        self.lines = []
        for line in self.process.stdout:
            if line == "READY\n":
                break
            self.lines.append(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def row(what, n, taken, stopped):
    print(f"| {what} | {n:,} | {statistics.median(taken):.0f} ms (worst {max(taken):.0f}) "
          f"| {statistics.median(stopped):.1f} ms (worst {max(stopped):.1f}) |", flush=True)


def inside(program, n):
    with Child(program, "timed", n) as child:
        pairs = [tuple(map(float, line.split())) for line in child.lines]
    row("`dump_goroutines`", n, *zip(*pairs))


def outside(command, program, n):
    taken, stopped = [], []
    with Child(program, "count", n) as child:
        time.sleep(1)  # until all wait
        for _ in range(ROUNDS):
            began = time.monotonic()
            done = subprocess.run([command, "dump", "--times", str(child.process.pid)],
                                  capture_output=True, text=True, check=True)
            taken.append(1e3 * (time.monotonic() - began))
            stopped.append(float(re.search(r"paused ([\d.]+) ms", done.stderr)[1]))
            if len(done.stdout.split("\n\n")) != 3:
                sys.exit(f"dumps: {n} goroutines with one stack are not one block:\n{done.stdout}")
    row("`vole dump PID`", n, taken, stopped)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1])
    program, command = build / "tools/outside_child", build / "bin/vole"
    print("| | goroutines | in all | standing still |\n|---|---|---|---|")
    for n in (1_000, 100_000, 1_000_000):
        inside(program, n)
    for n in (1_000, 10_000, 100_000):
        outside(command, program, n)


if __name__ == "__main__":
    main()
