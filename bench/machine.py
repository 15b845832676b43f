"""The machine under bench/run.py: what it is, and who else is using it.

Note   a spread shows unrest, not a neighbour who works steadily: he slows every run alike.
       So each run is also charged with the processor time that others used beside it.
       A virtual machine gives memory that nobody uses back to its host, which then has to find it
       again, a page at a time: whoever runs first after a pause pays for it. Hence warm_memory.
"""

import mmap
import os
import pathlib
import platform
import time

CORES = len(os.sched_getaffinity(0))
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
MADV_POPULATE_WRITE = 23
CALM = 0.05  # share of the processors others may use when a run starts


def machine():
    def field(path, key):
        lines = pathlib.Path(path).read_text().splitlines()
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")

    return {
        "cpu": field("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": CORES,
        "memory_mb": int(field("/proc/meminfo", "MemTotal").split()[0]) // 1024,
        "kernel": f"{platform.system()} {platform.release()}",
        "load_before": round(os.getloadavg()[0], 2),
    }


def busy_s():
    """Processor seconds used since boot by anyone, and those the hypervisor took away."""
    words = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, words[1:9])
    return (user + nice + system + irq + softirq + steal) * TICK_S


def wait_for_calm(patience_s):
    """Returns when others use less than CALM of the processors, or patience ends."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        start, before = time.monotonic(), busy_s()
        time.sleep(0.2)
        share = (busy_s() - before) / (os.cpu_count() * (time.monotonic() - start))
        if share < CALM:
            return


def affordable_mb(wanted_mb, available_mb):
    return max(0, min(wanted_mb, available_mb // 2))


def warm_memory(wanted_mb):
    """Takes so much memory from the host and leaves it free, for the program that runs next."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    available_mb = next(int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable"))
    size = affordable_mb(wanted_mb, available_mb) * 1024 * 1024
    if size == 0:
        return
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as room:
        try:
            room.madvise(MADV_POPULATE_WRITE)
        except OSError:  # before Linux 5.14
            for at in range(0, size, mmap.PAGESIZE):
                room[at] = 1
