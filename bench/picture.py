#!/usr/bin/env python3
"""Draws a saved result of bench/run.py, or prints it as a table for the documents.

Law    only what the result lists as published is shown; what was withheld is named.
       The floor is no peer: a column of the table, never a bar, and no part of the bar to meet.
Note   all ratios drawn are of costs: a rate is turned over, so that right of the line is
       always the peer that does worse. The table keeps run.py's: ours over theirs.
"""

import argparse
import json
import pathlib
import sys

from report import FLOOR, NOT_OFFERED, higher_is_better
from svg import COLOURS, Canvas, LogScale, number, provenance, short

ORDER = ["go", "tokio", "boost_fiber", "tbb", "asio", "bare", "tokio1", "boost_fiber1", "asio1", "boost_fiber_spin"]
REFERENCE = "go"
BAR = 1.0  # the bar: no more than this times the reference's cost

FLOOR_NOTE = f" {FLOOR}: the least that the row must do, without a scheduler; a part of the work, no competitor."

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
WIDTH, LEFT, RIGHT, MARGIN = 900, 230, 850, 16
THICK, GAP = 13, 10  # of a bar; between two groups


# ── what is shown ──


def cost_ratio(row):
    """The peer's cost over the base's: above 1 the base does better."""
    value = row["peer_median"] / row["base_median"]
    return 1 / value if higher_is_better(row["unit"]) else value


def rank(peer):
    return ORDER.index(peer) if peer in ORDER else len(ORDER)


def colour(peer):
    return COLOURS[rank(peer) % len(COLOURS)]


def narrowed(document, peers, metrics):
    """The document with these peers and metrics only; None is all."""
    def keep(row):
        return (not peers or row["peer"] in peers) and (not metrics or row["metric"] in metrics)

    return document | {part: [row for row in document[part] if keep(row)] for part in ("published", "withheld")}


def without_floor(document):
    def kept(part):
        return [row for row in document[part] if row["peer"] != FLOOR]

    return document | {part: kept(part) for part in ("published", "withheld")}


def groups(document):
    """{metric: its published rows, in the order of the peers}, in the order they were measured."""
    found = {}
    for row in document["published"]:
        found.setdefault(row["metric"], []).append(row)
    return {metric: sorted(rows, key=lambda row: rank(row["peer"])) for metric, rows in found.items()}


def peers_of(document):
    return sorted({row["peer"] for row in document["published"]}, key=lambda peer: (rank(peer), peer))


def base_of(document):
    return next((row["base"] for part in ("published", "withheld") for row in document[part]), "vole")


def is_withheld(row):
    """What a peer does not offer was not withheld."""
    return f"{row['peer']} {NOT_OFFERED}" not in row["reason"]


def withheld(document):
    """One sentence: a metric of which nothing is shown stands alone, else with the peers that miss."""
    shown, found = groups(document), {}
    for row in filter(is_withheld, document["withheld"]):
        found.setdefault(row["metric"], []).append(row["peer"])
    listed = ", ".join(f"{m} ({', '.join(peers)})" if m in shown else m for m, peers in found.items())
    return f"Withheld as noisy, disturbed or without a result: {listed}." if found else "Nothing was withheld."


# ── the picture ──


def draw_axis(canvas, scale, top, bottom):
    for tick in scale.ticks:
        x = scale(tick)
        canvas.line(x, top, x, bottom, "axis" if tick == 1 else "grid")
        canvas.text(x, top - 5, f"{short(tick)}×", "faint middle")


def draw_group(canvas, scale, y, metric, rows):
    """One metric; returns the y below it."""
    height = max(THICK * len(rows), 26)
    canvas.text(MARGIN, y + 11, metric, "head")
    canvas.text(MARGIN, y + 25, f"{rows[0]['base']} {number(rows[0]['base_median'])} {rows[0]['unit']}", "faint")
    for i, row in enumerate(rows):
        value, at = cost_ratio(row), y + i * THICK
        canvas.bar(scale(1), scale(value), at, THICK - 2, colour(row["peer"]))
        side, class_ = (4, "faint") if value >= 1 else (-4, "faint end")
        canvas.text(scale(value) + side, at + 10, f"{number(value, 2)}×", class_)
    return y + height + GAP


def drawing(document):
    """The SVG's text."""
    document = without_floor(document)
    base, shown = base_of(document), groups(document)
    canvas = Canvas(WIDTH, f"{base} and its peers")
    canvas.text(MARGIN, 26, f"What the same work costs the peers; {base} is 1", "title")
    note = f"Bars to the right: {base} does better. Of rates (…/s) the inverse is drawn. Logarithmic; medians."
    canvas.text(MARGIN, 44, note, "faint")
    y = canvas.legend(MARGIN, 66, [(peer, colour(peer)) for peer in peers_of(document)])
    top = y = y + 34
    if shown:
        values = [cost_ratio(row) for rows in shown.values() for row in rows]
        scale = LogScale(min(values + [0.5]), max(values + [2]), LEFT, RIGHT)
        bottom = top + sum(max(THICK * len(rows), 26) + GAP for rows in shown.values())
        draw_axis(canvas, scale, top - 4, bottom)
        for metric, rows in shown.items():
            y = draw_group(canvas, scale, y, metric, rows)
    else:
        canvas.text(MARGIN, y, "Nothing in this result may be published.")
    y = canvas.caption(MARGIN, y + 20, [withheld(document), *provenance(document)])
    return canvas.finish(y + 4)


# ── the table ──


def cell(document, metric, peer):
    for row in document["published"]:
        if (row["metric"], row["peer"]) == (metric, peer):
            return number(row["peer_median"])
    for row in document["withheld"]:
        if (row["metric"], row["peer"]) == (metric, peer):
            return "withheld" if is_withheld(row) else ""
    return ""


def against_reference(rows):
    """The two last cells: ours over the reference's, and whether that is within the bar."""
    for row in rows:
        if row["peer"] == REFERENCE:
            return [f"{row['ratio']:.2f}", "met" if cost_ratio(row) * BAR >= 1 else "missed"]
    return ["", ""]


def table(document):
    """Markdown: the medians of all that was published."""
    base, peers, shown = base_of(document), peers_of(document), groups(document)
    if not shown:
        return f"Nothing in this result may be published. {withheld(document)}\n"
    titles = ["name", "unit", base, *peers, f"{base} / {REFERENCE}", "bar"]
    lines = [" ".join(provenance(document)[:2]) + f" Commit {document['commit']}, {document['date'][:10]}.", "",
             f"Medians of {document['rules']['rounds']} runs. Lower is better; of rates (…/s), higher. The bar: no "
             f"costlier than {REFERENCE}'s.{FLOOR_NOTE if FLOOR in peers else ''}", "",
             f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for metric, rows in shown.items():
        cells = [metric, rows[0]["unit"], number(rows[0]["base_median"])]
        cells += [cell(document, metric, peer) for peer in peers] + against_reference(rows)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", withheld(document), ""])


def put_into(path, text):
    """Replaces what a document has between its two marks."""
    whole = path.read_text()
    if whole.count(BEGIN) != 1 or whole.count(END) != 1 or whole.index(BEGIN) > whole.index(END):
        raise ValueError(f"{path}: not one {BEGIN} before one {END}")
    head, tail = whole.split(BEGIN)[0], whole.split(END)[1]
    path.write_text(f"{head}{BEGIN}\n{text.strip()}\n{END}{tail}")


# ── the command ──


def listed(text):
    return [word for word in text.split(",") if word]


def main(words):
    p = argparse.ArgumentParser(prog="bench/picture.py", description=__doc__.split("\n")[0])
    p.add_argument("result", type=pathlib.Path, help="a file of bench/results")
    p.add_argument("-o", "--output", type=pathlib.Path, help="where the SVG goes")
    p.add_argument("--table", action="store_true", help="print the Markdown table")
    p.add_argument("--into", type=pathlib.Path, help=f"put the table between {BEGIN} and {END} of this file")
    p.add_argument("--peers", type=listed, help="only these")
    p.add_argument("--metrics", type=listed, help="only these")
    args = p.parse_args(words)
    if not (args.output or args.table or args.into):
        p.error("nothing to do: -o FILE, --table or --into FILE")
    document = narrowed(json.loads(args.result.read_text()), args.peers, args.metrics)
    if args.output:
        args.output.write_text(drawing(document))
    if args.table:
        print(table(document), end="")
    if args.into:
        put_into(args.into, table(document))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
