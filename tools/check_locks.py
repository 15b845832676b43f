#!/usr/bin/env python3
"""Keeps tools/locks.txt and src/base/lock_rank.h equal, and every rank in use.

A rank that no code takes yet needs a line `reserved <name>: <reason>` in locks.txt.
"""

import argparse
import re
import sys
from pathlib import Path

import source_text

HEADER = "src/base/lock_rank.h"
LIST = "tools/locks.txt"


def parse_list(text):
    """({name: number}, {reserved name: reason}, [problems])"""
    ranks, reserved, problems = {}, {}, []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        keep = re.fullmatch(r"reserved (\w+):\s*(.*)", line)
        rank = re.fullmatch(r"(\d+)\s+(\w+)\s*(.*)", line)
        if keep:
            if not keep[2]:
                problems.append(f"{LIST}:{number}: {keep[1]} is reserved without a reason")
            reserved[keep[1]] = keep[2]
        elif rank:
            if not rank[3]:
                problems.append(f"{LIST}:{number}: what does {rank[2]} guard?")
            if rank[2] in ranks:
                problems.append(f"{LIST}:{number}: {rank[2]} is listed twice")
            if ranks and int(rank[1]) <= max(ranks.values()):
                problems.append(f"{LIST}:{number}: {rank[2]} is out of order")
            ranks[rank[2]] = int(rank[1])
        else:
            problems.append(f"{LIST}:{number}: cannot read `{line}`")
    for name in reserved:
        if name not in ranks:
            problems.append(f"{LIST}: {name} is reserved, but is no rank")
    return ranks, reserved, problems


def parse_header(text):
    """{name: number} of enum class lock_rank."""
    body = re.search(r"enum\s+class\s+lock_rank\b[^{]*\{(.*?)\}", source_text.strip(text), re.DOTALL)
    if not body:
        return {}
    return {name: int(value) for name, value in re.findall(r"(\w+)\s*=\s*(\d+)", body[1])}


def used_ranks(root):
    used = set()
    for path in source_text.files(root, "src", "include"):
        if path == HEADER or source_text.is_test(path):
            continue
        code = source_text.strip(source_text.read(root, path))
        used.update(re.findall(r"\block_rank::(\w+)", code))
    return used


def check(root):
    ranks, reserved, problems = parse_list(source_text.read(root, LIST))
    declared = parse_header(source_text.read(root, HEADER))
    if not declared:
        problems.append(f"{HEADER}: no enum class lock_rank with numbers")
    for name in sorted(ranks.keys() | declared.keys()):
        if name not in ranks:
            problems.append(f"{LIST}: {name} ({declared[name]}) is missing")
        elif name not in declared:
            problems.append(f"{HEADER}: {name} ({ranks[name]}) is missing")
        elif ranks[name] != declared[name]:
            problems.append(f"{name} is {ranks[name]} in {LIST}, {declared[name]} in {HEADER}")
    used = used_ranks(root)
    for name in declared:
        if name in used and name in reserved:
            problems.append(f"{LIST}: {name} is in use, no longer reserved")
        if name not in used and name not in reserved:
            problems.append(f"{HEADER}: nobody takes a lock of rank {name}; remove or reserve it")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    problems = check(parser.parse_args().root)
    for line in problems:
        print(line)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
