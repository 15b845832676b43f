#!/usr/bin/env python3
"""Installs the build into a temporary place and uses it from there as a user would:

by find_package(vole) from CMake, and by pkg-config. The copy is moved after the install,
because packages are.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """\
#include <vole/vole.h>
int main() {
  return vole::run([] {});
}
"""
# A read that waits for another goroutine's write: with hooks it parks, and is counted.
HOOKED = """\
#include <vole/vole.h>
#include <sys/socket.h>
#include <unistd.h>
int main() {
  return vole::run([] {
    int s[2];
    char c = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0) return 1;
    vole::go([=] {
      usleep(10'000);
      if (write(s[1], "x", 1) != 1) _exit(1);
    });
    return read(s[0], &c, 1) == 1 && vole::stats().hooked_waits >= 2 ? 0 : 1;
  });
}
"""
PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES CXX)
find_package(vole 0.1 REQUIRED)
add_executable(user user.cc)
target_link_libraries(user PRIVATE vole::vole)
add_executable(hooked hooked.cc)
target_link_libraries(hooked PRIVATE vole::hooks)
"""


def run(*command, environment=None):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, **(environment or {})},
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--compiler", required=True)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(args.cmake, "--install", args.build, "--prefix", folder / "first")
        prefix = folder / "moved"
        (folder / "first").rename(prefix)

        user = folder / "user"
        user.mkdir()
        (user / "user.cc").write_text(PROGRAM, encoding="utf-8")
        (user / "hooked.cc").write_text(HOOKED, encoding="utf-8")
        (user / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        run(args.cmake, "-S", user, "-B", user / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_CXX_COMPILER={args.compiler}")
        run(args.cmake, "--build", user / "build")
        run(user / "build/user")
        run(user / "build/hooked")

        if shutil.which("pkg-config") is None:
            print("install: no pkg-config here, vole.pc is not checked")
            return
        [pc] = prefix.rglob("vole.pc")
        for package, source in (("vole", "user.cc"), ("vole-hooks", "hooked.cc")):
            flags = run("pkg-config", "--cflags", "--libs", package,
                        environment={"PKG_CONFIG_PATH": str(pc.parent)}).split()
            run(args.compiler, "-std=c++20", user / source, "-o", user / "by_pkg_config", *flags)
            run(user / "by_pkg_config", environment={"LD_LIBRARY_PATH": str(pc.parent.parent)})


if __name__ == "__main__":
    main()
