#!/usr/bin/env python3
"""The Debian packages are built, unpacked into a scratch root and used from there, as a user would.

Looked at: which names the shared library shows (the API's and no others, tools/check_symbols.py), its
soname, what each package depends on; a program is built by find_package with the components that
there are, and by pkg-config, and run with the library of the package; a component that is missing is
refused with a sentence; `vole run` runs a program. With --install the packages are installed in this
system by dpkg -i and removed again: for a chroot.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """\
#include <vole/vole.h>
#include <cstdio>
int main() {
  return vole::run([] {
    vole::chan<int> c;
    vole::go([c] { c.send(42); });
    std::printf("hello %d\\n", *c.recv());
  });
}
"""
PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES CXX)
find_package(vole 0.1 REQUIRED COMPONENTS vole preemptible %s)
add_executable(user user.cc)
target_link_libraries(user PRIVATE vole::vole)
"""


def run(*command, wanted=0, **environment):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace",
                          env={**os.environ, **environment})
    if (done.returncode == 0) != (wanted == 0) or "warning:" in done.stderr:
        sys.exit(f"{' '.join(words)}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def must(is_so, sentence):
    if not is_so:
        sys.exit(f"packages: {sentence}")


def configure(folder, prefix, components, wanted=0):
    (folder / "CMakeLists.txt").write_text(PROJECT % components, encoding="utf-8")
    shutil.rmtree(folder / "build", ignore_errors=True)
    return run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}", wanted=wanted)


def use(prefix, folder, has_tools):
    """A user's program, against what lies under that prefix."""
    folder.mkdir()
    source = folder / "user.cc"
    source.write_text(PROGRAM, encoding="utf-8")
    [library] = (p for p in prefix.rglob("libvole.so.*") if re.search(r"so(\.\d+){3}$", p.name))
    libraries = {"LD_LIBRARY_PATH": str(library.parent)}

    for component, why in (("sim", "vole has no simulation yet"), ("nonsense", "vole has the components")):
        said = " ".join(configure(folder, prefix, component, wanted=1).split())
        must(why in said, f"COMPONENTS {component} is refused without `{why}`:\n{said}")
    configure(folder, prefix, "tools" if has_tools else "")
    run("cmake", "--build", folder / "build")
    must(run(folder / "build/user", **libraries) == "hello 42\n", "the program by find_package fails")

    [pc] = prefix.rglob("vole.pc")
    flags = run("pkg-config", "--cflags", "--libs", "vole", PKG_CONFIG_PATH=str(pc.parent)).split()
    run("g++", "-std=c++20", source, "-o", folder / "by_pkg_config", *flags)
    must(run(folder / "by_pkg_config", **libraries) == "hello 42\n", "the program by pkg-config fails")
    if has_tools:
        command = prefix / "bin/vole"
        said = run(command, "run", source, XDG_CACHE_HOME=str(folder / "cache"))
        must(said == "hello 42\n", f"vole run says {said}")
        must(any(prefix.rglob("gdb/vole.py")), "vole-tools has no script for gdb")
    return library


def look_at(packages, root):
    for package in packages.values():
        run("dpkg-deb", "-x", package, root)
    said = run("dpkg-deb", "-f", packages["libvole-dev"], "Depends")
    must("libvole (=" in said, f"libvole-dev depends on {said}")
    said = run("dpkg-deb", "-f", packages["libvole"], "Depends")
    must("libc6" in said, f"libvole depends on {said}")
    if "vole-tools" in packages:
        said = run("dpkg-deb", "-f", packages["vole-tools"], "Depends")
        must("libvole (=" in said and "libc6" in said, f"vole-tools depends on {said}")
    contents = run("dpkg-deb", "-c", packages["libvole"])
    must("/usr/lib" in contents and "/usr/include" not in contents, f"libvole contains {contents}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--build", type=Path, required=True, help="where the packages are built")
    parser.add_argument("--install", action="store_true", help="by dpkg -i, in this system")
    args = parser.parse_args()
    if shutil.which("dpkg-deb") is None:
        sys.exit(77)

    made = run(args.root / "tools/make_packages.sh", args.build).split()
    packages = {Path(name).name.split("_")[0]: name for name in made if name.endswith(".deb")}
    must({"libvole", "libvole-dev"} <= packages.keys(), f"there are only {packages}")
    has_tools = "vole-tools" in packages
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        look_at(packages, scratch / "root")
        library = use(scratch / "root/usr", scratch / "user", has_tools)
        # Every public name can be linked with the shared library.
        run("g++", "-std=c++20", f"-I{scratch}/root/usr/include", args.root / "tests/compile/api.cc",
            "-o", scratch / "api", library, "-pthread")
        run(scratch / "api", LD_LIBRARY_PATH=str(library.parent))
        said = run("readelf", "-d", library)
        must("[libvole.so.0.1]" in said, f"the soname is not libvole.so.0.1: {said}")
        run(sys.executable, "-B", args.root / "tools/check_symbols.py", "--root", args.root,
            "--library", library)
        if args.install:
            run("dpkg", "-i", *packages.values())
            use(Path("/usr"), scratch / "installed", has_tools)
            run("dpkg", "-r", *packages)
    print(f"packages: {', '.join(sorted(packages))}")


if __name__ == "__main__":
    main()
