#!/usr/bin/env python3
"""What an execution trace costs, and whether it is right: the figures of docs/tracing.md.

    bench/tracing.py cost         nanoseconds and bytes an event, on one P and then on all
    bench/tracing.py http         requests a second with 100 connections, with a trace and without
    bench/tracing.py summary      what `vole trace summary` says of that server, beside the kernel's schedstat
    bench/tracing.py snapshot     how long a copy of a full flight recorder takes
    bench/tracing.py              all of them

Note   runs with a trace and without are interleaved, in an order that turns; medians are printed, and
       of ratios the median of each pair's. Traces go to /dev/shm, so no disk is measured.
       Needs build/release with vole_bench and vole_command; http and summary need wrk.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import servers  # noqa: E402
from machine import machine  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "build/release/bench/vole_bench"
VOLE = ROOT / "build/release/bin/vole"
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
COST = {"yield1k": 20_000_000, "pingpong": 4_000_000, "chan_mpmc": 8_000_000}
THREAD = "vole-m"  # what an M's thread is called


def bench(name, n, environment):
    """Nanoseconds for one operation, on the clock and of processor time, the writer's included."""
    job = subprocess.Popen([BENCH, name, str(n)], env=os.environ | environment,
                           stdout=subprocess.PIPE, text=True)
    out = job.stdout.read()
    _, status, used = os.wait4(job.pid, 0)
    job.returncode = os.waitstatus_to_exitcode(status)
    if job.returncode:
        sys.exit(f"vole_bench {name}: exit {job.returncode}")
    return float(out.split()[1]), (used.ru_utime + used.ru_stime) * 1e9 / n


def summary(path):
    done = subprocess.run([VOLE, "trace", "summary", "--json", path], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def say(what, value):
    print(f"{what:<52} {value}", flush=True)


def cost(folder, rounds):
    for procs in ("1", ""):
        for name, n in COST.items():
            settings = {"VOLE_MAXPROCS": procs} if procs else {}
            trace = os.path.join(folder, "cost.trace")
            extra, used, without, took = [], [], [], []
            for i in range(rounds):
                runs = {}
                for on in (True, False) if i % 2 else (False, True):
                    runs[on] = bench(name, n, settings | ({"VOLE_TRACE": trace} if on else {}))
                extra.append(runs[True][0] - runs[False][0])
                used.append(runs[True][1] - runs[False][1])
                without.append(runs[False][0])
                took.append(runs[True][0])
            said = summary(trace)
            events = said["events"]
            title = f"{name}, {procs or 'all'} P{'' if procs == '1' else 's'}"
            say(f"{title}: ns an operation without, more with",
                f"{statistics.median(without):.1f}, {statistics.median(extra):.1f}")
            say(f"{title}: ns an event, on the clock and of processors",
                f"{statistics.median(extra) * n / events:.1f}, {statistics.median(used) * n / events:.1f}")
            say(f"{title}: bytes an event", f"{os.path.getsize(trace) / events:.2f}")
            say(f"{title}: million events a second, lost",
                f"{events / (min(took) * n) * 1e3:.1f}, {said['lost']}")


def http_rate(trace, seconds):
    """Requests a second, and microseconds of processor time that the server took for one."""
    port = servers.free_port()
    server = subprocess.Popen([BENCH, "http", f"127.0.0.1:{port}"],
                              env=os.environ | ({"VOLE_TRACE": trace} if trace else {}))
    try:
        servers.wait_for_port(port, server)
        rate = servers.ask("http", port, 100, None, seconds)[0][1]
        words = Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
        used = sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")
    finally:
        server.kill()
        server.wait()
    return rate, used * 1e6 / (rate * seconds)


def http(folder, rounds, seconds=2):
    rates, costs, rate, used = [], [], [], []
    for i in range(rounds):
        runs = {}
        for on in (True, False) if i % 2 else (False, True):
            runs[on] = http_rate(os.path.join(folder, "http.trace") if on else "", seconds)
        rates.append(1 - runs[True][0] / runs[False][0])
        costs.append(runs[True][1] / runs[False][1] - 1)
        rate.append(runs[False][0])
        used.append(runs[False][1])
    say("http_c100: requests a second, µs of processor for one",
        f"{statistics.median(rate):,.0f}, {statistics.median(used):.1f}")
    for what, of in (("requests a second lost with a trace", rates), ("processor time more", costs)):
        say(f"http_c100: {what}", f"{100 * statistics.median(of):.1f} %"
            f" ({', '.join(f'{100 * x:.1f}' for x in sorted(of))})")


def schedstat(pid):
    """Nanoseconds that the Ms' threads had a processor, and that they waited for one."""
    ran = waited = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() != THREAD:
            continue
        on, off, _ = map(int, (task / "schedstat").read_text().split())
        ran += on
        waited += off
    return ran, waited


def beside_schedstat(folder, seconds=5):
    port = servers.free_port()
    server = subprocess.Popen([BENCH, "http", f"127.0.0.1:{port}"],
                              env=os.environ | {"VOLE_DEBUG": "control=1"})
    trace = os.path.join(folder, "summary.trace")
    try:
        servers.wait_for_port(port, server)
        load = subprocess.Popen(["wrk", "-t1", "-c100", f"-d{seconds + 4}s", f"http://127.0.0.1:{port}/"],
                                stdout=subprocess.DEVNULL)
        time.sleep(1)
        recorder = subprocess.Popen([VOLE, "trace", "record", str(server.pid), "-s", str(seconds),
                                     "-o", trace], stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        begin, before = time.monotonic(), schedstat(server.pid)
        time.sleep(seconds - 1)
        end, after = time.monotonic(), schedstat(server.pid)
        recorder.wait()
        load.wait()
    finally:
        server.kill()
        server.wait()
    ran, waited = (a - b for a, b in zip(after, before))
    return summary(trace), ran / (end - begin), waited / (end - begin)


def check_summary(folder):
    said, ran, waited = beside_schedstat(folder)
    states = sum(sum(f["states"].values()) for f in said["functions"])
    say("http: sum of states over sum of lifetimes", f"{states / said['lifetimes']:.4f}")
    ns = said["duration"]
    held = sum(p["held"] for p in said["ps"]) / ns
    running = sum(p["running"] + p["calls"] for p in said["ps"]) / ns
    say("http: Ps held, by the trace", f"{held:.3f}")
    say("http: goroutines running on them, by the trace", f"{running:.3f}")
    say("http: threads on a processor, and waiting for one", f"{ran / 1e9:.3f}, {waited / 1e9:.3f}")
    say("http: held over both", f"{held / ((ran + waited) / 1e9):.4f}")


def snapshot():
    for procs in ("1", ""):
        done = subprocess.run([BENCH, "snapshot"], check=True, capture_output=True, text=True,
                              env=os.environ | ({"VOLE_MAXPROCS": procs} if procs else {}))
        for line in done.stdout.splitlines():
            name, value, unit = line.split()
            say(f"{name}, {procs or 'all'} P{'' if procs == '1' else 's'} busy", f"{value} {unit}")


def main():
    words = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", nargs="*", help="cost, http, summary, snapshot; all of them if none is named")
    words.add_argument("--rounds", type=int, default=5)
    asked = words.parse_args()
    unknown = set(asked.what) - {"cost", "http", "summary", "snapshot"}
    if unknown:
        words.error(f"there is no {', '.join(sorted(unknown))}")
    wanted = asked.what or ["cost", "http", "summary", "snapshot"]
    print(json.dumps(machine()))
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        if "cost" in wanted:
            cost(folder, asked.rounds)
        if "http" in wanted:
            http(folder, asked.rounds)
        if "summary" in wanted:
            check_summary(folder)
    if "snapshot" in wanted:
        snapshot()


if __name__ == "__main__":
    main()
