#!/usr/bin/env python3
"""Compiles every ```cpp block of README.md and docs/*.md, and runs those with a main.

A block with `int main` is a program: it is compiled, linked and run, and must exit with 0
(```cpp no-run compiles and links it only). A block that includes something or declares
things is compiled as a file, any other as the body of a function, both after
<vole/vole.h> and the usual standard headers.

```cpp prints NAME=value ...: a program whose report is shown in the block that follows. It is run
with these variables, and every line of that block must be among the lines it prints, in that order.
Numbers, addresses and the folders of files may be others. How it exits does not matter. What
depends on time may not be there at once, so it is run again for a while.

The fragments are tried as one file first, each in a namespace of its own, and one by one if that does
not compile. The compiler's command may have <vole/vole.h> compiled already: a program must still
include it by itself.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PRELUDE = """\
#include <vole/vole.h>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
using namespace std::chrono_literals;
"""
QUIET = ["-Wno-unused-variable", "-Wno-unused-but-set-variable", "-Wno-unused-function"]
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]*)$")
RUN_SECONDS = 60
TRIES = 20


class Block:
    def __init__(self, path, line, options, text):
        self.path, self.line, self.options, self.text = path, line, options, text
        self.report = None

    @property
    def prints(self):
        return "prints" in self.options

    @property
    def environment(self):
        return dict(word.split("=", 1) for word in self.options if "=" in word)

    @property
    def where(self):
        return f"{self.path}:{self.line}"

    @property
    def is_program(self):
        return re.search(r"\bint\s+main\s*\(", self.text) is not None

    def spellings(self):
        """The files this block may stand for; it is right if one of them compiles."""
        text = f'#line {self.line + 1} "{self.path}"\n{self.text}'
        if self.is_program:
            return [text]
        if "#include" in self.text:
            return [text, PRELUDE + text]
        return [PRELUDE + "void example();\nvoid example() {\n" + text + "\n}\n", PRELUDE + text]


def blocks(path, text):
    """The cpp blocks of a Markdown file, without their indentation."""
    found, fence, body, start = [], None, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if fence is None:
            if match:
                fence, body, start = match, [], number
        elif match and not match["info"].strip():
            words = fence["info"].split()
            if words[:1] == ["cpp"]:
                found.append(Block(path, start, words[1:], "\n".join(body) + "\n"))
            elif found and found[-1].prints and found[-1].report is None:
                found[-1].report = "\n".join(body)
            fence = None
        else:
            body.append(line.removeprefix(fence["indent"]))
    return found


def run(command, seconds, more=None):
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds,
            env={**os.environ, **more} if more else None, preexec_fn=no_core
        )
    except subprocess.TimeoutExpired:
        return -1, f"not finished after {seconds} s"
    return done.returncode, done.stdout + done.stderr


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def shape(line):
    """What stays the same from run to run."""
    line = re.sub(r", \d+ m?s\b", "", line)  # too short to be told, or longer
    line = re.sub(r"0x[0-9a-f]+", "ADDRESS", line)
    line = re.sub(r"\S+\.(cc|md):\d+", "FILE", line)
    return re.sub(r"\d+", "N", line).rstrip()


def missing_line(report, output):
    """The first line of the report that does not follow in the output; None: all do."""
    printed = iter([shape(line) for line in output.splitlines()])
    for line in report.splitlines():
        if not any(shape(line) == other for other in printed):
            return line
    return None


def check_report(block, program):
    if block.report is None:
        return f"{block.where}: no report follows"
    for _ in range(TRIES):
        _, output = run([str(program)], RUN_SECONDS, block.environment)
        missing = missing_line(block.report, output)
        if missing is None:
            return None
    return f"{block.where}: prints no line like\n{missing}\nbut\n{output}"


def check_program(block, compile_command, link, folder):
    source, program = folder / "example.cc", folder / "example"
    if "#include <vole/" not in block.text:
        return f"{block.where}: includes nothing of vole's"
    source.write_text(block.spellings()[0], encoding="utf-8")
    lines = ["-g"] if block.prints else []
    status, output = run([*compile_command, *lines, str(source), "-o", str(program), *link], 120)
    if status:
        return f"{block.where}: does not compile\n{output}"
    if block.prints:
        return check_report(block, program)
    if "no-run" in block.options:
        return None
    status, output = run([str(program)], RUN_SECONDS)
    return f"{block.where}: exits with {status}\n{output}" if status else None


def check_fragment(block, compile_command, folder):
    first = None
    for spelling in block.spellings():
        source = folder / "example.cc"
        source.write_text(spelling, encoding="utf-8")
        status, output = run([*compile_command, *QUIET, "-fsyntax-only", str(source)], 120)
        if status == 0:
            return None
        first = first or output
    return f"{block.where}: does not compile\n{first}"


def compile_together(found, compile_command, folder):
    """The fragments that compile as bodies of functions, all in one file, or else none. Those that do
    not are left out as the compiler names them, for a few rounds."""
    bodies = [b for b in found if not b.is_program and "#include" not in b.text]
    source = folder / "together.cc"
    for _ in range(3):
        source.write_text(PRELUDE + "".join(
            f"namespace block_{i} {{\nvoid example();\nvoid example() {{\n"
            f'#line {b.line + 1} "{b.path}"\n{b.text}\n}}\n}}\n' for i, b in enumerate(bodies)),
            encoding="utf-8")
        status, output = run([*compile_command, *QUIET, "-fsyntax-only", str(source)], 120)
        if status == 0:
            return bodies
        named = {(m[1], int(m[2])) for m in re.finditer(r"^([\w./-]+\.md):(\d+):", output, re.M)}
        wrong = [b for b in bodies if any(
            b.path == path and b.line < line <= b.line + b.text.count("\n") + 1
            for path, line in named)]
        if not wrong:
            return []
        bodies = [b for b in bodies if b not in wrong]
    return []


def documents(root):
    return [path for path in (root / "README.md", *sorted((root / "docs").glob("*.md")))
            if path.is_file()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    # Both lists contain words that begin with a dash, so argparse cannot take them apart.
    words = sys.argv[1:]
    cut, second = words.index("--compile"), words.index("--link")
    root = parser.parse_args(words[:cut]).root
    compile_command, link = words[cut + 1:second], words[second + 1:]

    problems = []
    with tempfile.TemporaryDirectory() as folder:
        found = [block for path in documents(root)
                 for block in blocks(path.relative_to(root).as_posix(),
                                     path.read_text(encoding="utf-8"))]
        count = len(found)
        right = compile_together(found, compile_command, Path(folder))
        for block in found:
            if block in right:
                continue
            if block.is_program:
                problem = check_program(block, compile_command, link, Path(folder))
            else:
                problem = check_fragment(block, compile_command, Path(folder))
            if problem:
                problems.append(problem)
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(f"{len(problems)} of {count} examples in the documents are wrong")
    print(f"documents: {count} examples compile")


if __name__ == "__main__":
    main()
