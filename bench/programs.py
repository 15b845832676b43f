"""The programs that bench/run.py runs: where they are, how they are built, with what.

Law    what cannot be built is said, and the rest is built.
"""

import dataclasses
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
BUILD = ROOT / "build" / "bench"
RELEASE = ROOT / "build" / "release"
TOKIO = BUILD / "tokio"
BARE, ECHO_LOAD = BUILD / "bare_epoll", BUILD / "echo_load"

CC_FLAGS = ["-std=c++20", "-O2", "-DNDEBUG", "-pthread"]


@dataclasses.dataclass(frozen=True)
class Program:
    path: pathlib.Path
    build: str  # a key of BUILDERS
    env: dict = dataclasses.field(default_factory=dict)


def boost(sched):
    """LD_BIND_NOW: the first call through a lazily bound symbol would take 1.5 KB of a fiber's stack."""
    return Program(BUILD / "boost_fiber_bench", "boost", {"BOOST_FIBER_SCHED": sched, "LD_BIND_NOW": "1"})


def tokio(sched):
    return Program(TOKIO / "release" / "tokio_bench", "tokio", {"TOKIO_SCHED": sched})


def asio(sched):
    return Program(BUILD / "asio_bench", "asio", {"ASIO_SCHED": sched})


PROGRAMS = {
    "vole": Program(RELEASE / "bench" / "vole_bench", "vole"),
    "go": Program(BUILD / "go_bench", "go"),
    "boost_fiber": boost("stealing"),
    "boost_fiber_spin": boost("spinning"),
    "boost_fiber1": boost("single"),
    "tokio": tokio("multi"),
    "tokio1": tokio("current"),
    "tbb": Program(BUILD / "tbb_bench", "tbb"),
    "asio": asio("multi"),
    "asio1": asio("single"),
    "bare": Program(BARE, "bare"),
    "floor": Program(BUILD / "floor_bench", "floor"),
}


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def build_vole():
    build_bare()  # the client of echo
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=sys.stderr)
    command = ["cmake", "--build", str(RELEASE), "--target", "vole_bench"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)


def build_micro():
    command = ["cmake", "--build", str(RELEASE), "--target", "vole_micro"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)


def build_go():
    command = ["go", "build", "-o", str(BUILD / "go_bench"), "."]
    subprocess.run(command, cwd=BENCH / "go", check=True, stdout=sys.stderr)


def build_cc(peer, *more):
    """A folder of C++: rebuilt when a file of it, or this one, is newer than the program."""
    target, folder = BUILD / f"{peer}_bench", BENCH / peer
    sources = sorted(str(path) for path in folder.glob("*.cc"))
    newest = max(path.stat().st_mtime for path in [*folder.iterdir(), pathlib.Path(__file__)])
    if target.exists() and target.stat().st_mtime > newest:
        return
    subprocess.run(["g++", *CC_FLAGS, "-o", str(target), *sources, *more], check=True, stdout=sys.stderr)


def build_tokio():
    """In its own folder: cargo looks there for .cargo/config.toml, which names Debian's crates."""
    command = ["cargo", "build", "--release", "--offline", "--quiet", "--target-dir", str(TOKIO)]
    subprocess.run(command, cwd=BENCH / "tokio", check=True, stdout=sys.stderr)


def build_bare():
    for name, target in (("epoll", BARE), ("echo_load", ECHO_LOAD)):
        command = ["g++", "-std=c++20", "-O2", "-o", str(target), str(BENCH / "bare" / f"{name}.cc")]
        subprocess.run(command, check=True, stdout=sys.stderr)


BUILDERS = {
    "vole": build_vole,
    "go": build_go,
    "boost": lambda: build_cc("boost_fiber", "-lboost_fiber", "-lboost_context"),
    "tokio": build_tokio,
    "tbb": lambda: build_cc("tbb", "-ltbb"),
    "asio": lambda: build_cc("asio", "-DASIO_STANDALONE"),
    "bare": build_bare,
    "floor": lambda: build_cc("floor"),
}


def build(programs):
    """Builds what the programs need; returns those that could not be built."""
    BUILD.mkdir(parents=True, exist_ok=True)
    broken = set()
    for kind in dict.fromkeys(PROGRAMS[p].build for p in programs):
        say(f"building {kind}")
        try:
            BUILDERS[kind]()
        except (OSError, subprocess.CalledProcessError) as error:
            say(f"building {kind} failed: {error}")
            broken.update(p for p in programs if PROGRAMS[p].build == kind)
    return broken


# ── what they were built with ──


def first_line(*command):
    """The first line a command prints; "" if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip().split("\n")[0]


def compiler_of_release():
    cache = RELEASE / "CMakeCache.txt"
    lines = cache.read_text().splitlines() if cache.exists() else []
    found = [line.split("=", 1)[1] for line in lines if line.startswith("CMAKE_CXX_COMPILER:")]
    return first_line(found[0], "--version") if found else ""


def found_in(path, pattern):
    """What the pattern's groups match in a file, joined by dots; "unknown" if it is not there."""
    path = pathlib.Path(path)
    found = re.search(pattern, path.read_text(), re.DOTALL) if path.exists() else None
    return ".".join(found.groups()) if found else "unknown"


def boost_version():
    return found_in("/usr/include/boost/version.hpp", r'define BOOST_LIB_VERSION "(.*?)"').replace("_", ".")


def tbb_version():
    return found_in("/usr/include/oneapi/tbb/version.h", r"VERSION_MAJOR (\d+).*VERSION_MINOR (\d+)")


def asio_version():
    return found_in("/usr/include/asio/version.hpp", r"define ASIO_VERSION \d+ // ([\d.]+)")


def tokio_version():
    """From the lock file, which cargo writes as it builds."""
    return found_in(BENCH / "tokio" / "Cargo.lock", r'name = "tokio"\nversion = "(.*?)"')


def compilers(programs):
    kinds = {PROGRAMS[p].build for p in programs}
    versions = {}
    if "vole" in kinds:
        versions["vole"] = compiler_of_release()
    if "go" in kinds:
        versions["go"] = first_line("go", "version")
    cc = f"{first_line('g++', '--version')}, {' '.join(CC_FLAGS)}"
    if "boost" in kinds:
        versions["boost_fiber"] = f"{cc}, Boost {boost_version()}"
    if "tbb" in kinds:
        versions["tbb"] = f"{cc}, oneTBB {tbb_version()}"
    if "asio" in kinds:
        versions["asio"] = f"{cc}, Asio {asio_version()}"
    if "floor" in kinds:
        versions["floor"] = cc
    if "tokio" in kinds:
        versions["tokio"] = f"{first_line('rustc', '--version')}, tokio {tokio_version()}"
    return versions


def commit():
    """The short commit, with + if the tree differs from it; "none" before the first."""
    name = first_line("git", "rev-parse", "--short=10", "HEAD") or "none"
    return name + ("+" if name != "none" and first_line("git", "status", "--porcelain", "-uno") else "")
