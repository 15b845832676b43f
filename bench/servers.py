"""The servers' part of bench/run.py: a program serves, a client outside asks.

Note   http is asked by wrk, echo by bare/echo_load.cc; both share the machine with the server,
       as every peer's does. One run is all numbers of connections, one after the other.
"""

import os
import re
import resource
import socket
import subprocess
import time

CONNECTIONS = {"http": (1, 100, 1000), "echo": (100,)}
SECONDS = 2
UNITS = {"us": 1, "ms": 1e3, "s": 1e6}


class Failed(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_port(port, server, patience_s=5):
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if server.poll() is not None:
            raise Failed(f"exit {server.returncode}")
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise Failed("does not listen")


def wrk(text, n):
    """What wrk printed, as metrics."""
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    p99 = re.search(r"99%\s+([\d.]+)(us|ms|s)", text)
    if not rate or not p99:
        raise Failed("wrk's output has no rate or no 99%")
    if bad := re.search(r"Non-2xx.*|Socket errors:.*", text):
        raise Failed(bad.group(0))
    return [(f"http_c{n}", float(rate.group(1)), "requests/s"),
            (f"http_c{n}_p99", float(p99.group(1)) * UNITS[p99.group(2)], "us")]


def echo_load(text, _n):
    return [(m, float(v), u) for m, v, u in (line.split() for line in text.splitlines())]


def ask(name, port, n, echo_client, seconds):
    if name == "http":
        command = ["wrk", "-t1", f"-c{n}", f"-d{seconds}s", "--latency", f"http://127.0.0.1:{port}/"]
    else:
        command = [str(echo_client), f"127.0.0.1:{port}", str(n), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + 20)
    if done.returncode:
        raise Failed(f"the client: {(done.stderr or done.stdout).strip()[-200:]}")
    return (wrk if name == "http" else echo_load)(done.stdout, n)


def run(command, env, name, echo_client, seconds=SECONDS, connections=()):
    """(metrics, processor seconds of server and client). Raises Failed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
    port = free_port()
    before = os.times()
    server = subprocess.Popen([*command, name, f"127.0.0.1:{port}"], env=os.environ | env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port, server)
        metrics = []
        for n in connections or CONNECTIONS[name]:
            metrics += ask(name, port, n, echo_client, seconds)
    finally:
        server.kill()
        server.wait()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    after = os.times()
    used = (after.children_user - before.children_user) + (after.children_system - before.children_system)
    return metrics, used
