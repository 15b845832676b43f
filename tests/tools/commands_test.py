"""The commands in the documents, typed as they are printed: each does what it says and ends with 0.

README.md and docs/getting-started.md are followed word by word by tools/check_readme.py. Every other
command in an sh block of a document is typed here, in a scratch folder where ./app is a program that uses
vole, 4711 stands for a process that runs, and the files that the page speaks of are there. What is
not typed has its reason in NOT_TYPED; a command that is new is typed, so that nobody forgets one.

make's targets, and those that take long, are looked up: `make --dry-run` knows them. With
VOLE_ALL_COMMANDS=1 (make test-all) those of LONG are typed, too.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.request
from pathlib import Path

from control_test import Program
from looked_at import TOOLS, Child

ROOT = Path(os.environ["VOLE_SOURCE_DIR"])
BUILD = Path(os.environ["VOLE_BUILD_DIR"])
VOLE = Path(os.environ["VOLE_COMMAND"])
PAGE = BUILD / "share/vole/viewer.html"
ALL = os.environ.get("VOLE_ALL_COMMANDS") == "1"

FOLLOWED = {"README.md", "docs/getting-started.md"}  # by tools/check_readme.py
NOT_TYPED = {
    r"vole exec psql ": "it asks a server: tests/servers/exec_same.py runs psql so, against one of its own",
    r"bench/(run|curves|tracing|builds)\.py": "hours; bench/run_test.py and its like run the runner on stand-ins",
    r"bench/run_test\.py": "a test of its own, bench_run_test",
    r"build/release/bench/": "measurements, for a quiet machine; their programs are built by the tests",
    r"tools/(mutants/drawn|coverage)\.py": "minutes to hours: they build all of it, again and again",
    r"node test/": "minutes in a browser: measurements of the viewer",
}
# Typed at the root by make test-all: they build.
LONG = [r"cmake --preset ", r"cmake --build --preset ", r"build/release/examples/"]


def documents():
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "HACKING.md", "bench/README.md",
                                         "examples/README.md", "packaging/README.md"))
    yield from sorted((ROOT / "docs").rglob("*.md"))


def commands():
    """(document, line, command) of each sh block and of each line `$ command` in another block"""
    found = []
    for path in documents():
        language = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            fence = re.match(r" *```(\w*)", line)
            if fence:
                language = (fence[1] or "text") if language is None else None
                continue
            text = line
            if language is not None and language != "sh":
                text = line[2:] if line.startswith("$ ") else ""
            elif language is None:
                text = " ".join(re.findall(r"`((?:VOLE_\w+=\S+ )+\./app)`", line))
            text = re.sub(r"(^|\s)# .*", "", text).strip()
            if text:
                found.append((path.relative_to(ROOT).as_posix(), number, text))
    return found


def matches(patterns, command):
    return any(re.match(pattern, command) for pattern in patterns)


class Commands(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="vole-commands-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        stubs = self.folder / "bin"
        stubs.mkdir()
        (stubs / "xdg-open").write_text("#!/bin/sh\n: opens nothing\n", encoding="utf-8")
        (stubs / "xdg-open").chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{stubs}:{VOLE.parent}:{os.environ['PATH']}",
                            "XDG_RUNTIME_DIR": str(self.folder), "DEBUGINFOD_URLS": ""}
        self.live = None

    def place(self, program, name="app"):
        target = self.folder / name
        target.unlink(missing_ok=True)
        target.symlink_to(program)

    def type(self, command, folder=None, seconds=240):
        done = subprocess.run(["bash", "-c", command], cwd=folder or self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=seconds)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def type_all(self, of, change=lambda command: command):
        """Every command of that document; those that need a program which is not here are said."""
        typed = 0
        for document, number, command in commands():
            if document != of or matches(NOT_TYPED, command):
                continue
            program = next(word for word in command.split() if "=" not in word)
            if "/" not in program and shutil.which(program, path=self.environment["PATH"]) is None:
                print(f"{document}:{number}: no {program} here: {command}")
                continue
            with self.subTest(where=f"{document}:{number}", command=command):
                self.type_one(change(command))
                typed += 1
        self.assertGreater(typed, 0, f"{of} has no commands")

    def type_one(self, command):
        if not command.startswith("vole trace view") or " -o " in command:
            self.type(command)
        elif PAGE.exists():
            self.serve(command)

    def serve(self, command):
        with subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, text=True) as server:
            try:
                address = re.search(r"http://\S+", server.stdout.readline())
                self.assertIsNotNone(address, command)
                with urllib.request.urlopen(address[0], timeout=60) as answer:
                    self.assertIn(b"<html", answer.read()[:2000])
            finally:
                server.kill()

    @unittest.skipUnless((TOOLS / "parked_release").exists(), "not in this build")
    def test_debugging(self):
        self.place(TOOLS / "parked_release")
        with Child(TOOLS / "parked_release") as child:
            self.type(f"vole core take {child.pid} --plain -o core")
            self.type_all("docs/debugging.md", lambda command: command.replace("4711", str(child.pid)))

    def test_tracing(self):
        self.place(BUILD / "examples/pipeline")
        self.type(f"{TOOLS / 'trace_samples_child'} ring app.ring")
        with Program("idle", str(self.folder)).process as child:
            def change(command):
                command = command.replace("/tmp/vole-1000/4711", str(self.folder / "vole" / "4711"))
                return command.replace("4711", str(child.pid))
            try:
                self.type_all("docs/tracing.md", change)
            finally:
                child.kill()

    def test_settings_of_a_program(self):
        for document in ("docs/libraries.md", "docs/performance.md", "docs/stack-size.md"):
            self.place(BUILD / "examples/hello")
            self.type_all(document)

    def test_contributing(self):
        for document, number, command in commands():
            if document != "CONTRIBUTING.md" or matches(NOT_TYPED, command):
                continue
            with self.subTest(where=f"{document}:{number}", command=command):
                if command.startswith("make "):
                    self.type(command.replace("make ", "make --dry-run ", 1), folder=ROOT)
                else:  # what builds would take long: it has its reason above
                    self.assertTrue(command.startswith("build/dev/tests/"), "not in NOT_TYPED")
                    self.type(command.replace("build/dev", str(BUILD), 1), folder=ROOT)

    def test_saved_results_can_be_drawn(self):
        (self.folder / "bench").symlink_to(ROOT / "bench")
        (self.folder / "docs").mkdir()
        shutil.copy(ROOT / "docs/performance.md", self.folder / "docs")
        saved = sorted((ROOT / "bench/results").glob("*.json"))
        saved = [path for path in saved if "curves" not in path.name]
        self.type_all("bench/README.md", lambda command: command.replace("RESULT.json", str(saved[-1])))

    def test_long_ones(self):
        for document, number, command in commands():
            if document in FOLLOWED or not matches(LONG, command):
                continue
            with self.subTest(where=f"{document}:{number}", command=command):
                if ALL:
                    self.type(command, folder=ROOT, seconds=1800)
                    continue
                for preset in re.findall(r"--preset (\S+)", command):
                    self.assertIn(f'"name": "{preset}"', (ROOT / "CMakePresets.json").read_text())

    def test_every_command_has_its_test(self):
        here = {"docs/debugging.md", "docs/tracing.md", "docs/libraries.md", "docs/performance.md",
                "docs/stack-size.md", "CONTRIBUTING.md", "bench/README.md"}
        found = commands()
        self.assertGreater(len(found), 40)
        for document, number, command in found:
            if document in FOLLOWED | here or matches(LONG, command) or matches(NOT_TYPED, command):
                continue
            self.fail(f"{document}:{number}: nobody types `{command}`")
        for pattern in [*NOT_TYPED, *LONG]:
            self.assertTrue(any(re.match(pattern, command) for _, _, command in found),
                            f"no document says {pattern} any more")

    def test_examples_are_short_and_listed(self):
        listed = (ROOT / "examples/README.md").read_text(encoding="utf-8")
        for path in sorted((ROOT / "examples").glob("*.cc")):
            text = path.read_text(encoding="utf-8")
            self.assertTrue(text.startswith("// "), f"{path} does not say what it teaches")
            self.assertIn(f"({path.name})", listed)
            if path.name != "tour.cc":
                self.assertLessEqual(text.count("\n"), 80, path)

    def test_targets_of_make_that_are_named_exist(self):
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        presets = re.search(r"^PRESETS +:= (.*)$", makefile, re.M)[1].split()
        known = set(re.findall(r"^([a-z-]+):", makefile, re.M))
        known |= {f"{what}-{preset}" for what in ("build", "test") for preset in presets}
        for path in documents():
            for target in re.findall(r"`make ([a-z0-9-]+)", path.read_text(encoding="utf-8")):
                if not target.endswith("-"):
                    self.assertIn(target, known, path)


if __name__ == "__main__":
    unittest.main()
