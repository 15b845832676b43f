#!/usr/bin/env python3
"""Each public header compiles alone, as the first line of a user's file, without a warning.

With every compiler that is named and installed; --std and the warnings are those of a strict user.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c++", "-"]


def refused(compiler, include, header):
    """None, or what the compiler says."""
    done = subprocess.run(
        [compiler, f"-I{include}", *FLAGS],
        input=f"#include <vole/{header}>\nint main() {{}}\n",
        capture_output=True,
        text=True,
        errors="replace",
    )
    return None if done.returncode == 0 else f"<vole/{header}> alone, {compiler}:\n{done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--compilers", nargs="+", required=True)
    args = parser.parse_args()

    include = args.root / "include"
    headers = sorted(p.name for p in (include / "vole").glob("*.h"))
    compilers = sorted({found for c in args.compilers if (found := shutil.which(c))})
    if not headers or not compilers:
        sys.exit("headers: no header, or no compiler, to be found")
    wrong = [w for c in compilers for h in headers if (w := refused(c, include, h))]
    print(f"headers: {len(headers)} with {', '.join(compilers)}")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
