"""The gdb script: on a live process and on a core of the kernel's, vole with debug information and
without, stripped, and as a shared library. Names and lines are those of the program's own dump."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from looked_at import SCRIPT, TOOLS, Child, gdb, goroutines_of, own_frames, plain


class Gdb(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def blocks(self, text):
        """{id: text} of `goroutine all bt`"""
        parts = re.split(r"^goroutine (\d+)\b.*\[.*\]:\n", text, flags=re.MULTILINE)
        # The last one is followed by what other commands print.
        return {int(number): re.sub(r"(?s)(vole_goroutine_start .*?\n).*", r"\1", part)
                for number, part in zip(parts[1::2], parts[2::2])}

    def assert_same_as(self, dump, text):
        blocks = self.blocks(text)
        expected = goroutines_of(dump)
        self.assertEqual(sorted(blocks), sorted(expected), text)
        for number, (state, _, frames) in expected.items():
            if not state.startswith("waiting"):
                continue
            self.assertTrue(frames, dump)
            self.assertEqual([(plain(f), at) for f, at in own_frames(blocks[number])],
                             [(plain(f), at) for f, at in frames], blocks[number])
            self.assertRegex(blocks[number], r"^#0 ")
            self.assertIn(" vole_goroutine_start ", blocks[number])
        for number, function in ((9, "field::blocks_in_the_kernel"), (10, "field::spins")):
            self.assertIn(function, blocks[number])  # on a thread: the dump has no stack of it

    def look(self, dump, target):
        out, err = gdb("info goroutines", "goroutine all bt", "goroutine 4 frame 0", "bt",
                       target=target)
        self.assertNotIn("Traceback", err)
        self.assertNotIn("Python Exception", err)
        for number, (state, name, _) in goroutines_of(dump).items():
            title = f"goroutine {number}" + (f" ({name})" if name else "")
            if state.startswith("waiting"):
                why = state.split(", ")[1]
                self.assertRegex(out, rf"(?m)^  {re.escape(title)} \[waiting, {why}[^]]*\] "
                                 r"in (field::|operator\(\))")
        self.assert_same_as(dump, out)

    def test_live(self):
        for kind in ("child", "release", "shared"):
            with self.subTest(kind), Child(TOOLS / f"parked_{kind}") as child:
                self.look(child.dump, ["-p", child.pid])
                self.assertEqual(child.end(), 7, "it goes on afterwards")

    def test_core(self):
        pattern = Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8").strip()
        if "/" in pattern or "|" in pattern or "%" in pattern:
            self.skipTest(f"cores go elsewhere here: {pattern}")
        for kind in ("child", "release", "shared"):
            folder = self.folder / kind
            folder.mkdir()
            with self.subTest(kind), Child(TOOLS / f"parked_{kind}", folder) as child:
                self.assertEqual(child.end("abort\n"), -6)
                cores = list(folder.iterdir())
                if not cores:
                    self.skipTest("no core was written: the limit is below its size")
                self.look(child.dump, [child.program, cores[0]])

    def test_stripped(self):
        program = self.folder / "stripped"
        subprocess.run(["strip", "-o", program, TOOLS / "parked_release"], check=True)
        with Child(program) as child:
            out, err = gdb("info goroutines", "goroutine 4 bt", target=["-p", child.pid])
            self.assertNotIn("Traceback", err)
            expected = goroutines_of(child.dump)
            self.assertRegex(out, r"(?m)^  goroutine 5 \(locksmith\) \[waiting, mutex, on 0x")
            self.assertEqual(len(re.findall(r"(?m)^[ *] goroutine \d+ ", out)), len(expected), out)
            # As deep as where there are names: to the goroutine's first function.
            self.assertGreaterEqual(len(re.findall(r"(?m)^#\d+ ", out)), 6, out)

    def test_levels_and_frames_are_the_goroutines_own(self):
        with Child(TOOLS / "parked_child") as child:
            out, err = gdb("info registers rip", "goroutine 4 bt 2", "goroutine 4 frame 1",
                           "goroutine 4 frame apply level 0-1 print 11",
                           "goroutine 4 frame apply 1 print 12", "goroutine 4 frame apply all print 13",
                           "goroutine 4", "info registers rip", target=["-p", child.pid])
            self.assertNotIn("Traceback", err)
            levels = re.findall(r"(?m)^#(\d+) ", out)
            self.assertEqual(levels[:7], ["0", "1", "1", "0", "1", "0", "0"], out)
            self.assertEqual((out.count(" = 11\n"), out.count(" = 12\n")), (2, 1), out)
            self.assertGreater(out.count(" = 13\n"), 8)
            self.assertIn("created by a plain thread in field::start()", out)
            registers = re.findall(r"(?m)^rip .*$", out)
            self.assertEqual(len(registers), 2, out)
            self.assertEqual(registers[0], registers[1], "the thread is as it was")

    def test_what_is_not_there_is_said(self):
        with Child(TOOLS / "parked_child") as child:
            out, err = gdb("goroutine 99 bt", "goroutine", "goroutine x bt", "info goroutines 3",
                           target=["-p", child.pid])
            self.assertIn("There is no goroutine 99.", err)
            self.assertEqual(err.count("Usage: goroutine N|all"), 2, err)
            self.assertIn("takes no arguments", err)
            self.assertNotIn("Traceback", err)
        out, err = gdb("info goroutines", target=[TOOLS / "parked_child"])
        self.assertIn("no process and no core", err)
        out, err = gdb("break main", "run", "info goroutines", target=["/bin/true"])
        self.assertNotIn("Traceback", err)
        out, err = gdb("starti", "info goroutines", "kill", target=["/bin/true"])
        self.assertIn("no vole in this program", err)

    def test_loads_by_itself_for_a_static_library(self):
        prefix = self.folder / "prefix"
        done = subprocess.run([os.environ["VOLE_CMAKE"], "--install", os.environ["VOLE_BUILD_DIR"],
                               "--prefix", str(prefix)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        [auto] = prefix.glob("**/gdb/auto-load")
        script = auto / "vole/vole-gdb.py"
        self.assertTrue(script.exists())
        # The program names the script of the prefix that it was configured for: here, of this one.
        program, section = self.folder / "program", self.folder / "section"
        subprocess.run(["objcopy", "--dump-section", f".debug_gdb_scripts={section}",
                        TOOLS / "parked_release", program], check=True)
        kind, path, rest = section.read_bytes().split(b"\x01", 1)[0], *section.read_bytes()[1:].split(
            b"\0", 1)
        self.assertEqual((kind, rest), (b"", b""))
        self.assertTrue(path.endswith(b"/gdb/auto-load/vole/vole-gdb.py"), path)
        section.write_bytes(b"\x01" + bytes(script) + b"\0")
        subprocess.run(["objcopy", "--update-section", f".debug_gdb_scripts={section}", program],
                       check=True)
        with Child(program) as child:
            out, err = gdb("info goroutines", script=None, target=[
                "-iex", f"set auto-load safe-path {auto}", "-p", child.pid])
            self.assertIn("goroutine 5 (locksmith) [waiting, mutex", out, err)
        self.assertEqual(list(prefix.rglob("__pycache__")), [])

    def test_loads_by_itself_beside_a_shared_library(self):
        auto = self.folder / "share/gdb/auto-load"
        place = Path(str(auto) + str(TOOLS.resolve()))
        place.mkdir(parents=True)
        shutil.copytree(SCRIPT.parent, self.folder / "share/vole/gdb")
        text = (Path(os.environ["VOLE_SOURCE_DIR"]) / "cmake/vole-gdb.py.in").read_text()
        text = text.replace("@vole_gdb_relative@",
                            os.path.relpath(self.folder / "share/vole/gdb", place))
        library = (TOOLS / "libvole.so").resolve().name
        (place / f"{library}-gdb.py").write_text(text)
        with Child(TOOLS / "parked_shared") as child:
            out, err = gdb("info goroutines", script=None, target=[
                "-iex", f"set auto-load safe-path {auto}",
                "-iex", f"set auto-load scripts-directory {auto}", "-p", child.pid])
            self.assertIn("goroutine 5 (locksmith) [waiting, mutex", out, err)
        self.assertEqual(list((self.folder / "share").rglob("__pycache__")), [])


if __name__ == "__main__":
    unittest.main()
