#!/usr/bin/env python3
"""Holds src/ and include/ to the plan in layers.txt and to the rules in rules.txt.

Prints one line per offence, `path:line: sentence`, and exits with 1 if there is any.
Files that are merely large are reported, but do not fail.
"""

import argparse
import fnmatch
import re
import sys
from pathlib import Path

import source_text

FRONT_DOOR = "vole"


class PlanError(Exception):
    """The text file itself is wrong."""


# ── layers.txt ──


def parse_layers(text):
    """{room: {room it may include: None (all of it) or the set of permitted headers}}"""
    allowed = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        if line.count("<") != 1:
            raise PlanError(f"layers.txt:{number}: not of the form `a, b < c, d`")
        below, above = (part.strip() for part in line.split("<"))
        lower = []
        for item in re.findall(r"[^,(]+(?:\([^)]*\))?", below):
            match = re.fullmatch(r"(\w+)(?:\(([^)]*)\))?", item.strip())
            if not match:
                raise PlanError(f"layers.txt:{number}: cannot read `{item.strip()}`")
            doors = match[2] and {door.strip() for door in match[2].split(",")}
            lower.append((match[1], doors))
        for room in (name.strip() for name in above.split(",")):
            may = allowed.setdefault(room, {})
            for name, doors in lower:
                allowed.setdefault(name, {})
                if name in may:
                    raise PlanError(f"layers.txt:{number}: {name} < {room} is said twice")
                may[name] = doors
    refuse_cycle(allowed)
    return allowed


def refuse_cycle(allowed):
    done, path = set(), []

    def visit(room):
        if room in path:
            raise PlanError("layers.txt: a circle: " + " < ".join(path[path.index(room):] + [room]))
        if room in done:
            return
        path.append(room)
        for lower in allowed[room]:
            visit(lower)
        path.pop()
        done.add(room)

    for room in allowed:
        visit(room)


def room_of(path):
    """src/<room>/… or include/vole/…; None for a file that lies in no room."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[:2] == ["include", FRONT_DOOR]:
        return FRONT_DOOR
    return None


INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def check_includes(path, code, allowed):
    room = room_of(path)
    if room is None:
        yield path, 1, "lies in no room"
        return
    if room not in allowed:
        yield path, 1, f"the room {room} is not on the plan (tools/layers.txt)"
        return
    for number, line in enumerate(code.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target, _, header = match[2].partition("/")
        if match[1] == "<" and target != FRONT_DOOR:
            continue  # the system's, though its folder may be called like a room (net/if.h)
        if target not in allowed:
            if match[1] == '"':
                yield path, number, f'"{match[2]}" does not begin with a room of the plan'
            continue
        if target == room:
            continue
        if target not in allowed[room]:
            yield path, number, f"{room} may not include {target} ({match[2]})"
            continue
        doors = allowed[room][target]
        if doors is not None and header not in doors:
            named = ", ".join(sorted(doors))
            yield path, number, f"{room} may include only {named} of {target}, not {match[2]}"


# ── what a file uses, whatever it includes ──

COMMON = {"base", "detail", "rt", "v0", "vole"}  # open to all, or the front door's
OPENED = re.compile(r"^\s*(?:inline\s+)?namespace\s+([\w:]+)\s*\{", re.MULTILINE)
EXTERN = re.compile(r"^\s*(?:\[\[[^\]]*\]\]\s*)?extern\s+(?!\")[\w:<>, *]+?\b(\w+)(?:\[\w*\])?;", re.MULTILINE)


LOCAL = re.compile(r"[\w>&*\]] ?[&*]?\b(?<!extern )(\w+)\s*(?:\{[^}]*\}|=[^=][^;]*)?;")  # a variable of its own


def opened(code):
    return {name for path in OPENED.findall(code) for name in path.split("::")}


def first_opened(code):
    """The same without what lies in another: `os` of vole::os::net."""
    named = ([name for name in path.split("::") if name not in COMMON] for path in OPENED.findall(code))
    return {names[0] for names in named if names}


def owners_of_names(sources):
    """{a namespace `x::` or a variable `x`: {(room, header) that declares it}}"""
    spaces, variables = {}, {}
    classes = {name for path, code in sources if path.startswith("include/")
               for name in re.findall(r"\b(?:class|struct) (\w+)", code)}  # `x::` is that one there
    for path, code in sources:
        room = room_of(path)
        if not path.startswith("src/") or not path.endswith(".h") or room is None:
            continue
        header = path.split("/", 2)[2]
        for name in first_opened(code) - classes:
            spaces.setdefault(name, set()).add((room, header))
        for name in EXTERN.findall(code):
            variables.setdefault(name, set()).add((room, header))
    return spaces, variables


def check_uses(path, code, allowed, names):
    room = room_of(path)
    if not path.startswith("src/") or room not in allowed:
        return
    mine = opened(code) | set(LOCAL.findall(code))

    def may_see(owners):
        return any(
            owner == room or (owner in allowed[room]
                              and (allowed[room][owner] is None or header in allowed[room][owner]))
            for owner, header in owners)

    for number, line in enumerate(code.splitlines(), 1):
        if INCLUDE.match(line):
            continue
        for kind, pattern in zip(names, (r"(?<![\w:.>])(?:rt::)?(\w+)::", r"(?<![\w:.>])(?:rt::)?(\w+)(?:\.|\[)")):
            for name in re.findall(pattern, line):
                if name in kind and name not in mine and not may_see(kind[name]):
                    where = ", ".join(sorted(f"{owner}/{header}" for owner, header in kind[name]))
                    yield path, number, f"{room} uses {name}, which is declared in {where}"


# ── rules.txt ──


class Rule:
    def __init__(self, sentence):
        self.sentence, self.forbid, self.places, self.exceptions = sentence, None, [], []
        self.literals = False

    def holds_in(self, path):
        def among(globs):
            return any(fnmatch.fnmatchcase(path, glob) for glob in globs)

        return among(self.places) and not among(self.exceptions)


def parse_rules(text):
    """(rules, sizes); a size is (warn, fail, globs)."""
    rules, sizes = [], []
    for number, line in enumerate(text.splitlines(), 1):
        word, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        if not word or word.startswith("#"):
            continue
        size = re.fullmatch(r"size warn (\d+) fail (\d+) in (.+)", line.strip())
        if size:
            sizes.append((int(size[1]), int(size[2]), size[3].split()))
        elif word == "rule":
            rules.append(Rule(rest))
        elif word in ("forbid", "forbid-literal") and rules:
            rules[-1].forbid = re.compile(rest)
            rules[-1].literals = word == "forbid-literal"
        elif word == "in" and rules:
            rules[-1].places = rest.split()
        elif word == "except" and rules:
            rules[-1].exceptions = rest.split()
        else:
            raise PlanError(f"rules.txt:{number}: cannot read `{line.strip()}`")
    for rule in rules:
        if rule.forbid is None or not rule.places:
            raise PlanError(f"rules.txt: the rule `{rule.sentence}` lacks `forbid` or `in`")
    return rules, sizes


def check_rules(path, text, rules):
    codes = {literals: source_text.strip(text, literals).splitlines() for literals in (False, True)}
    for rule in rules:
        if not rule.holds_in(path):
            continue
        for number, line in enumerate(codes[rule.literals], 1):
            match = rule.forbid.search(line)
            if match:
                yield path, number, f"{rule.sentence} (found `{match.group().strip()}`)"


def check_size(path, text, sizes):
    """Yields (path, line, sentence, fails)."""
    lines = len(text.splitlines())
    for warn, fail, globs in sizes:
        if not any(fnmatch.fnmatchcase(path, glob) for glob in globs):
            continue
        if lines > fail:
            yield path, lines, f"{lines} lines, more than {fail}: split it", True
        elif lines > warn:
            yield path, lines, f"{lines} lines, more than {warn}: think of splitting it", False


# ── all of it ──


def check(root, layers_text, rules_text):
    """(offences, warnings), both lists of printable lines."""
    allowed = parse_layers(layers_text)
    rules, sizes = parse_rules(rules_text)
    offences, warnings = [], []
    paths = source_text.files(root, "src", "include")
    names = owners_of_names([(path, source_text.strip(source_text.read(root, path)))
                             for path in paths if path.endswith(".h")])
    for path in paths:
        text = source_text.read(root, path)
        for where, line, sentence, fails in check_size(path, text, sizes):
            (offences if fails else warnings).append(f"{where}:{line}: {sentence}")
        if source_text.is_test(path):
            continue
        code = source_text.strip(text)
        found = [*check_includes(path, code, allowed), *check_uses(path, code, allowed, names),
                 *check_rules(path, text, rules)]
        offences += [f"{where}:{line}: {sentence}" for where, line, sentence in found]
    return offences, warnings


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=here.parent)
    root = parser.parse_args().root
    try:
        offences, warnings = check(
            root,
            (root / "tools/layers.txt").read_text(encoding="utf-8"),
            (root / "tools/rules.txt").read_text(encoding="utf-8"),
        )
    except PlanError as error:
        sys.exit(str(error))
    for line in warnings:
        print("warning:", line)
    for line in offences:
        print(line)
    if offences:
        sys.exit(1)
    print(f"layers: {len(source_text.files(root, 'src', 'include'))} files are where they belong")


if __name__ == "__main__":
    main()
