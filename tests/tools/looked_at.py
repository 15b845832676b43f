"""What the tests that look from outside share: a program to look at, its own dump, and gdb."""

import os
import re
import resource
import subprocess
from pathlib import Path

TOOLS = Path(os.environ["VOLE_TOOLS_DIR"])
SCRIPT = Path(os.environ["VOLE_SOURCE_DIR"]) / "tools/gdb/vole.py"


class Child:
    """tests/tools/parked_child.cc at work: `dump` is what it printed of itself."""

    def __init__(self, program, folder=None):
        self.program = Path(program)
        self.process = subprocess.Popen(
            [str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2))
        self.pid = self.process.pid
        lines = []
        for line in self.process.stdout:
            if line == "ready\n":
                break
            lines.append(line)
        self.dump = "".join(lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, line="\n"):
        """Has it go on, and gives its status."""
        self.process.communicate(line)
        return self.process.returncode


def goroutines_of(dump):
    """{id: (state, name, [(function, place)])} of a dump; place: file:line, the file's name only"""
    found = {}
    for block in dump.strip().split("\n\n"):
        head, *lines = block.split("\n")
        match = re.match(r"(?:goroutine (\d+)|\d+ goroutines \(([\d, ]+)\))(?: \((.*?)\))? \[(.*)\]:$",
                         head)
        if match is None:
            raise ValueError(f"not a goroutine: {head!r}, in:\n{dump}")
        frames = []
        for line, place in zip(lines, lines[1:] + [""]):
            if line.startswith("created by"):
                break
            more = re.match(r"\(and (\d+) calls more of the same\)$", line)
            if more:
                frames += frames[-1:] * int(more[1])
            if place.startswith("\t") and not place.startswith("\t("):
                frames.append((line, Path(place.strip()).name))
        for number in (match[1] or match[2]).split(", "):
            found[int(number)] = (match[4], match[3] or "", frames)
    return found


def own_frames(text):
    """[(function, place)] of the frames in parked_child.cc, from lines of gdb's backtrace"""
    found = []
    for line in text.splitlines():
        match = re.match(r"#\d+ +(?:0x[0-9a-f]+ in )?(.*?) ?\(.* at (.*parked_child\.cc:\d+)$", line)
        if match:
            found.append((match[1], Path(match[2]).name))
    return found


def plain(function):
    """Its name without arguments; lambdas have none that all agree on."""
    if "{lambda" in function or function.startswith("operator"):
        return "lambda"
    return re.sub(r"\(.*", "", function)


def gdb(*commands, target=(), script=SCRIPT):
    words = ["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off",
             "-iex", "set width 0", "-iex", "set print frame-arguments none"]
    if script is not None:
        words += ["-iex", f"source {script}"]
    words += map(str, target)
    for command in commands:
        words += ["-ex", command]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL)
    return done.stdout, done.stderr
