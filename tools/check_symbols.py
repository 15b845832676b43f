#!/usr/bin/env python3
"""What a shared libvole shows is what include/vole declares: each name of its dynamic symbols is a word
of a public header, and lies in namespace vole, in its version."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

# What the compiler makes of a class or a function, in front of its name.
MADE_OF = re.compile(r"^(typeinfo name for|typeinfo for|vtable for|guard variable for) ")
# Not in headers: the word of asm that headers and tools find per-thread state by.
ASSEMBLY = re.compile(r"^(vole_thread_word$|vole::os::[gs]et_errno\()")  # the latter: src/hooks


def shown(library):
    text = subprocess.run(["nm", "-DC", "--defined-only", str(library)], check=True,
                          capture_output=True, text=True).stdout
    for line in text.splitlines():
        name = re.sub(r"@.*$", "", line.split(maxsplit=2)[2])
        if not re.match(r"^VOLE_\d", name):
            yield name


def strip_templates(name):
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    return name


def last_word(name):
    """`close` of vole::v0::chan_core::close() const; `listener` of its destructor."""
    name = strip_templates(MADE_OF.sub("", name))
    name = re.sub(r"\[abi:\w+\]", "", name).split("(")[0]
    if "operator" in name:
        return "operator"
    return name.split("::")[-1].lstrip("~").split()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True)
    args = parser.parse_args()

    headers = "\n".join(p.read_text(encoding="utf-8") for p in (args.root / "include/vole").rglob("*.h"))
    words = set(re.findall(r"\w+", headers))
    names = list(shown(args.library))
    problems = []
    for name in names:
        plain = re.sub(r"^[^(]*? (?=vole::v0::)", "", MADE_OF.sub("", name))  # of a template: what it returns
        inside = plain.startswith(("vole::v0::", "std::hash<vole::v0::", "vole::rt::")) or ASSEMBLY.match(plain)
        # What inline functions of detail/ call lies in vole::rt.
        if not inside or not (ASSEMBLY.match(plain) or last_word(plain) in words):
            problems.append(name)
    for problem in problems:
        print(problem)
    if problems or not names:
        sys.exit(f"symbols: {len(problems)} of {len(names)} are not the API's")
    print(f"symbols: {len(names)}, all of the API")


if __name__ == "__main__":
    main()
