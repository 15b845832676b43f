"""The list of mutants: what is in *.toml beside this file, and whether it still fits the house.

A mutant is the library with one rule removed or one number changed. It names the mechanisms of
docs/go-map.md that the rule belongs to, and the test that fails without it:

    [[mutant]]
    name = "ring_of_128"
    mechanisms = [4]                        # [] if Go's scheduler has none of the kind
    file = "src/queue/local_queue.h"
    old = "basic_local_queue<256>"          # this text, which is there exactly once,
    new = "basic_local_queue<128>"          # becomes this one
    test = "queue_local_queue_test: LocalQueue.HasRoomFor256"

Optional:

    units = ["src/sched/life/switch.cc"]   # compiled anew; else `file`, or of a header the test itself
    child = "strict_child"            # a crash test's program, which is mutated in its place
    hangs = true                      # without the rule the test does not end
    sample = true                     # one of the few that run with the tests

A header may be compiled into a few of the units that include it: an inline function of a debug build
exists once in a program, and those compiled anew come first. Of a test in the release build (its
name begins with release_) every unit counts that the rule is used in.

A test of vole::hooks is `hooks_conformance: <scenario>` (tests/hooks): it passes if the hooked program
prints what the bare one prints.

There are several kinds of build, and each has its control: the first mutant of that kind that is in
the sample, built in the same way with nothing changed. Its test must pass.
"""

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

HERE = "tools/mutants"
MAP = "docs/go-map.md"
LAST_MECHANISM = 35
RELEASE = "release_"
HOOKS = "hooks_conformance"
SUITES = (("src", "**/*_test.cc"), ("tests", "*/*_test.cc"), ("tests", "*/*_model.cc"))


class ListError(Exception):
    pass


@dataclass(frozen=True)
class Mutant:
    name: str
    mechanisms: tuple
    file: str
    old: str
    new: str
    program: str
    case: str
    units: tuple = ()
    child: str = ""
    hangs: bool = False
    sample: bool = False

    def apply(self, root):
        """The mutated text of its file."""
        path = Path(root) / self.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        found = text.count(self.old)
        if found != 1:
            raise ListError(f"{self.name}: its text is {found} times in {self.file}")
        return text.replace(self.old, self.new)

    @property
    def kind(self):
        """How it is built."""
        if self.program.startswith("model_"):
            return "model"
        if self.program == HOOKS:
            return "hooks"
        if self.program.startswith(RELEASE):
            return "release"
        if self.child:
            return "child"
        if self.file.endswith(".cc"):
            return "unit"
        return "header" if self.units else "test"

    def control(self):
        """The same build without the mutation."""
        return replace(self, name=f"control_{self.kind}", new=self.old)


def _mutant(where, row):
    try:
        program, case = row.pop("test").split(": ")
        row["mechanisms"] = tuple(row["mechanisms"])
        row["units"] = tuple(row.get("units", ()))
        mutant = Mutant(program=program, case=case, **row)
    except (KeyError, TypeError, ValueError) as error:
        raise ListError(f"{where}: {row.get('name', 'a mutant without a name')}: {error}") from error
    if mutant.old == mutant.new:
        raise ListError(f"{where}: {mutant.name} changes nothing")
    return mutant


def load(root):
    """All mutants, by the lists' names and then in their order."""
    found = []
    for path in sorted((Path(root) / HERE).glob("*.toml")):
        with path.open("rb") as text:
            rows = tomllib.load(text).get("mutant", [])
        found += [_mutant(path.name, row) for row in rows]
    names = [mutant.name for mutant in found]
    for name in names:
        if names.count(name) > 1:
            raise ListError(f"two mutants are called {name}")
    return sorted(found, key=lambda mutant: mutant.mechanisms)


def controls(mutants, chosen):
    """One for each kind of build among those chosen."""
    first = {}
    for mutant in mutants:
        if mutant.sample:
            first.setdefault(mutant.kind, mutant)
    return [first[kind].control() for kind in dict.fromkeys(m.kind for m in chosen)]


def programs(root):
    """{name of a test program, as cmake/tests.cmake gives it: its source}"""
    found = {}
    for folder, pattern in SUITES:
        for path in sorted((Path(root) / folder).glob(pattern)):
            name = path.relative_to(Path(root) / folder).with_suffix("").as_posix()
            name = name.replace("/", "_")
            found[name if name not in found else f"tests_{name}"] = path
    return found


def _has_case(source, case):
    suite, _, name = case.split("/")[0].partition(".")
    return re.search(rf"\bTEST(_[PF])?\(\s*{suite},\s*{name}\)", source) is not None


def _problems_of(mutant, root, sources):
    try:
        mutant.apply(root)
    except ListError as error:
        yield str(error)
    for unit in mutant.units:
        if not (root / unit).is_file():
            yield f"{mutant.name}: there is no {unit}"
    source = sources.get(mutant.program.removeprefix(RELEASE))
    if mutant.program == HOOKS:
        scenario = f"SCENARIO({mutant.case})"
        if not any(scenario in each.read_text(encoding="utf-8") for each in root.glob("tests/hooks/*.cc")):
            yield f"{mutant.name}: tests/hooks has no {scenario}"
    elif source is None:
        yield f"{mutant.name}: there is no test program {mutant.program}"
    elif not _has_case(source.read_text(encoding="utf-8"), mutant.case):
        yield f"{mutant.name}: {mutant.program} has no test {mutant.case}"
    if mutant.child and not (root / f"tests/crash/{mutant.child}.cc").is_file():
        yield f"{mutant.name}: there is no child program {mutant.child}"


def _problems_of_map(text, root):
    for path in re.findall(r"[\w/.]+_(?:test|model)\.cc", text):
        if not list(root.glob(f"**/{path}")):
            yield f"{MAP}: there is no {path}"


def check(root):
    """(problems, the mutants)"""
    root = Path(root)
    try:
        mutants = load(root)
    except (ListError, tomllib.TOMLDecodeError) as error:
        return [str(error)], []
    sources = programs(root)
    problems = [p for mutant in mutants for p in _problems_of(mutant, root, sources)]
    for kind in sorted({m.kind for m in mutants} - {m.kind for m in mutants if m.sample}):
        problems.append(f"{HERE}: no mutant of the kind {kind} is in the sample")
    path = root / MAP
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    rows = {int(n) for n in re.findall(r"^\|\s*\[(\d+)\]\s*\|", text, re.MULTILINE)}
    caught = {number for mutant in mutants for number in mutant.mechanisms}
    for number in sorted(set(range(1, LAST_MECHANISM + 1)) | rows | caught):
        if number not in rows:
            problems.append(f"{MAP}: no row for [{number}]")
        if number not in caught:
            problems.append(f"{HERE}: no mutant for [{number}]")
    return problems + list(_problems_of_map(text, root)), mutants
