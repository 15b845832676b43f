#!/usr/bin/env python3
"""Every mechanism in docs/go-map.md has a test that names it.

The map's table has rows that start `| [n] |`. A test names a mechanism by writing the
same `[n]` anywhere in its source: a comment, or a test's description.
"""

import argparse
import re
import sys
from pathlib import Path

MAP = "docs/go-map.md"
TESTS = ("_test.cc", "_model.cc", "_child.cc")


def mechanisms(text):
    """{id: the rest of its row}, in the map's order."""
    rows = re.findall(r"^\|\s*\[(\d+)\]\s*\|(.*)$", text, re.MULTILINE)
    return {int(number): rest.strip(" |") for number, rest in rows}


def named_in_tests(root):
    """{id: the tests that name it}. `a[1]` is an index, not a name."""
    named = {}
    for folder in ("src", "tests"):
        for path in sorted((root / folder).rglob("*.cc")):
            if not path.name.endswith(TESTS):
                continue
            for number in re.findall(r"(?<![\w\])])\[(\d+)\]", path.read_text(encoding="utf-8")):
                named.setdefault(int(number), set()).add(path.relative_to(root).as_posix())
    return named


def check(root):
    """(problems, number of mechanisms)"""
    path = root / MAP
    if not path.is_file():
        return [f"{MAP} is missing"], 0
    listed = mechanisms(path.read_text(encoding="utf-8"))
    if not listed:
        return [f"{MAP}: no row starts with `| [n] |`"], 0
    named = named_in_tests(root)
    problems = [
        f"{MAP}: no test names [{number}]: {row}"
        for number, row in listed.items()
        if number not in named
    ]
    return problems, len(listed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    problems, count = check(parser.parse_args().root)
    for line in problems:
        print(line)
    if problems:
        sys.exit(1)
    print(f"mechanisms: {count}, each named by a test")


if __name__ == "__main__":
    main()
