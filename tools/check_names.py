#!/usr/bin/env python3
"""Every identifier and file that documents and comments name exists in the tree.

In the documents whatever stands in backticks is held to the tree, word by word; in the comments of
src/, include/ and tests/ every word that can only be a name: one with an underscore or
`::` in it, one followed by `()`, and a file's. A name exists if it is a word of the code (comments
do not vouch for each other), or a file or folder, by as many of its last parts as the name has. What
begins or ends with `_` stands for a suffix or a prefix. Where a document says `name` in `file`, or
`name` (`file`), the file has that word. tools/names.txt lists what is not ours: names
of Go, C, Linux and other programs.
"""

import argparse
import fnmatch
import re
import sys
from pathlib import Path

import source_text

DOCUMENTS = ("*.md", "docs/**/*.md", "src/*.md", "bench/*.md", "examples/*.md")
CODE = ("src", "include", "tests", "tools", "cmake", "bench", "examples")
TEXT = {".py", ".sh", ".toml", ".txt", ".cmake", ".in", ".json", ".ts", ".mjs", ".html", ".cs", ".go",
        ".rs", ".supp", ".suppressions"}
LOOSE = ("Makefile", "CMakeLists.txt", "CMakePresets.json", ".ci/run", ".clang-format", ".clang-tidy")

FILE = re.compile(r"(?<![\w/.*\\-])[\w*.-]*(?:/[\w*.-]+)*\.(?:h|cc|S|md|py|txt|toml|cmake|sh|svg|json)\b(?!\w)")
WORD = re.compile(r"(?<!\w)[A-Za-z_]\w{2,}")
NAME = re.compile(r"[A-Za-z]\w*(?:::~?\w+)+|\b[A-Za-z]\w*_\w+|\b\w+(?=\(\))")


class tree:
    """What there is: the words of the code, and the paths."""

    def __init__(self, root):
        self.root, self.paths, self.words = root, set(), set()
        for path in sorted(p for folder in (*CODE, "docs") for p in (root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if "node_modules/" in name or not path.is_file():
                continue
            self.add_path(name)
            self.words.add(path.stem)
            if name.startswith("bench/results/") or name == "tools/names.txt":
                continue
            if path.suffix in source_text.SUFFIXES:
                self.words.update(WORD.findall(code_of(source_text.read(root, name))))
            elif path.suffix in TEXT or path.name == "CMakeLists.txt":
                text = source_text.read(root, name)
                self.words.update(WORD.findall(re.sub(r"^\s*#.*", "", text, flags=re.M)))
        for name in LOOSE:
            if (root / name).exists():
                self.words.update(WORD.findall(source_text.read(root, name)))
        for path in root.glob("*"):
            self.add_path(path.name)

    def add_path(self, name):
        parts = name.split("/")
        for begin in range(len(parts)):
            for end in range(begin + 1, len(parts) + 1):
                self.paths.add("/".join(parts[begin:end]))

    def words_of(self, path):
        """The words of all files that this name may mean, comments included."""
        pattern = re.compile(r"(.*/)?" + re.escape(path).replace(r"\*", "[^/]*"))
        return {word for name in self.paths if pattern.fullmatch(name) and (self.root / name).is_file()
                for word in WORD.findall(source_text.read(self.root, name))}

    def has_word(self, name):
        if name in self.words or name in self.paths:
            return True
        if name.startswith("_"):
            return any(word.endswith(name) for word in self.words)
        return name.endswith("_") and any(word.startswith(name) for word in self.words)

    def has_path(self, name):
        if re.match(r"[_.-]", name):  # a suffix: _test.cc
            return any(path.endswith(name) for path in self.paths)
        if "*" not in name:
            return name in self.paths
        pattern = re.compile(re.escape(name.strip("/")).replace(r"\*", "[^/]*"))
        return any(pattern.fullmatch(path) for path in self.paths)


def code_of(text):
    """Without comments; the insides of literals stay, since messages and names are code, too."""
    return source_text.TOKEN.sub(
        lambda m: "\n" if m.lastgroup in ("line", "block") else m.group(), text)


def comments_of(text):
    """[(line, comment)]"""
    return [(text.count("\n", 0, m.start()) + 1, m.group())
            for m in source_text.TOKEN.finditer(text) if m.lastgroup in ("line", "block")]


FENCE = re.compile(r"^( *)```.*?^\1```", re.M | re.S)
TICKED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
# What a table calls by another library's names: Go's column of go-map.md, the first one of from-*.md.
FOREIGN = re.compile(r"^\|( \[\d+\] \|[^|]*\|)?[^|]*\|")


def names_in(text):
    """The files and words of one piece in backticks."""
    files = FILE.findall(text)
    return files, WORD.findall(FILE.sub(" ", text))


def document_names(path, text):
    """[(line, name, is a file)]"""
    text = FENCE.sub(lambda m: "\n" * m.group().count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        if re.fullmatch(r"docs/(go-map|from-.*)\.md", path):
            line = FOREIGN.sub("|", line)
        for piece in TICKED.findall(line.replace("-DVOLE_", "VOLE_")):
            files, words = names_in(piece)
            yield from ((number, name, True) for name in files)
            yield from ((number, name, False) for name in words)


PLACED = re.compile(r"`([^`]+)` (?:in |\()(`[\w/*-]+\.\w+`(?:(?:, | and )`[\w/*-]+\.\w+`)*)")


def misplaced(house, text):
    """[(line, name, the files that should have it)]"""
    for number, line in enumerate(text.splitlines(), 1):
        for name, places in PLACED.findall(line):
            word = name.split("(")[0].split("::")[-1]
            paths = TICKED.findall(places)
            if re.fullmatch(WORD, word) and all(re.fullmatch(FILE, path) for path in paths):
                if not any(word in house.words_of(path) for path in paths):
                    yield number, word, " or ".join(paths)


def comment_names(text):
    for first, comment in comments_of(text):
        for number, line in enumerate(comment.splitlines(), first):
            files = FILE.findall(line)
            yield from ((number, name, True) for name in files)
            for name in NAME.findall(FILE.sub(" ", line)):
                yield from ((number, word, False) for word in WORD.findall(name))


def check(root):
    house = tree(root)
    allowed = [name for line in source_text.read(root, "tools/names.txt").splitlines()
               for name in line.split("#")[0].split()]
    problems, named = [], set()

    def is_allowed(name):
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed)

    def hold(path, found):
        for number, name, is_file in found:
            named.add(name)
            exists = house.has_path(name) if is_file else house.has_word(name)
            if not exists and not is_allowed(name):
                problems.append(f"{path}:{number}: there is no {name}")

    for pattern in DOCUMENTS:
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            text = source_text.read(root, name)
            hold(name, document_names(name, text))
            problems += [f"{name}:{number}: {word} is not in {place}"
                         for number, word, place in misplaced(house, text)]
    for path in source_text.files(root, "src", "include", "tests"):
        hold(path, comment_names(source_text.read(root, path)))
    problems += [f"tools/names.txt: nobody names {name}" for name in allowed
                 if not fnmatch.filter(named, name)]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    problems = check(parser.parse_args().root.resolve())
    for line in problems:
        print(line)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
