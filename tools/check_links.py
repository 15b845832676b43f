#!/usr/bin/env python3
"""Every relative link of the Markdown files leads to a file, and to a heading where it names one.

Also every file of bench/results that a document names exists.
"""

import argparse
import re
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
RESULT = re.compile(r"\b\d{4}-\d\d-\d\d-[0-9a-f]{10}[^\s`,;)]*")
FOLDERS = ("bench", "docs", "examples", "src", "tests", "tools")
CODE = re.compile(r"^( *)```.*?^\1```", re.M | re.S)


def anchors(text):
    """The names that headings get: small letters, words joined by dashes, punctuation left out."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", CODE.sub("", text), re.M):
        plain = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(plain.replace(" ", "-"))
    return found


def problems_of(path, root):
    text = path.read_text(encoding="utf-8")
    for target in LINK.findall(CODE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        goal = (path.parent / name) if name else path
        if not goal.exists():
            yield f"{path.relative_to(root)}: {target}: no such file"
        elif heading and heading not in anchors(goal.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root)}: {target}: no such heading"


def results_problems(path, root):
    """A document may name several at once: 2026-...-curves*.json."""
    for name in RESULT.findall(path.read_text(encoding="utf-8")):
        if not any((root / "bench/results").glob(name)):
            yield f"{path.relative_to(root)}: bench/results has no {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    root = parser.parse_args().root
    documents = sorted([*root.glob("*.md"), *(p for folder in FOLDERS
                                              for p in (root / folder).rglob("*.md"))])
    problems = [p for path in documents
                for p in (*problems_of(path, root), *results_problems(path, root))]
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(f"{len(problems)} links lead nowhere")
    print(f"links: {len(documents)} documents")


if __name__ == "__main__":
    main()
