"""What the runs of bench/run.py say: medians, spreads, ratios, and which may be published.

Law    a ratio is published only if both sides are quiet (the runs agree), undisturbed
       (others left the processors alone) and had MIN_ROUNDS runs.
"""

import json
import os
import statistics

MIN_ROUNDS = 5
MAX_SPREAD = 0.25   # interquartile range over median
MAX_FOREIGN = 0.10  # others' share of the processors while the program ran
NOT_OFFERED = "not offered"  # the status of a program that lacks a name: no failure
FLOOR = "floor"  # what does only a part of the work: measured beside the others, never competing


def spread(values):
    """Interquartile range over median: what the middle half of the runs disagrees by.
    None: it cannot be told."""
    if len(values) < 2:
        return None
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    if high == low:
        return 0.0
    return round((high - low) / abs(middle), 4) if middle else None


def percent(share):
    return "unknown" if share is None else f"{share:.0%}"


def summary(values):
    return {
        "median": statistics.median(values),
        "spread": spread(values),
        "min": min(values),
        "max": max(values),
        "samples": values,
    }


def measurements(series):
    """One record per metric and program, or per name and program when there is no number."""
    records = []
    for (name, program), s in series.items():
        if s.status != "ok":
            records.append({"name": name, "metric": name, "program": program, "status": s.status})
            continue
        for metric, values in s.values.items():
            record = {"name": name, "metric": metric, "unit": s.units[metric], "program": program, "status": "ok"}
            record |= summary(values)
            record["noisy"] = record["spread"] is None or record["spread"] > MAX_SPREAD
            record["foreign"] = round(s.foreign_s / (s.wall_s * os.cpu_count()), 4) if s.wall_s else 0.0
            record["disturbed"] = record["foreign"] > MAX_FOREIGN
            record["cpu_s"] = round(statistics.median(s.cpu_s), 3)
            record["max_rss_kb"] = int(statistics.median(s.max_rss_kb))
            records.append(record)
    return records


def higher_is_better(unit):
    """Rates; all else is a cost."""
    return unit.endswith("/s")


def ratio(base, peer):
    """base / peer, or None where it means nothing."""
    if base["status"] != "ok" or peer["status"] != "ok" or base["unit"] != peer["unit"]:
        return None
    if base["median"] <= 0 or peer["median"] <= 0:
        return None
    return round(base["median"] / peer["median"], 4)


def objections(base, peer):
    """Why this comparison may not be published; empty if it may."""
    found = []
    for side in (base, peer):
        if side["status"] != "ok":
            found.append(f"{side['program']} {side['status']}")
        elif len(side["samples"]) < MIN_ROUNDS:
            found.append(f"{side['program']} has fewer than {MIN_ROUNDS} rounds")
        elif side["noisy"]:
            found.append(f"{side['program']} noisy: spread {percent(side['spread'])}")
        elif side["disturbed"]:
            found.append(f"{side['program']} disturbed: others used {percent(side['foreign'])} of the processors")
    if not found and base["unit"] != peer["unit"]:
        found.append(f"units differ: {base['unit']}, {peer['unit']}")
    if not found and ratio(base, peer) is None:
        found.append("a median is not above zero")
    return found


def compare(records, base_name):
    """(published, withheld): every metric of the base against every peer's."""
    published, withheld = [], []
    for base in (r for r in records if r["program"] == base_name):
        for peer in records:
            if peer["program"] == base_name or peer["name"] != base["name"]:
                continue
            if "unit" in base and "unit" in peer and peer["metric"] != base["metric"]:
                continue
            row = {"metric": base["metric"], "base": base_name, "peer": peer["program"]}
            reasons = objections(base, peer)
            if reasons:
                withheld.append(row | {"reason": "; ".join(reasons)})
            else:
                row |= {"unit": base["unit"], "base_median": base["median"], "peer_median": peer["median"]}
                published.append(row | {"ratio": ratio(base, peer)})
    return published, withheld


def table(records, base_name):
    """The text for stdout."""
    bases = {r["metric"]: r for r in records if r["program"] == base_name}
    title = f"{'metric':16} {'program':16} {'median':>12} {'unit':14} {'spread':>7} {'others':>7}"
    lines = [f"{title} {base_name + '/it':>10}  note"]
    for r in records:
        head = f"{r['metric']:16} {r['program']:16}"
        if r["status"] != "ok":
            lines.append(f"{head} {'-':>12} {'':14} {'':>7} {'':>7} {'':>10}  {r['status']}")
            continue
        base = bases.get(r["metric"])
        value = ratio(base, r) if base else None
        shown = "" if value is None or r is base else f"{value:.2f}"
        note = " ".join(word for word in ("noisy", "disturbed") if r[word])
        numbers = f"{r['median']:12.2f} {r['unit']:14} {percent(r['spread']):>7} {percent(r['foreign']):>7}"
        lines.append(f"{head} {numbers} {shown:>10}  {note}".rstrip())
    return "\n".join(lines)


def save(document, folder, kind=""):
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{document['date'][:10]}-{document['commit']}{kind and '-' + kind}"
    path, count = folder / f"{stem}.json", 1
    while path.exists():
        count += 1
        path = folder / f"{stem}-{count}.json"
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return path
