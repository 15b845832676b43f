#!/usr/bin/env python3
"""Takes away one edge after the other (mutants.toml); the correct twin must then be reported.

usage: mutants.py [--build build/tsan] [--only NAME]

Works beside a built tree, whose library stays as it is: the changed object comes first in the link. Built
in the same way with nothing taken away, each must not be reported: that is its control.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TWIN_RUNS = 5
CASES = ["memory", "waiting", "outside"]


def flags_of(build, source):
    """How the build compiles such a file, without -c and -o."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"] == str(source):
            words = shlex.split(entry["command"])
            break
    else:
        sys.exit("races: %s is not in compile_commands.json" % source)
    start = next(i for i, w in enumerate(words) if w.endswith("clang++"))
    kept = []
    skip = False
    for word in words[start:]:
        if skip or word in ("-c", str(source)):
            skip = False
        elif word in ("-o", "-Xclang"):  # precompiled headers are not for a changed file
            skip = True
        elif not word.endswith(".pch"):
            kept.append(word)
    return kept


def compile_file(flags, overlay, source, to):
    subprocess.run(flags[:1] + ["-I%s" % d for d in overlay] + flags[1:] + ["-w", "-c", str(source), "-o", str(to)],
                   check=True)


def with_its_room(build, scratch, source):
    """A room's files are compiled as one: what they call in each other is inlined there."""
    path = scratch / source if (scratch / source).exists() else ROOT / source
    for room in (build / "CMakeFiles/vole.dir/Unity").glob("*.cxx"):
        text = room.read_text()
        if '"%s"' % (ROOT / source) in text:
            together = scratch / room.name
            together.write_text(text.replace('"%s"' % (ROOT / source), '"%s"' % path))
            return together
    return path


def nobody_reports(build, mutant, scratch, old, new):
    changed = scratch / mutant["file"]
    changed.parent.mkdir(parents=True, exist_ok=True)
    text = (ROOT / mutant["file"]).read_text()
    changed.write_text(text.replace(old, new, 1))
    overlay = [scratch / "include", scratch / "src"]
    objects = []
    for source in mutant.get("compile", []):
        path = with_its_room(build, scratch, source)
        objects.append(scratch / (Path(source).stem + ".o"))
        compile_file(flags_of(build, ROOT / "src/time/stop.cc")[:1]
                     + [f for f in flags_of(build, ROOT / "src/time/stop.cc")[1:] if f != "-fsanitize=thread"],
                     overlay, path, objects[-1])
    for name in CASES + ["main"]:
        source = ROOT / "tests/races" / (name + ("_races.cc" if name != "main" else ".cc"))
        cached = build / "races_mutants" / (name + ".o")
        inline = not mutant.get("compile") and "(%s)" % mutant["case"] in source.read_text()
        to = scratch / (name + ".o") if inline else cached
        if inline or not cached.exists():
            to.parent.mkdir(parents=True, exist_ok=True)
            compile_file(flags_of(build, source), overlay if inline else [], source, to)
        objects.insert(0 if inline else len(objects), to)  # of inline functions the linker takes the first
    program = scratch / "child"
    subprocess.run(["clang++", "-fsanitize=thread", "-fuse-ld=lld", "-Wl,--allow-multiple-definition"]
                   + [str(o) for o in objects] + [str(build / "libvole.a"), "-o", str(program)], check=True)
    run = subprocess.run([sys.executable, str(ROOT / "tests/races/run.py"), str(program), "--only", mutant["case"],
                          "--runs", str(TWIN_RUNS), "--twins", "--launcher", str(ROOT / "tools/fixed_layout.sh")],
                         stdout=subprocess.PIPE, text=True)
    return run.returncode == 0


def problem_of(build, mutant):
    old = mutant["old"]
    if (ROOT / mutant["file"]).read_text().count(old) < 1:
        return "its text is not in %s any more" % mutant["file"]
    with tempfile.TemporaryDirectory(dir=build) as scratch:
        if not nobody_reports(build, mutant, Path(scratch), old, old):
            return "its control is reported"
    with tempfile.TemporaryDirectory(dir=build) as scratch:
        missed = nobody_reports(build, mutant, Path(scratch), old, mutant.get("new", ""))
    return "nobody reports it" if missed else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/tsan")
    parser.add_argument("--only")
    options = parser.parse_args()
    mutants = tomllib.loads((Path(__file__).parent / "mutants.toml").read_text())["mutant"]
    left = 0
    for mutant in mutants:
        if options.only and mutant["name"] != options.only:
            continue
        problem = problem_of(options.build, mutant)
        print("%-34s %s" % (mutant["name"], problem or "reported"), flush=True)
        left += problem is not None
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
