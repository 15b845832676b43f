#!/usr/bin/env python3
"""The words of the documents are English, or in tools/words.txt: aspell says so, by its British and its
American list, or words of the code. Code, links and names with an underscore are not looked at.

    tools/check_spelling.py --root .
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

import check_names

DOCUMENTS = ["*.md", "docs/*.md", "docs/design/*.md", "examples/*.md", "src/*.md", "bench/*.md"]
CODE = re.compile(r"^( *)```.*?^\1```", re.M | re.S)
NOISE = [re.compile(p) for p in (r"`[^`]*`", r"\]\([^)]*\)", r"<[^>]*>", r"\S*[/_@:=]\S+", r"\w*\d\w*", r"https?:\S+")]


def words_of(text):
    """(line, word) of the prose."""
    text = CODE.sub(lambda m: "\n" * m[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        for noise in NOISE:
            line = noise.sub(" ", line)
        for word in re.findall(r"[A-Za-z]+(?:['’][a-z]+)?", line):
            if len(word) > 2 and not word.isupper():
                yield number, word.replace("’", "'")


def unknown_to(dictionary, words):
    done = subprocess.run(["aspell", "list", f"--lang={dictionary}", "--encoding=utf-8"],
                          input="\n".join(sorted(words)), capture_output=True, text=True)
    if done.returncode:
        print(f"spelling: {done.stderr.strip()}: `tools/setup.sh site`")
        sys.exit(77)
    return set(done.stdout.split())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    root = parser.parse_args().root
    if shutil.which("aspell") is None:
        print("spelling: there is no aspell here: `tools/setup.sh site`")
        sys.exit(77)
    found = {}
    for path in sorted(p for pattern in DOCUMENTS for p in root.glob(pattern)):
        for line, word in words_of(path.read_text(encoding="utf-8")):
            found.setdefault(word, f"{path.relative_to(root)}:{line}")
    ours = {word.lower() for word in (root / "tools/words.txt").read_text(encoding="utf-8").split()
            if not word.startswith("#")}
    ours |= {part.lower() for name in check_names.tree(root).words for part in name.split("_")}
    strange = unknown_to("en_GB", found) & unknown_to("en_US", found)
    wrong = sorted(word for word in strange
                   if re.sub(r"'s?$", "", word.lower()) not in ours)
    for word in wrong:
        print(f"{found[word]}: {word}")
    if wrong:
        sys.exit(f"spelling: {len(wrong)} words are neither English nor in tools/words.txt")
    print(f"spelling: {len(found)} words")


if __name__ == "__main__":
    main()
