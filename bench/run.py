#!/usr/bin/env python3
"""Runs the same work on vole and on its peers, side by side. See bench/README.md.

Law    programs run one at a time, interleaved, in an order that turns every round.
       What may be published: report.py.
Note   results carry no host name and no path: they are committed.
"""

import argparse
import collections
import dataclasses
import datetime
import os
import pathlib
import re
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import servers
from machine import busy_s, machine, wait_for_calm
from report import MAX_FOREIGN, MAX_SPREAD, MIN_ROUNDS, NOT_OFFERED, compare, measurements, save, table

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
BUILD = ROOT / "build" / "bench"
RELEASE = ROOT / "build" / "release"
TOKIO = BUILD / "tokio"
BARE, ECHO_LOAD = BUILD / "bare_epoll", BUILD / "echo_load"

TIMEOUT_S = 60
BOOST_FLAGS = ["-std=c++20", "-O2", "-DNDEBUG", "-pthread"]

# How a program says that it lacks a name, beside exit status 2 (which Go's panic has too).
UNKNOWN_NAME = re.compile(r"(\w+: )?unknown ")

# name: N of a --quick run (None as N means each program's own default, which must agree).
NAMES = {
    "spawn_join": 100_000, "spawn_seq": 100_000, "yield": 500_000, "yield1k": 500_000,
    "pingpong": 100_000, "chan_spsc": 500_000, "chan_mpmc": 400_000, "select4": 100_000,
    "mutex64": 640_000, "skynet": 10_000, "fib": 20, "sieve": 200, "parked": 10_000,
    "preempt": 50, "syscall": 500_000, "handoff": 20, "sleepers": 20_000,
    "echo": 1, "http": 1,  # seconds per number of connections
}
DEFAULT_PEERS = ["go", "tokio", "boost_fiber", "tokio1", "boost_fiber1", "bare"]


# ── programs ──


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


PROGRAMS = {
    "vole": Program(RELEASE / "bench" / "vole_bench", "vole"),
    "go": Program(BUILD / "go_bench", "go"),
    "boost_fiber": boost("stealing"),
    "boost_fiber_spin": boost("spinning"),
    "boost_fiber1": boost("single"),
    "tokio": tokio("multi"),
    "tokio1": tokio("current"),
    "bare": Program(BARE, "bare"),
}


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def build_vole():
    build_bare()  # the client of echo
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=sys.stderr)
    command = ["cmake", "--build", str(RELEASE), "--target", "vole_bench"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)


def build_go():
    command = ["go", "build", "-o", str(BUILD / "go_bench"), "."]
    subprocess.run(command, cwd=BENCH / "go", check=True, stdout=sys.stderr)


def build_boost():
    target, folder = BUILD / "boost_fiber_bench", BENCH / "boost_fiber"
    sources = sorted(str(path) for path in folder.glob("*.cc"))
    newest = max(path.stat().st_mtime for path in [*folder.iterdir(), pathlib.Path(__file__)])
    if target.exists() and target.stat().st_mtime > newest:
        return
    command = ["g++", *BOOST_FLAGS, "-o", str(target), *sources, "-lboost_fiber", "-lboost_context"]
    subprocess.run(command, check=True, stdout=sys.stderr)


def build_tokio():
    """In its own folder: cargo looks there for .cargo/config.toml, which names Debian's crates."""
    command = ["cargo", "build", "--release", "--offline", "--quiet", "--target-dir", str(TOKIO)]
    subprocess.run(command, cwd=BENCH / "tokio", check=True, stdout=sys.stderr)


def build_bare():
    for name, target in (("epoll", BARE), ("echo_load", ECHO_LOAD)):
        command = ["g++", "-std=c++20", "-O2", "-o", str(target), str(BENCH / "bare" / f"{name}.cc")]
        subprocess.run(command, check=True, stdout=sys.stderr)


BUILDERS = {"vole": build_vole, "go": build_go, "boost": build_boost, "tokio": build_tokio, "bare": build_bare}


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


# ── one run ──


@dataclasses.dataclass
class Run:
    status: str  # "ok", or why there is no number
    metrics: list = dataclasses.field(default_factory=list)  # (metric, value, unit)
    cpu_s: float = 0.0
    max_rss_kb: int = 0
    wall_s: float = 0.0
    foreign_s: float = 0.0  # processor time that others used meanwhile


def parse(text):
    """The lines `NAME value unit` of a program's output; ValueError if there is none."""
    metrics = []
    for line in text.splitlines():
        words = line.split()
        if len(words) != 3:
            raise ValueError(f"not `NAME value unit`: {line!r}")
        metrics.append((words[0], float(words[1]), words[2]))
    if not metrics:
        raise ValueError("no output")
    return metrics


def stop(process):
    """SIGTERM to the program's whole group, SIGKILL if it will not hear."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=2)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def wait(process, timeout):
    """Waits on a pidfd, so that the runner sleeps while the program runs. None: timed out."""
    fd = os.pidfd_open(process.pid)
    try:
        poller = select.poll()
        poller.register(fd, select.POLLIN)
        if not poller.poll(timeout * 1000):
            return None
    finally:
        os.close(fd)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def execute(command, env, timeout):
    """Runs one program once."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start, busy = time.monotonic(), busy_s()
        try:
            process = subprocess.Popen(command, stdout=out, stderr=err, env=os.environ | env, start_new_session=True)
        except OSError as error:
            return Run(f"failed ({error.strerror})")
        try:
            usage = wait(process, timeout)
        finally:
            if process.returncode is None:
                stop(process)
        if usage is None:
            return Run("timed out")
        wall_s, own_s = time.monotonic() - start, usage.ru_utime + usage.ru_stime
        foreign_s = max(0.0, busy_s() - busy - own_s)
        out.seek(0)
        err.seek(0)
        complaint = err.read().strip()
        if process.returncode == 2 and UNKNOWN_NAME.match(complaint):
            return Run(NOT_OFFERED)
        if process.returncode:
            say(complaint[-400:])
            kind = "signal" if process.returncode < 0 else "exit"
            return Run(f"failed ({kind} {abs(process.returncode)})")
        try:
            metrics = parse(out.read())
        except ValueError as error:
            return Run(f"failed ({error})")
        return Run("ok", metrics, own_s, usage.ru_maxrss, wall_s, foreign_s)


def serve(command, env, name, seconds):
    """Runs one server once, with its client beside it."""
    start, busy = time.monotonic(), busy_s()
    try:
        metrics, own_s = servers.run(command, env, name, ECHO_LOAD, seconds or servers.SECONDS)
    except servers.Failed as error:
        return Run(NOT_OFFERED if str(error) == "exit 2" else f"failed ({error})")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Run(f"failed ({error})")
    return Run("ok", metrics, own_s, 0, time.monotonic() - start, max(0.0, busy_s() - busy - own_s))


# ── many runs ──


class Series:
    """All runs of one program on one name. The first run that fails ends it."""

    def __init__(self):
        self.status = "ok"
        self.values = collections.defaultdict(list)
        self.units = {}
        self.cpu_s = []
        self.max_rss_kb = []
        self.wall_s = 0.0
        self.foreign_s = 0.0

    def add(self, run):
        if run.status != "ok":
            self.status = run.status
            return
        self.cpu_s.append(run.cpu_s)
        self.max_rss_kb.append(run.max_rss_kb)
        self.wall_s += run.wall_s
        self.foreign_s += run.foreign_s
        for metric, value, unit in run.metrics:
            self.values[metric].append(value)
            self.units[metric] = unit


def measure(names, programs, rounds, timeout, n_of, run_one):
    """{(name, program): Series}. run_one(program, name, n, timeout) → Run."""
    series = {(name, program): Series() for name in names for program in programs}
    for turn in range(rounds):
        shift = turn % len(programs)
        for name in names:
            for program in programs[shift:] + programs[:shift]:
                s = series[name, program]
                if s.status != "ok":
                    continue
                run = run_one(program, name, n_of(name), timeout)
                s.add(run)
                shown = "  ".join(f"{m} {v:.2f} {u}" for m, v, u in run.metrics) or f"{name} {run.status}"
                say(f"[{turn + 1}/{rounds}] {program:16} {shown}")
    return series


# ── the record ──


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


def boost_version():
    header = pathlib.Path("/usr/include/boost/version.hpp")
    lines = header.read_text().splitlines() if header.exists() else []
    return next((line.split('"')[1].replace("_", ".") for line in lines if "define BOOST_LIB_VERSION" in line), "")


def tokio_version():
    """From the lock file, which cargo writes as it builds."""
    lock = BENCH / "tokio" / "Cargo.lock"
    found = re.search(r'name = "tokio"\nversion = "(.*)"', lock.read_text()) if lock.exists() else None
    return found.group(1) if found else ""


def compilers(programs):
    kinds = {PROGRAMS[p].build for p in programs}
    versions = {}
    if "vole" in kinds:
        versions["vole"] = compiler_of_release()
    if "go" in kinds:
        versions["go"] = first_line("go", "version")
    if "boost" in kinds:
        versions["boost_fiber"] = f"{first_line('g++', '--version')}, {' '.join(BOOST_FLAGS)}, Boost {boost_version()}"
    if "tokio" in kinds:
        versions["tokio"] = f"{first_line('rustc', '--version')}, tokio {tokio_version()}"
    return versions


def commit():
    """The short commit, with + if the tree differs from it; "none" before the first."""
    name = first_line("git", "rev-parse", "--short=10", "HEAD") or "none"
    return name + ("+" if name != "none" and first_line("git", "status", "--porcelain", "-uno") else "")


# ── the command ──


def arguments(words):
    def listed(text):
        return [w for w in text.split(",") if w]

    p = argparse.ArgumentParser(prog="bench/run.py", description=__doc__.split("\n")[0])
    p.add_argument("--names", type=listed, default=list(NAMES), help="comma-separated; default: " + ",".join(NAMES))
    p.add_argument("--base", default="vole", choices=PROGRAMS, help="what the peers are compared with")
    p.add_argument("--peers", type=listed, default=DEFAULT_PEERS, help="default: " + ",".join(DEFAULT_PEERS))
    p.add_argument("--rounds", type=int, help=f"default {MIN_ROUNDS} (fewer are not published); 3 with --quick")
    p.add_argument("--timeout", type=float, default=TIMEOUT_S, help="seconds for one run; default %(default)s")
    p.add_argument("--calm", type=float, default=10, help="seconds to wait for idle processors; default %(default)s")
    p.add_argument("--quick", action="store_true", help="small N, 3 rounds, nothing saved")
    p.add_argument("--no-build", action="store_true", help="run what is already built")
    args = p.parse_args(words)
    args.rounds = args.rounds or (3 if args.quick else MIN_ROUNDS)
    unknown = [w for w in args.peers if w not in PROGRAMS]
    if unknown or args.rounds < 1:
        p.error(f"unknown peer {unknown[0]}; known: {', '.join(PROGRAMS)}" if unknown else "--rounds is at least 1")
    return args


def main(words):
    args = arguments(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # through execute's finally
    programs = list(dict.fromkeys([args.base, *args.peers]))
    before = machine()
    broken = set() if args.no_build else build(programs)

    def run_one(program, name, n, timeout):
        if program in broken:
            return Run("not built")
        if not args.quick:
            wait_for_calm(args.calm)
        if name in servers.CONNECTIONS:
            return serve([str(PROGRAMS[program].path)], PROGRAMS[program].env, name, n)
        extra = [str(n)] if n else []
        return execute([str(PROGRAMS[program].path), name, *extra], PROGRAMS[program].env, timeout)

    n_of = NAMES.get if args.quick else lambda name: None
    started = datetime.datetime.now(datetime.timezone.utc)
    records = measurements(measure(args.names, programs, args.rounds, args.timeout, n_of, run_one))
    print(table(records, args.base))
    if args.quick:
        say("quick: nothing saved")
        return 0
    published, withheld = compare(records, args.base)
    for row in withheld:
        say(f"withheld: {row['metric']} {row['base']}/{row['peer']}: {row['reason']}")
    path = save({
        "date": started.strftime("%Y-%m-%dT%H:%MZ"),
        "commit": commit(),
        "command": shlex.join(["bench/run.py", *words]),
        "machine": before | {"load_after": round(os.getloadavg()[0], 2)},
        "compilers": compilers(programs),
        "rules": {
            "rounds": args.rounds,
            "timeout_s": args.timeout,
            "min_rounds": MIN_ROUNDS,
            "max_spread": MAX_SPREAD,
            "max_foreign": MAX_FOREIGN,
        },
        "published": published,
        "withheld": withheld,
        "measurements": records,
    }, BENCH / "results")
    say(f"saved {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
