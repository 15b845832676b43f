#!/usr/bin/env python3
"""The library itself refers to none of the functions that vole::hooks replaces, and the list of what
libvole-preload.so shows is that of src/hooks/symbols.h.

Its own calls would land in the hooks otherwise. Those of plain threads may: there a hook is libc's call.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

PLAIN = {
    "control.cc": "the control socket's own thread",
    "vole_backtrace": "libbacktrace, outside the runtime",
    "getaddrinfo": "threads that look up names",
    "getnameinfo": "threads that look up names",
}


def hooked_names(root):
    text = (root / "src/hooks/symbols.h").read_text(encoding="utf-8")
    return set(re.findall(r"X\((\w+)\)", text.split("#define VOLE_HOOKED(X)")[1].split("namespace")[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True)
    args = parser.parse_args()
    names = hooked_names(args.root)
    if len(names) < 40:
        sys.exit(f"hooked: only {len(names)} names were found in symbols.h")
    wrong = []
    shown = set(re.findall(r"^    (\w+);$", (args.root / "cmake/preload.map").read_text("utf-8"), re.M))
    if shown - {"__libc_start_main"} != names:
        wrong.append(f"cmake/preload.map and src/hooks/symbols.h differ: {sorted(shown ^ names)}")
    listing = subprocess.run(["nm", "-A", "--undefined-only", args.library], capture_output=True, text=True,
                             check=True).stdout
    for line in listing.splitlines():
        place, _, name = line.rpartition(" ")
        if name in names and name not in PLAIN and not any(each in place for each in PLAIN):
            wrong.append(f"{place.split()[0]} {name}: use os/linux/bare_calls.h")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"hooked: {len(names)} functions, none of them called by {args.library.name}")


main()
