"""Compiles and links one mutant beside a build that is there, without touching it.

The mutated file lies alone in a folder that comes first on the include path. A unit that was
compiled anew is linked in front of the library, which then does not give its own. Of a program that
holds the tests of many files, only the file in question is linked.
"""

import json
import shlex
import shutil
import subprocess
from pathlib import Path

from catalogue import HOOKS, RELEASE


class BuildError(Exception):
    pass


def _run(command, directory):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Build:
    """A configured and built tree, as cmake left it."""

    def __init__(self, root, directory, scratch):
        self.root, self.directory, self.scratch = Path(root), Path(directory), Path(scratch)
        commands = json.loads((self.directory / "compile_commands.json").read_text())
        self._compile = {}
        for entry in commands:
            words = shlex.split(entry["command"])
            self._compile[words[words.index("-o") + 1]] = words
        self._tests = self._read_tests()
        cache = (self.directory / "CMakeCache.txt").read_text()
        self._launcher = [line.partition("=")[2] for line in cache.splitlines()
                          if line.startswith("VOLE_CCACHE_PROGRAM:") and "NOTFOUND" not in line]

    def _read_tests(self):
        """{a test's name: (the target that has it, its source)}, of the lists beside the programs"""
        found = {}
        for path in (self.directory / "tests").glob("*.files"):
            for line in path.read_text().splitlines():
                source, name = line.split()
                found[name] = (path.stem, source)
        return found

    def sources(self):
        """{a test's name: its source}, of those that share a program"""
        return {name: source for name, (_, source) in self._tests.items()}

    def test_target(self, name):
        """The target, and the program, that has this test."""
        return f"{HOOKS}_hooked" if name == HOOKS else self._tests.get(name, (name, None))[0]

    def test_program(self, name):
        folder = "hooks" if name == HOOKS else "tests"
        return self.directory / folder / self.test_target(name)

    def make(self, targets, jobs):
        _run(["cmake", "--build", str(self.directory), "--parallel", str(jobs), "--target", *targets],
             self.root)

    def target(self, mutant):
        return f"crash_{mutant.child}" if mutant.child else self.test_target(mutant.program)

    def _object(self, owner, unit):
        name = f"CMakeFiles/{owner}.dir/{unit}.o"
        return name if name in self._compile else None

    def _own_objects(self, mutant):
        """Of the program's own objects, those that the test consists of."""
        target = self.target(mutant)
        _, source = self._tests.get(mutant.program, (None, None))
        if source is not None and not mutant.child:
            return [self._object(target, source)]
        return [name for name in self._compile if name.startswith(f"CMakeFiles/{target}.dir/")]

    def _units(self, mutant):
        """The objects to be compiled anew."""
        target = self.target(mutant)
        library = "vole_optimised" if mutant.program.startswith(RELEASE) else "vole"
        own = self._own_objects(mutant)
        units = mutant.units or ((mutant.file,) if mutant.file.endswith(".cc") else ())
        found = []
        for unit in units:
            name = (self._object(target, unit) or self._object(library, unit)
                    or self._object("vole_preemptible", unit)
                    or self._object("vole_hooks_archive", unit))
            if name is None:
                raise BuildError(f"{mutant.name}: nobody compiles {unit}")
            found.append(name)
        return found or own

    def _compile_unit(self, name, mutant, folder):
        words = list(self._compile[name])
        source = Path(words[words.index("-c") + 1])
        changed = folder / source.relative_to(self.root)
        output = folder / (Path(name).as_posix().replace("/", "_"))
        words[words.index("-o") + 1] = str(output)
        words[words.index("-c") + 1] = str(changed if changed.is_file() else source)
        if mutant.file.startswith("include/") and "-include" in words:  # it has the file compiled in
            at = words.index("-include")
            del words[at:at + 2]
        first = [f"-I{folder / sub}" for sub in ("src", "include")]
        _run([*self._launcher, words[0], *first, *words[1:], "-w", "-g0"], self.directory)
        return str(output)

    def mutate(self, mutant):
        """Builds its program. Returns the path."""
        folder = self.scratch / mutant.name
        shutil.rmtree(folder, ignore_errors=True)
        changed = folder / mutant.file
        changed.parent.mkdir(parents=True)
        changed.write_text(mutant.apply(self.root), encoding="utf-8")
        units = self._units(mutant)
        objects = [self._compile_unit(name, mutant, folder) for name in units]
        target = self.program(mutant)
        link = _run(["ninja", "-t", "commands", "-s", str(target.relative_to(self.directory))],
                    self.directory)
        others = f"CMakeFiles/{self.target(mutant)}.dir/"
        keep = set(self._own_objects(mutant))
        words = [w for w in shlex.split(link.strip().removeprefix(": &&").removesuffix("&& :"))
                 if w not in units and (w in keep or not w.startswith(others))]
        output = folder / target.name
        if mutant.program == HOOKS:  # all of an archive is linked; what comes before it counts
            whole = next(i for i, w in enumerate(words) if w.startswith("-Wl,--whole-archive"))
            words[whole:whole] = [*objects, "-Wl,--allow-multiple-definition"]
            objects = []
        at = words.index("-o")
        _run([*words[:at], *objects, "-o", str(output), *words[at + 2:]], self.directory)
        return output

    def program(self, mutant):
        """Where the unmutated one lies."""
        if mutant.child:
            return self.directory / "crash" / mutant.child
        return self.test_program(mutant.program)

    def drop(self, mutant):
        shutil.rmtree(self.scratch / mutant.name, ignore_errors=True)
