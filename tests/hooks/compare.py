"""Runs a program in several ways; each must print the same.

compare.py [--launcher PROGRAM] [--with VARIABLE=VALUE,...] PROGRAM [[--with ...] PROGRAM]...
"""

import difflib
import os
import subprocess
import sys


def output_of(launcher, settings, program):
    done = subprocess.run(launcher + [program], capture_output=True, text=True, errors="replace", timeout=120,
                          stdin=subprocess.DEVNULL, env={**os.environ, **settings})
    if done.returncode != 0:
        sys.exit(f"{settings} {program}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.splitlines()


def main():
    runs, settings, launcher = [], {}, []
    words = iter(sys.argv[1:])
    for word in words:
        if word == "--with":
            name, _, value = next(words).partition("=")
            settings[name] = value
        elif word == "--launcher":
            launcher = [next(words)]
        else:
            runs.append((settings, word))
            settings = {}
    expected = output_of(launcher, *runs[0])
    if len(expected) < 2 or expected[-1] != "end":
        sys.exit(f"{runs[0]} did not come to its end: {expected[-3:]}")
    for wrong in ("TOO SHORT", "TOO LONG"):
        if any(wrong in line for line in expected):
            sys.exit("\n".join(expected))
    for run in runs[1:]:
        got = output_of(launcher, *run)
        if got != expected:
            sys.exit("\n".join(difflib.unified_diff(expected, got, "bare", str(run), lineterm="")))
    print(f"{len(expected)} lines, {len(runs)} ways")


main()
