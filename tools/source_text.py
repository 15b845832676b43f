"""C++ source as the checks see it: code only, line numbers kept."""

import re
from pathlib import Path

SUFFIXES = {".h", ".cc", ".S"}

TOKEN = re.compile(
    r"""
      (?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
    | (?P<block>/\*.*?\*/)
    | (?P<line>//(?:[^\n\\]|\\.)*)
    | (?P<include>^[ \t]*\#[ \t]*include[^\n]*)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<number>\b\d(?:'?[\w.])*)
    | (?P<char>'(?:[^'\\\n]|\\.)*')
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def strip(text, literals=False):
    """Comments and, unless asked for, the insides of literals removed; every line stays where it is."""

    def shortened(match):
        kind = match.lastgroup if match.lastgroup != "mark" else "raw"
        if kind == "include":
            return re.sub(r"//.*|/\*.*?\*/", "", match.group())
        if kind == "number" or (literals and kind in ("raw", "string", "char")):
            return match.group()
        newlines = "\n" * match.group().count("\n")
        if kind in ("raw", "string"):
            return '""' + newlines
        if kind == "char":
            return "' '"
        return " " + newlines

    return TOKEN.sub(shortened, text)


def files(root, *folders):
    """Every source file below these folders of root, as sorted paths relative to it."""
    root = Path(root)
    found = []
    for folder in folders:
        for path in (root / folder).rglob("*"):
            if path.is_file() and path.suffix in SUFFIXES:
                found.append(path.relative_to(root).as_posix())
    return sorted(found)


def read(root, path):
    return (Path(root) / path).read_text(encoding="utf-8")


def is_test(path):
    return path.endswith("_test.cc")
