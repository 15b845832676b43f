#!/usr/bin/env python3
"""The reference, from the public headers: a page of Markdown for each, with every public name and what
its comment says.

    tools/reference.py --root . --check            which public names no comment explains
    tools/reference.py --root . --out FOLDER       writes the pages

A name is explained by the comment above it, by one behind it, by the comment above the group it stands
in (declarations without a blank line between them are a group), or by the comment of its class or
header if that has the name in it. Constructors that copy, destructors, assignments and comparisons
need no words, nor do the types that the standard library has everyone define (value_type), and what
specialises its templates is left out. `detail` is not public.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

SILENT = re.compile(r"^(operator(=|==|<=>|!=|bool|\*|->)|~\w+|begin|end|\w+_type)$")
ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]\s*")


@dataclass
class Item:
    name: str
    kind: str                 # class, enum, function, variable, alias, section
    text: str                 # the declaration, without a body
    comment: str
    follows: bool             # in one group with the one before
    members: list = field(default_factory=list)
    line: int = 0


def unwrapped(lines):
    return "\n".join(re.sub(r"^// ?", "", line.strip()) for line in lines)


def skip_literal(text, at):
    """The end of the string or character literal that begins there."""
    quote, at = text[at], at + 1
    while text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at + 1


def closing(text, at):
    """The place behind the bracket that closes the one at `at`; comments and literals are passed over."""
    pairs, open_ = {"{": "}", "(": ")"}, text[at]
    depth = 0
    while True:
        c = text[at]
        if text.startswith("//", at):
            at = text.index("\n", at)
            continue
        if c == '"' or (c == "'" and not text[at - 1].isalnum()):
            at = skip_literal(text, at)
            continue
        depth += (c == open_) - (c == pairs[open_])
        at += 1
        if depth == 0:
            return at


def balanced(text, at):
    """The place behind the bracket that closes the one at `at`, angle brackets included."""
    depth = 0
    while True:
        c = text[at]
        depth += (c in "(<[{") - (c in ")]}" or (c == ">" and text[at - 1] not in "-="))
        at += 1
        if depth == 0:
            return at


def without_requires(head):
    match = re.match(r"requires\b", head)
    if not match:
        return head
    at = match.end()
    while True:
        at += len(re.match(r"\s*!?\s*", head[at:])[0])
        at += len(re.match(r"[\w:]*", head[at:])[0])
        if head[at:at + 1] in ("(", "<"):
            at = balanced(head, at)
        more = re.match(r"\s*(&&|\|\|)", head[at:])
        if not more:
            return head[at:].strip()
        at += more.end()


def without_template(head):
    """The declaration without its template<...> and requires clause in front."""
    head = ATTRIBUTE.sub("", head).strip()
    while head.startswith("template"):
        depth = 0
        for i, c in enumerate(head):
            depth += (c == "<") - (c == ">" and head[i - 1] not in "-=")
            if c == ">" and depth == 0:
                head = head[i + 1:].strip()
                break
        else:
            return head
    return without_requires(head)


def kind_of(head):
    head = re.sub(r"^(friend|inline|constexpr|constinit|extern)\s+", "", without_template(head))
    match = re.match(r"(class|struct|enum class|enum|namespace|using)\b", head)
    return match[1].split()[0].replace("struct", "class") if match else "value"


def name_of(text, kind):
    head = re.sub(r"\balignas\([^)]*\)\s*", "", without_template(text))
    if kind in ("class", "enum"):
        match = re.search(r"(?:class|struct)\s+(?:\[\[.*?\]\]\s*)?([\w:]+(?:<[^{]*?>)?)", head) if kind == "class" \
            else re.search(r"enum(?:\s+class)?\s+(\w+)", head)
        return match[1] if match else ""
    if kind == "using":
        match = re.match(r"using\s+([\w:]+)", head)
        return match[1].split("::")[-1]
    match = re.search(r"\boperator\s*([^\s(]+|\(\))", head)
    if match:
        return "operator" + match[1]
    depth = 0
    for i, c in enumerate(head):
        depth += (c == "<") - (c == ">" and head[i - 1] not in "-=")
        if c == "(" and depth <= 0:
            words = re.findall(r"~?\w+", head[:i])
            return words[-1] if words else ""
    words = re.findall(r"\w+", re.split(r"[={\[;]", head)[0])
    return words[-1] if words else ""


class Scanner:
    """The declarations between two places of a header."""

    def __init__(self, text):
        self.text, self.items = text, []
        self.comment, self.gap, self.public = [], True, True

    def scan(self, at, end, is_private=False):
        self.public = not is_private
        while at < end:
            at = self.step(at, end)
        return self.items

    def step(self, at, end):
        text = self.text
        if text[at].isspace():
            if re.match(r"[ \t]*\n[ \t]*\n", text[at:end]) or (text[at] == "\n" and re.match(r"\n[ \t]*\n", text[at:end])):
                self.gap, self.comment = True, []
            return at + 1
        if text.startswith("//", at):
            stop = text.find("\n", at)
            line = text[at:stop]
            before = text[text.rfind("\n", 0, at) + 1:at]
            if re.fullmatch(r"\s*}*\s*", before) and before.strip():
                pass  # a namespace or a body ends
            elif before.strip() and self.items:  # behind a declaration
                self.items[-1].comment = (self.items[-1].comment + "\n" + unwrapped([line])).strip()
            else:
                section = re.match(r"// ── (.*?) ──+\s*(.*)$", line)
                if section:
                    self.items.append(Item("", "section", section[1], section[2], False))
                    self.gap = False
                else:
                    self.comment.append(line)
            return stop
        if text[at] == "#":
            return text.find("\n", at)
        if text[at] in "};":
            return at + 1
        match = re.match(r"(public|private|protected):", text[at:end])
        if match:
            self.public = match[1] == "public"
            return at + match.end()
        return self.declaration(at, end)

    def declaration(self, at, end):
        text, begin, parens = self.text, at, 0
        while at < end:
            if text.startswith("//", at):
                at = text.find("\n", at)
                continue
            c = text[at]
            if c == '"' or (c == "'" and not text[at - 1].isalnum()):
                at = skip_literal(text, at)
                continue
            if c == "(":
                at = closing(text, at)
                continue
            if c == ";":
                self.add(text[begin:at], None, begin)
                return at + 1
            if c == "{":
                head = text[begin:at]
                kind = kind_of(head)
                stop = closing(text, at)
                if kind == "namespace":
                    if re.search(r"\bdetail\b", head):
                        self.comment = []
                        return stop
                    inner = Scanner(text)
                    found = inner.scan(at + 1, stop - 1)
                    if self.comment and found:
                        self.items.append(Item("", "section", head.split()[-1] if "v0" not in head else "",
                                               unwrapped(self.comment), False))
                    self.items.extend(found)
                    self.comment = []
                    return stop
                if kind in ("class", "enum"):
                    self.add(head, (at + 1, stop - 1), begin)
                    return stop
                behind = text[stop:end].lstrip()
                if behind[:1] in (",", "{"):
                    at = stop
                    continue
                if behind[:1] == ";":
                    self.add(text[begin:stop], None, begin)
                    return stop + (len(text[stop:end]) - len(behind)) + 1
                self.add(head, None, begin)
                return stop
            at += 1
        return end

    def add(self, head, inside, begin):
        kind = kind_of(head)
        head = re.sub(r"//[^\n]*", "", head).strip()
        comment, self.comment = unwrapped(self.comment), []
        follows, self.gap = not self.gap and not comment, False
        if not self.public or head.startswith("friend class") or head.startswith("static_assert"):
            return
        if re.match(r"(class|struct)\s+\w+$", head) or re.match(r"template\s*<[^;{]*>\s*(class|struct)\s+\w+$", head, re.S):
            if inside is None:
                return  # only announced
        if re.search(r"\b(struct|class)\s+std::", head) or re.match(r"using std::\w+::\w+$", head):
            return
        if "deduction" in comment or re.search(r"\)\s*->\s*\w+<", head) and inside is None and kind == "value" and "operator" not in head and not re.search(r"\bauto\b", head):
            return
        item = Item(name_of(head, kind), kind, re.sub(r"\n\s+", " ", drop_initialisers(head)).strip(),
                    comment, follows, line=self.text.count("\n", 0, begin) + 1)
        if inside and kind == "class":
            is_class = re.search(r"\bclass\b", without_template(head)) is not None
            item.members = Scanner(self.text).scan(*inside, is_private=is_class)
        elif inside:
            item.text += " {\n" + re.sub(r"^\s+", "  ", self.text[inside[0]:inside[1]].strip("\n"), flags=re.M).rstrip() + "\n}"
        self.items.append(item)


def drop_initialisers(head):
    """A constructor's : a_(b), c_{d} is nobody's business."""
    depth = 0
    for i, c in enumerate(head):
        depth += (c in "(<{[") - (c in ")}]" or (c == ">" and head[i - 1] not in "-="))
        if c == ":" and depth <= 0 and head[i - 1] != ":" and head[i + 1:i + 2] != ":" and ")" in head[:i]:
            return head[:i].rstrip()
    return head


def parse(path):
    text = path.read_text(encoding="utf-8") + "\n"
    card = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        card.append(line)
    begin = text.index("#pragma once") + len("#pragma once")
    return unwrapped(card), Scanner(text).scan(begin, len(text))


def explained(card, items, context=""):
    """(item, is it explained?), members too."""
    in_group = False
    for item in items:
        if item.kind == "section":
            in_group = bool(item.comment)
            context += "\n" + item.text + "\n" + item.comment
            continue
        in_group = bool(item.comment) or (item.follows and in_group)
        known = card + context
        is_so = (in_group or bool(SILENT.match(item.name)) or "= delete" in item.text
                 or "= default" in item.text or re.search(rf"\b{re.escape(item.name)}\b", known) is not None)
        yield item, is_so
        if item.members:
            for member, member_is_so in explained(card, item.members, "\n" + item.comment):
                constructor = member.name == item.name.split("<")[0]
                yield member, member_is_so or constructor


def headers_of(root):
    return sorted((root / "include/vole").glob("*.h"))


def check(root):
    problems, count = [], 0
    for path in headers_of(root):
        card, items = parse(path)
        if not card:
            problems.append(f"{path.relative_to(root)}: no card at the top")
        for item, is_so in explained(card, items):
            count += 1
            if not is_so:
                problems.append(f"{path.relative_to(root)}:{item.line}: {item.name or item.text}: no comment says what it is")
    return problems, count


def prose(comment):
    """A comment as Markdown: indented lines are code, as they are in the headers."""
    out, code = [], False
    for line in comment.splitlines():
        indented = line.startswith("    ")
        if indented != code:
            out.append("```cpp" if indented else "```")
            if not indented:
                out.append("")
            code = indented
        text = line[4:] if indented else line.replace("<", "\\<").replace("*", "\\*")
        out.append(text)
    if code:
        out.append("```")
    return "\n".join(out)


def groups(items):
    """Items that stand together, with the comment they share."""
    group = []
    for item in items:
        if group and (not item.follows or item.kind in ("class", "section") or group[-1].kind in ("class", "section")):
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def page_of(items, level):
    for group in groups(items):
        first = group[0]
        if first.kind == "section":
            title = first.text or ""
            if title:
                yield f"{'#' * level} {title[0].upper() + title[1:]}\n"
            if first.comment:
                yield prose(first.comment) + "\n"
            continue
        if first.kind == "class":
            yield f"{'#' * level} {first.name}\n"
            yield "```cpp\n" + first.text + "\n```\n"
            if first.comment:
                yield prose(first.comment) + "\n"
            yield from page_of(first.members, level + 1)
            continue
        shown = [item for item in group if "= delete" not in item.text]
        if not shown:
            continue
        names = list(dict.fromkeys(item.name for item in shown if item.name))
        yield f"{'#' * level} {', '.join(names)}\n"
        yield "```cpp\n" + "\n".join(item.text + ";" for item in shown) + "\n```\n"
        for item in shown:
            if item.comment:
                yield prose(item.comment) + "\n"


def write(root, out):
    out.mkdir(parents=True, exist_ok=True)
    index = ["# Reference\n", "Made from the headers, a page for each. All of it is in namespace `vole`; "
             "`#include <vole/vole.h>` brings everything.\n", "| header | |", "|---|---|"]
    for path in headers_of(root):
        card, items = parse(path)
        lead = card.splitlines()[0]
        names = [item.name for item in items if item.kind != "section"]
        if not names:
            continue
        page = [f"# vole/{path.name}\n", f"`#include <vole/{path.name}>`\n", prose(card) + "\n", *page_of(items, 2)]
        (out / f"{path.stem}.md").write_text("\n".join(page), encoding="utf-8")
        index.append(f"| [vole/{path.name}]({path.stem}.md) | {lead} |")
    (out / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.out:
        write(args.root, args.out)
    if args.check:
        problems, count = check(args.root)
        for problem in problems:
            print(problem)
        if problems or count < 300:
            sys.exit(f"reference: {len(problems)} of {count} public names are not explained")
        print(f"reference: {count} public names")


if __name__ == "__main__":
    main()
