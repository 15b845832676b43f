#!/usr/bin/env python3
"""A file must be refused by the compiler, and for the reason it names.

The file's first line is `// expect: <regex>`; the regex must match one of the first lines of what
the compiler says, and g++ must not say much more. (clang lists every other overload behind it.)
`// expect in 45 lines: <regex>` allows g++ so many.
With --control, a file that uses the same headers must compile. With --accept, the file itself
must, without a warning.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOON = 12     # lines, within which the reason must be named
MOST = 16     # lines of g++'s
CONTROL = "#include <vole/vole.h>\nint main() {}\n"


def compile_file(command, path):
    result = subprocess.run(
        [*command, "-fsyntax-only", "-x", "c++", str(path)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    return result.returncode, result.stdout + result.stderr


def check_refused(command, path):
    """None, or what is wrong."""
    first = path.read_text(encoding="utf-8").splitlines()[:1]
    match = re.fullmatch(r"// expect(?: in (\d+) lines)?: (.+)", first[0].strip()) if first else None
    if not match:
        return f"{path}: the first line is not `// expect: <regex>`"
    status, output = compile_file(command, path)
    if status == 0:
        return f"{path}: compiles, but should not"
    lines = output.splitlines()
    most, reason = int(match[1] or MOST), match[2]
    if not re.search(reason, "\n".join(lines[:SOON])):
        return f"{path}: refused, but not with `{reason}` in {SOON} lines:\n{output}"
    if "clang" not in command[0] and len(lines) > most:
        return f"{path}: refused in {len(lines)} lines, more than {most}:\n{output}"
    return None


def check_control(command):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "control.cc"
        path.write_text(CONTROL, encoding="utf-8")
        status, output = compile_file(command, path)
    return f"the control does not compile:\n{output}" if status else None


def check_accepted(command, path):
    status, output = compile_file([*command, "-Werror"], path)
    return f"{path}: does not compile:\n{output}" if status else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--compile", nargs=argparse.REMAINDER, required=True)
    args = parser.parse_args()
    if args.control:
        problem = check_control(args.compile)
    elif args.accept:
        problem = check_accepted(args.compile, args.file)
    else:
        problem = check_refused(args.compile, args.file)
    if problem:
        sys.exit(problem)


if __name__ == "__main__":
    main()
