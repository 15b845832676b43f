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

import picture
import servers
from machine import busy_s, machine, wait_for_calm, warm_memory
from programs import BENCH, ECHO_LOAD, PROGRAMS, ROOT, build, commit, compilers, say
from report import FLOOR, MAX_FOREIGN, MAX_SPREAD, MIN_ROUNDS, NOT_OFFERED, compare, measurements, save, table

TIMEOUT_S = 60

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
# What a run of it needs of memory at most, where that is much: 1,000,000 stacks of Boost's take 7 GB.
MEMORY_MB = {"parked": 7500, "sleepers": 1000, "skynet": 1500}
DEFAULT_PEERS = ["go", "tokio", "boost_fiber", "tbb", "asio", "tokio1", "boost_fiber1", "asio1", "bare"]


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


def execute(command, env, timeout, read=parse):
    """Runs one program once. read(its output) → metrics, or ValueError."""
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
            metrics = read(out.read())
        except ValueError as error:
            return Run(f"failed ({error})")
        return Run("ok", metrics, own_s, usage.ru_maxrss, wall_s, foreign_s)


def serve(command, env, name, seconds, connections=()):
    """Runs one server once, with its client beside it."""
    start, busy = time.monotonic(), busy_s()
    try:
        metrics, own_s = servers.run(command, env, name, ECHO_LOAD, seconds or servers.SECONDS, connections)
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


# ── the command ──


def arguments(words):
    def listed(text):
        return [w for w in text.split(",") if w]

    p = argparse.ArgumentParser(prog="bench/run.py", description=__doc__.split("\n")[0], allow_abbrev=False)
    p.add_argument("--names", type=listed, default=list(NAMES), help="comma-separated; default: " + ",".join(NAMES))
    bases = [program for program in PROGRAMS if program != FLOOR]
    p.add_argument("--base", default="vole", choices=bases, help="what the peers are compared with")
    p.add_argument("--peers", type=listed, default=DEFAULT_PEERS, help="default: " + ",".join(DEFAULT_PEERS))
    p.add_argument("--rounds", type=int, help=f"default {MIN_ROUNDS} (fewer are not published); 3 with --quick")
    p.add_argument("--timeout", type=float, default=TIMEOUT_S, help="seconds for one run; default %(default)s")
    p.add_argument("--calm", type=float, default=10, help="seconds to wait for idle processors; default %(default)s")
    p.add_argument("--quick", action="store_true", help="small N, 3 rounds, nothing saved")
    p.add_argument("--picture", type=pathlib.Path, help="draw what may be published, as SVG (bench/picture.py)")
    p.add_argument("--table", action="store_true", help="print what may be published, as Markdown")
    p.add_argument("--no-build", action="store_true", help="run what is already built")
    args = p.parse_args(words)
    args.rounds = args.rounds or (3 if args.quick else MIN_ROUNDS)
    unknown = [w for w in args.peers if w not in PROGRAMS]
    if unknown or args.rounds < 1:
        p.error(f"unknown peer {unknown[0]}; known: {', '.join(PROGRAMS)}" if unknown else "--rounds is at least 1")
    if args.quick and (args.picture or args.table):
        p.error("nothing of a --quick run may be published")
    return args


def recorded(words):
    """The command as it is saved: without the picture's path, which may be this machine's."""
    kept, skip = [], False
    for word in words:
        if not skip and not word.startswith("--picture"):
            kept.append(word)
        skip = word == "--picture"
    return shlex.join(["bench/run.py", *kept])


def origin(command, programs, before, started):
    """What every record begins with."""
    return {
        "date": started.strftime("%Y-%m-%dT%H:%MZ"),
        "commit": commit(),
        "command": command,
        "machine": before | {"load_after": round(os.getloadavg()[0], 2)},
        "compilers": compilers(programs),
    }


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
            warm_memory(MEMORY_MB.get(name, 0))
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
    document = origin(recorded(words), programs, before, started) | {
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
    }
    path = save(document, BENCH / "results")
    say(f"saved {path.relative_to(ROOT)}")
    if args.table:
        print(picture.table(document), end="")
    if args.picture:
        args.picture.parent.mkdir(parents=True, exist_ok=True)
        args.picture.write_text(picture.drawing(document))
        say(f"drew {args.picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
