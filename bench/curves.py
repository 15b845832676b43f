#!/usr/bin/env python3
"""How vole's costs grow: with Ps, goroutines, waiters, connections, timers. See bench/README.md.

Law    every point is the median of its rounds; the points of an axis run interleaved, in an
       order that turns every round, as run.py's programs do.
Note   a point that is noisy or disturbed is marked, and not to be quoted.
"""

import argparse
import collections
import dataclasses
import datetime
import json
import pathlib
import shlex
import signal
import subprocess
import sys

import run
from machine import machine, wait_for_calm
from picture import listed
from programs import BENCH, RELEASE, ROOT, build, build_micro, say
from report import MAX_FOREIGN, MAX_SPREAD, higher_is_better, measurements, save
from svg import COLOURS, Canvas, LogScale, number, provenance, short

ROUNDS = 3
TIMEOUT_S = 120  # a million goroutines, twice
MARK = "*"       # noisy or disturbed, in the table

TENS = [10**e for e in range(7)]


# ── what is run ──


@dataclasses.dataclass(frozen=True)
class Setting:
    """Of the whole command."""

    folder: pathlib.Path  # where vole_bench and vole_micro are
    quick: bool
    timeout: float


def with_procs(setting, name, procs):
    n = [str(run.NAMES[name])] if setting.quick else []
    return run.execute([setting.folder / "vole_bench", name, *n], {"VOLE_MAXPROCS": str(procs)}, setting.timeout)


def with_n(setting, name, n):
    return run.execute([setting.folder / "vole_bench", name, str(n)], {}, setting.timeout)


def with_connections(setting, name, connections):
    done = run.serve([setting.folder / "vole_bench"], {}, name, 1 if setting.quick else None, (connections,))
    renamed = [(metric.replace(f"_c{connections}", ""), value, unit) for metric, value, unit in done.metrics]
    return dataclasses.replace(done, metrics=renamed)


def of_timers(text):
    """Google Benchmark's JSON of micro/timers.cc as metrics: its counters, or the time of an iteration."""
    metrics = []
    for b in json.loads(text)["benchmarks"]:
        counters = [(f"timer_{key}", b[key], "ns/op") for key in ("add", "stop", "fire") if key in b]
        metrics += counters or [("timer_reset", b["real_time"], "ns/op")]
    if not metrics:
        raise ValueError("no benchmark of timers")
    return metrics


def with_timers(setting, _name, n):
    chosen = f"--benchmark_filter=^(add_stop|fire|user_reset)/{n}(/|$)"
    least = f"--benchmark_min_time={0.01 if setting.quick else 0.5}"
    command = [setting.folder / "vole_micro", chosen, least, "--benchmark_format=json"]
    return run.execute(command, {}, setting.timeout, of_timers)


@dataclasses.dataclass(frozen=True)
class Axis:
    label: str
    xs: list
    names: list
    run: object  # (setting, name, x) → run.Run


AXES = {
    "procs": Axis("Ps", [1, 2, 4, 8, 16, 32, 64], ["yield1k", "spawn_join", "chan_mpmc", "mutex64"], with_procs),
    "goroutines": Axis("goroutines", TENS[2:], ["crowd", "yield_among"], with_n),
    "waiters": Axis("receivers waiting on one channel", TENS[:4], ["waiters"], with_n),
    "connections": Axis("connections", TENS[:5], ["echo"], with_connections),
    "timers": Axis("timers", TENS[3:], ["timers"], with_timers),
}


def measure(axes, setting, rounds, calm):
    """One record per axis, metric and x; a run that failed has a status and no number."""
    records = []
    for key in axes:
        axis = AXES[key]

        def run_one(x, name, _n, _timeout, axis=axis):
            wait_for_calm(calm)
            return axis.run(setting, name, x)

        xs = axis.xs[:2] if setting.quick else axis.xs
        say(f"── {axis.label} ──")
        series = run.measure(axis.names, xs, rounds, setting.timeout, lambda _: None, run_one)
        for record in measurements(series):
            x = record.pop("program")
            records.append({"axis": key, "x": x} | record)
    return records


# ── what is shown ──


def restless(record):
    return record["noisy"] or record["disturbed"]


def lines_of(records, key):
    """{(metric, unit): {x: record}} of an axis, in the order they were measured."""
    lines = collections.defaultdict(dict)
    for r in records:
        if r["axis"] == key and r["status"] == "ok":
            lines[r["metric"], r["unit"]][r["x"]] = r
    return lines


def failures(records):
    return [f"{r['name']} at {r['x']}: {r['status']}" for r in records if r["status"] != "ok"]


def axes_of(records):
    return list(dict.fromkeys(r["axis"] for r in records))


def table(records):
    """The text for stdout: an axis after the other, a line per metric, a column per x."""
    out = []
    for key in axes_of(records):
        xs = sorted({r["x"] for r in records if r["axis"] == key})
        out.append(f"{AXES[key].label:40}" + "".join(f"{x:>12,}" for x in xs))
        for (metric, unit), points in lines_of(records, key).items():
            cells = [number(points[x]["median"]) + MARK * restless(points[x]) if x in points else "-" for x in xs]
            out.append(f"{metric:24}{unit:16}" + "".join(f"{cell:>12}" for cell in cells))
        out.append("")
    if any(r["status"] == "ok" and restless(r) for r in records):
        out.append(f"{MARK} noisy or disturbed: not to be quoted")
    return "\n".join([*out, *failures(records)])


# ── the picture ──

WIDTH, MARGIN, COLUMNS = 960, 16, 3
PANEL_WIDTH, PANEL_HEIGHT, STEP_X, STEP_Y = 240, 150, 314, 262


def scale_name(unit):
    """What may share a scale: costs of one unit, per whatever they are; a rate is whole."""
    return unit if higher_is_better(unit) else unit.split("/")[0]


def panels(records):
    """(axis, unit, {metric: {x: record}}) for each axis and kind of unit; what is not above 0 is left out."""
    found = {}
    for key in axes_of(records):
        for (metric, unit), points in lines_of(records, key).items():
            above = {x: r for x, r in points.items() if r["median"] > 0}
            if above:
                found.setdefault((key, scale_name(unit)), {})[metric] = above
    return [(key, unit, lines) for (key, unit), lines in found.items()]


def draw_line(canvas, x_of, y_of, points, colour):
    spots = [(x_of(x), y_of(r["median"]), restless(r)) for x, r in sorted(points.items())]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in spots)
    canvas.add("polyline", points=path, fill="none", stroke=colour, stroke_width=1.5)
    for x, y, open_ in spots:
        fill = {"class_": "hollow"} if open_ else {"fill": colour}
        canvas.add("circle", cx=x, cy=y, r=3, stroke=colour, **fill)


def draw_panel(canvas, left, top, key, unit, lines):
    """A title, a key of at most two lines, and the lines; left and top are of all that."""
    canvas.text(left, top, f"{unit}, by {AXES[key].label}", "head")
    colours = dict(zip(lines, COLOURS))
    canvas.legend(left, top + 20, colours.items(), left + PANEL_WIDTH + 50)
    begin, floor = left + 44, top + 56 + PANEL_HEIGHT
    xs = sorted({x for points in lines.values() for x in points})
    values = [r["median"] for points in lines.values() for r in points.values()]
    x_of = LogScale(xs[0], xs[-1], begin + 8, left + PANEL_WIDTH + 36)
    y_of = LogScale(min(values), max(values), floor, top + 56)
    for tick in y_of.ticks:
        canvas.line(begin, y_of(tick), left + PANEL_WIDTH + 44, y_of(tick), "axis" if tick == y_of.low else "grid")
        canvas.text(begin - 5, y_of(tick) + 4, short(tick), "faint end")
    for x in xs:
        canvas.text(x_of(x), floor + 16, short(x), "faint middle")
    for metric, points in lines.items():
        draw_line(canvas, x_of, y_of, points, colours[metric])


def drawing(document):
    """The SVG's text."""
    records = document["measurements"]
    canvas = Canvas(WIDTH, "How vole's costs grow")
    canvas.text(MARGIN, 26, "How vole's costs grow", "title")
    note = f"Medians of {document['rules']['rounds']}; both scales are logarithmic."
    canvas.text(MARGIN, 44, f"{note} Hollow: noisy or disturbed, not to be quoted.", "faint")
    shown = panels(records)
    for i, panel in enumerate(shown):
        draw_panel(canvas, MARGIN + i % COLUMNS * STEP_X, 76 + i // COLUMNS * STEP_Y, *panel)
    y = 76 + -(-len(shown) // COLUMNS) * STEP_Y
    failed = failures(records)
    lines = [f"Without a number: {'; '.join(failed)}."] if failed else []
    y = canvas.caption(MARGIN, y, [*lines, *provenance(document)])
    return canvas.finish(y + 4)


# ── the command ──


def arguments(words):
    p = argparse.ArgumentParser(prog="bench/curves.py", description=__doc__.split("\n")[0])
    p.add_argument("--axes", type=listed, default=list(AXES), help="comma-separated; default: " + ",".join(AXES))
    p.add_argument("--rounds", type=int, default=ROUNDS, help="at least 3; default %(default)s")
    p.add_argument("--timeout", type=float, default=TIMEOUT_S, help="seconds for one run; default %(default)s")
    p.add_argument("--calm", type=float, default=10, help="seconds to wait for idle processors; default %(default)s")
    p.add_argument("--quick", action="store_true", help="two points an axis and little work; nothing saved")
    p.add_argument("--no-build", action="store_true", help="run what is already built")
    p.add_argument("--folder", type=pathlib.Path, default=RELEASE / "bench", help="where the built programs are")
    p.add_argument("--picture", type=pathlib.Path, help="draw it here too; a saved result has its SVG beside it")
    p.add_argument("--draw", type=pathlib.Path, metavar="RESULT", help="run nothing: draw this, print its table")
    args = p.parse_args(words)
    unknown = [word for word in args.axes if word not in AXES]
    if unknown or args.rounds < ROUNDS:
        p.error(f"unknown axis {unknown[0]}; known: {', '.join(AXES)}" if unknown else f"--rounds is at least {ROUNDS}")
    return args


def build_all(axes):
    """What cannot be built fails when it is run, and is said there."""
    build(["vole"])
    if "timers" in axes:
        try:
            build_micro()
        except (OSError, subprocess.CalledProcessError) as error:
            say(f"building vole_micro failed: {error}")


def measured(args):
    """The whole record."""
    before, started = machine(), datetime.datetime.now(datetime.timezone.utc)
    setting = Setting(args.folder, args.quick, args.timeout)
    records = measure(args.axes, setting, args.rounds, 0 if args.quick else args.calm)
    command = shlex.join(["bench/curves.py", "--axes", ",".join(args.axes), "--rounds", str(args.rounds)]
                         + ["--quick"] * args.quick)
    rules = {"rounds": args.rounds, "timeout_s": args.timeout, "max_spread": MAX_SPREAD, "max_foreign": MAX_FOREIGN}
    return run.origin(command, ["vole"], before, started) | {"rules": rules, "measurements": records}


def main(words):
    args = arguments(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # through execute's finally
    if not args.draw and not args.no_build:
        build_all(args.axes)
    document = json.loads(args.draw.read_text()) if args.draw else measured(args)
    print(table(document["measurements"]))
    if not args.draw and not args.quick:
        path = save(document, BENCH / "results", "curves")
        path.with_suffix(".svg").write_text(drawing(document))
        say(f"saved {path.relative_to(ROOT)} and its SVG")
    if args.picture:
        args.picture.write_text(drawing(document))
    return 1 if failures(document["measurements"]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
