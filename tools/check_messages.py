#!/usr/bin/env python3
"""Every sentence that ends a program says what to do about it.

The text of each fatal() in src/ has a second sentence, which says that. What is an invariant of our own is
broken(), which adds one. EXEMPT lists the texts that need none, with the reason.
"""

import argparse
import re
import sys
from pathlib import Path

import source_text

LITERAL = r'"((?:[^"\\]|\\.)*)"'
CALL = re.compile(r'\bfatal\(((?:[^;"]|"(?:[^"\\]|\\.)*")*)\);')
SECOND = re.compile(r"[.?!] [A-Z]")
EXEMPT = {
    "deadlock!": "the report that follows says who waits for whom",
}


def check(root):
    problems, used = [], set()
    for name in source_text.files(root, "src"):
        if name.endswith("_test.cc"):
            continue
        text = source_text.read(root, name)
        for call in CALL.finditer(text):
            said = "".join(re.findall(LITERAL, call[1]))
            exempt = {word for word in EXEMPT if word in said}
            used |= exempt
            if said and not exempt and not SECOND.search(said):
                line = text.count("\n", 0, call.start()) + 1
                problems.append(f"{name}:{line}: `{said}` does not say what to do")
    problems += [f"tools/check_messages.py: nobody says {word}" for word in EXEMPT.keys() - used]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    problems = check(parser.parse_args().root.resolve())
    for line in problems:
        print(line)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
