#!/usr/bin/env python3
"""What README.md and docs/getting-started.md tell a user to type does what they say.

With --with-run, `make run`, the first command of README.md, is typed in a scratch copy of the tree, and must say what it
promises; `make test` must be a target that make knows. The first sh block of README.md's "Add it to your project" runs as it is printed, in a scratch copy of
the tree, but that /usr/local is a scratch folder and `vole`, the command, is left out (tests/tools
have it, and it takes a minute to build), and must build without a warning. Then README.md's first program is built and run in
each of the ways that follow there: by find_package, by FetchContent (the … is the scratch copy, a git
repository; that is configured and compiled, but not linked, since it would build the library once
more) and by the second sh block. Then docs/getting-started.md is followed word by word against that
installation; its first sh block must be README.md's. Last, the installation is taken away as README.md says.
"""

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from follow_page import follow

TREE = ["CMakeLists.txt", "CMakePresets.json", "Makefile", "LICENSE", "cmake", "examples", "include", "src",
        "tools"]
HEAD = "cmake_minimum_required(VERSION 3.22)\nproject(user LANGUAGES CXX)\nadd_executable(app app.cc)\n"


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def the(what, found, number):
    if len(found) != number:
        sys.exit(f"README.md: {len(found)} {what} where this check knows {number}")
    return found


def run(command, folder, environment):
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode or "warning:" in done.stdout:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


def make_run(commands, tree, environment):
    """The two commands. Only what the first one shows is looked at, not how quick the machine is."""
    typed = [line.split("#")[0].strip() for line in commands.splitlines()]
    if typed != ["make run", "make test"]:
        sys.exit(f"README.md: its first commands are {typed}")
    done = subprocess.run(["sh", "-c", typed[0]], cwd=tree, env={**os.environ, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    page, trace = (tree / f"build/run/tour.{kind}" for kind in ("html", "trace"))
    left = page if shutil.which("node") and shutil.which("npm") and page.exists() else trace
    for part in ("1000000 started, run and waited for", "handlers loop", "some loop, some block",
                 "1000 goroutines (", "What next", str(left)):
        if done.returncode or part not in done.stdout:
            sys.exit(f"make run does not say `{part}`\n{done.stdout}")
    if left.stat().st_size < 1000:
        sys.exit(f"make run leaves an empty {left}")
    run(["make", "--dry-run", "test"], tree, environment)


def project(folder, program, cmake):
    folder.mkdir()
    (folder / "app.cc").write_text(program, encoding="utf-8")
    (folder / "CMakeLists.txt").write_text(HEAD + cmake, encoding="utf-8")
    return folder


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def follow_getting_started(root, install, folder, environment):
    page = (root / "docs/getting-started.md").read_text(encoding="utf-8")
    if blocks(page, "sh")[0] != install:
        sys.exit("docs/getting-started.md installs otherwise than README.md")
    folder.mkdir()
    port = str(free_port())
    follow(page[page.index("## 2."):], folder, {**os.environ, **environment},
           lambda text: text.replace("7777", port))


def uninstall(section, prefix, tree, environment):
    """Nothing but folders is left of the installation."""
    [command] = re.findall(r"take an installation away: `([^`]+)`", section)
    run(["sh", "-exc", command], tree, environment)
    left = [path for path in prefix.rglob("*") if not path.is_dir() or path.is_symlink()]
    if left:
        sys.exit(f"{command}\nleaves {left}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--with-run", action="store_true", help="type `make run`, too")
    args = parser.parse_args()

    readme = (args.root / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## Add it to your project\n(.*?)^## ", readme, re.M | re.S)
    install, by_hand = the('sh blocks under "Add it to your project"', blocks(section[1], "sh"), 2)
    package, fetch = the('cmake blocks under "Add it to your project"', blocks(section[1], "cmake"), 2)
    program = next(b for b in blocks(readme, "cpp") if "int main(" in b)

    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        prefix, tree = scratch / "usr", scratch / "vole"
        # The paths of every run are the same to the compiler cache, if there is one.
        environment = {"CCACHE_BASEDIR": str(scratch), "CCACHE_NOHASHDIR": "1",
                       "CMAKE_BUILD_PARALLEL_LEVEL": os.environ.get("VOLE_JOBS", "2")}
        tree.mkdir()
        for entry in TREE:
            source = args.root / entry
            (shutil.copytree if source.is_dir() else shutil.copy)(source, tree / entry)
        if args.with_run:
            make_run(blocks(readme, "sh")[0], tree, environment)
        here = install.replace("/usr/local", str(prefix))
        here = here.replace("-DVOLE_BUILD_TESTS=OFF",
                            "-DVOLE_BUILD_TESTS=OFF -DVOLE_BUILD_TOOLS=OFF")
        run(["sh", "-exc", here], tree, environment)

        user = project(scratch / "package", program, package)
        run(["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"], user, environment)
        run(["cmake", "--build", "build"], user, environment)
        run(["build/app"], user, environment)

        if shutil.which("git") and shutil.which("ninja"):
            git = "git -c user.name=check -c user.email=check@localhost"
            run(["sh", "-exc", f"git init -q -b main . && git add {' '.join(TREE)} && "
                 f"{git} commit -qm tree"], tree, environment)
            user = project(scratch / "fetch", program, fetch.replace("…", str(tree)))
            run(["cmake", "-S", ".", "-B", "build", "-G", "Ninja"], user, environment)
            run(["ninja", "-C", "build", "CMakeFiles/app.dir/app.cc.o"], user, environment)
        else:
            print("readme: no git or no ninja here, FetchContent is not checked")

        if shutil.which("pkg-config"):
            user = project(scratch / "by_hand", program, "")
            [pc] = prefix.rglob("vole.pc")
            environment["PKG_CONFIG_PATH"] = str(pc.parent)
            run(["sh", "-exc", by_hand], user, environment)
            run(["./app"], user, environment)
            environment["CMAKE_PREFIX_PATH"] = str(prefix)
            follow_getting_started(args.root, install, scratch / "started", environment)
            uninstall(section[1], prefix, tree, environment)
        else:
            print("readme: no pkg-config here, that line and getting-started.md are not checked")


if __name__ == "__main__":
    main()
