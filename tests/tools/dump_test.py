"""`vole dump`: live processes and cores of the kernel's. What it says is what the program's own dump
says, and what cannot be looked at is a sentence and status 2."""

import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

VOLE = os.environ["VOLE_COMMAND"]
TOOLS = Path(os.environ["VOLE_TOOLS_DIR"])
CHILD = TOOLS / "outside_child"
RELEASE = TOOLS / "outside_release"  # optimised, no debug information at all


def vole(*arguments, **options):
    return subprocess.run([VOLE, *map(str, arguments)], capture_output=True, text=True,
                          errors="replace", **options)


class Child:
    """outside_child at work; `own` is the dump that it printed of itself, if it does."""

    def __init__(self, *words, program=CHILD, folder=None, environment=None):
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        self.process = subprocess.Popen(
            [str(program), *map(str, words)], stdout=subprocess.PIPE, text=True, cwd=folder,
            env={**os.environ, **(environment or {})},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)))
        self.pid = self.process.pid
        lines = []
        for line in self.process.stdout:
            if line == "READY\n":
                break
            lines.append(line)
        self.own = "".join(lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def timeless(dump):
    """All of it but how long they have waited"""
    return re.sub(r"(?m)^(.* \[waiting.*?), (?:\d+ m?s to )?\d+ m?s(?=[,\]])", r"\1", dump)


def blocks_of(dump):
    """[(goroutines, state, frames, creator)]; times, addresses and what else may be said left out"""
    found = []
    for block in dump.strip().split("\n\n"):
        if block.startswith("These goroutines wait for each other"):
            continue
        head, *lines = block.split("\n")
        match = re.match(r"((?:goroutine|\d+ goroutines) .*?) \[([^\],]*(?:, [a-z][^\],]*)?)", head)
        assert match, head
        creator = next((i for i, line in enumerate(lines) if line.startswith("created by")), None)
        assert creator is not None, block
        pairs = list(zip(lines, lines[1:] + [""]))
        frames = [(line, place) for line, place in pairs[:creator]
                  if re.match(r"\t.*:\d+$", place) and not line.startswith("\t")]
        found.append((match[1], match[2], frames, lines[creator]))
    return found


class Dump(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def dump(self, *arguments):
        done = vole("dump", *arguments)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def assert_refused(self, words, *arguments, **options):
        done = vole("dump", *arguments, **options)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)

    # ── the same as from inside ──

    def test_parked_in_all_ways_is_as_in_the_programs_own_dump(self):
        with Child("parked") as child:
            said = self.dump(child.pid)
            self.assertEqual(timeless(said), timeless(child.own))
        ours = blocks_of(said)
        text = str(ours)
        for reason in ("chan receive", "chan send", "mutex", "shared mutex (read)",
                       "shared mutex (write)", "semaphore", "condition variable", "sleep",
                       "chan receive (nil channel)", "select", "wait group"):
            self.assertIn(f"'waiting, {reason}'", text)
        self.assertIn("app::deep(int)", text)
        very_deep = next(b for b in said.split("\n\n") if "(very deep)" in b)
        self.assertIn("\n(only the innermost 100 calls are looked at)\ncreated by", very_deep)

    def test_deadlocked_process_is_shown(self):
        with Child("deadlocked") as child:
            said = self.dump(child.pid)
            self.assertEqual(timeless(said), timeless(child.own))
            everything = self.dump("--frames", "all", child.pid)
        self.assertIn("\nvole::mutex::lock()\n", everything.replace("v0::", ""))
        self.assertNotIn("\nvole::mutex::lock()\n", said.replace("v0::", ""))
        self.assertTrue(said.startswith("These goroutines wait for each other"), said)
        self.assertEqual(len(re.findall(r", probably held by goroutine \d+\]", said)), 2, said)
        ours = blocks_of(said)
        self.assertEqual([state for _, state, _, _ in ours].count("waiting, mutex"), 2)

    def test_hostile_names_are_harmless_in_text_and_valid_in_json(self):
        with Child("named") as child:
            text = self.dump(child.pid)
            goroutines = json.loads(child.own)
        self.assertIn("(a\\x1b[2J\\x0a", text)
        self.assertNotIn("\x1b", text)
        names = [g["name"] for g in goroutines]
        self.assertIn("a\x1b[2J\n\ufffd\"\\ü", names)
        self.assertEqual([g["holder"] for g in goroutines if g["wait_reason"] == "mutex"], [1])
        for g in goroutines:
            for frame in g["stack"]:
                self.assertTrue(frame["function"], g)

    def test_output_that_cannot_be_written_is_no_success(self):
        with Child("deadlocked") as child, open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([VOLE, "dump", str(child.pid)], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("could not be written", done.stderr)

    def test_a_thousand_with_one_stack_are_one_block(self):
        with Child("many") as child:
            ours = blocks_of(self.dump(child.pid))
        self.assertEqual(len(ours), 3)
        self.assertTrue(ours[1][0].startswith("1000 goroutines ("), ours[1])

    # ── who runs ──

    def stacks_of_spinners(self, child, n):
        text = self.dump(child.pid)
        found = 0
        for block in text.strip().split("\n\n"):
            if "app::spin()\n" in block:
                self.assertRegex(block, r"\[(running|evicted|preempted|runnable)\]:\n")
                if "[preempted]" in block:  # the handler that holds it is not shown
                    self.assertNotIn("\nsyscall\n", block)
                count = re.match(r"(\d+) goroutines", block)
                found += int(count[1]) if count else 1
        self.assertEqual(found, n, text)

    def test_every_p_spins_and_all_are_shown_with_their_calls(self):
        with Child("spinning", 5) as child:
            for _ in range(5):
                self.stacks_of_spinners(child, 5)

    def test_captured_goroutines_of_strict_mode_are_shown_with_their_calls(self):
        with Child("spinning", 5, environment={"VOLE_DEBUG": "strictprocs=1"}) as child:
            for _ in range(10):
                self.stacks_of_spinners(child, 5)

    def test_the_process_goes_on(self):
        def used(pid):
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            return fields[0], int(fields[11]) + int(fields[12])

        with Child("spinning", 2) as child:
            for _ in range(20):
                self.dump(child.pid)
            before = used(child.pid)[1]
            while used(child.pid)[1] == before:  # it spins on; the test's limit is ctest's
                time.sleep(0.01)
            status = Path(f"/proc/{child.pid}/status").read_text(encoding="utf-8")
            self.assertIn("TracerPid:\t0", status)
            self.assertIsNone(child.process.poll())

    # ── without debug information, stripped, deleted ──

    def test_optimised_and_without_debug_information_names_come_from_symbols(self):
        if not RELEASE.exists():
            self.skipTest("this build is the optimised one")
        with Child("parked", program=RELEASE) as child:
            text = self.dump(child.pid)
        for name in ("receive", "send", "lock", "lock_shared", "acquire", "doze", "choose"):
            self.assertIn(f"app::{name}()\n", text)
        self.assertIn("[waiting, shared mutex (write)", text)

    def test_stripped_program_still_shows_its_goroutines(self):
        program = self.folder / "stripped"
        source = RELEASE if RELEASE.exists() else CHILD
        subprocess.run(["strip", "-o", program, source], check=True)
        with Child("parked", program=program) as child:
            text = self.dump(child.pid)
        heads = re.findall(r"^goroutine .*", text, flags=re.MULTILINE)
        self.assertEqual(len(heads), 16, text)
        self.assertRegex(text, r"(?m)^program\+0x[0-9a-f]+$")

    def test_deleted_program_is_looked_at_all_the_same(self):
        program = self.folder / "deleted"
        shutil.copy(CHILD, program)
        with Child("deadlocked", program=program) as child:
            program.unlink()
            self.assertEqual(timeless(self.dump(child.pid)), timeless(child.own))

    # ── cores ──

    def core_of(self, child):
        """The kernel's core of the child, which ends; None: it makes none here, or elsewhere."""
        child.process.send_signal(6)
        child.process.wait()
        pattern = Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8")
        found = list(self.folder.glob("core*"))
        if not found:
            self.skipTest(f"no core file: core_pattern is {pattern!r}, the limit "
                          f"{resource.getrlimit(resource.RLIMIT_CORE)}")
        return found[0]

    def test_core_is_as_the_live_process(self):
        with Child("parked", folder=self.folder) as child:
            core = self.core_of(child)
            self.assertEqual(timeless(self.dump("--core", core, CHILD)), timeless(child.own))
            self.core_is_refused_or_read(core)

    def core_is_refused_or_read(self, core):
        self.assert_refused("build ids differ", "--core", core, VOLE)
        self.assert_refused("is not an ELF file", "--core", core, __file__)
        self.assert_refused("cannot open", "--core", core, self.folder / "nothing")
        size = core.stat().st_size
        for part in (0, 10, 64, 100, 4096, 100_000, size // 3, size // 2, size - 4096):
            cut = self.folder / "cut"
            with open(core, "rb") as whole, open(cut, "wb") as out:
                out.write(whole.read(part))
            done = vole("dump", "--core", cut, CHILD)
            self.assertIn(done.returncode, (0, 2), done)
            self.assertEqual(done.stderr.count("\n"), 1, done)

    def test_core_of_a_program_that_spins(self):
        with Child("spinning", 3, folder=self.folder) as child:
            core = self.core_of(child)
            self.assertIn("app::spin()\n", self.dump("--core", core, CHILD))

    # ── what cannot be looked at ──

    def test_bad_arguments_are_refused(self):
        self.assert_refused("required")
        self.assert_refused("not the number of a process", "x17")
        self.assert_refused("not the number of a process", "0")
        self.assert_refused("not the number of a process", "99999999999999999999")
        self.assert_refused("there is no process", "2147483647")
        self.assert_refused("is not a core file", "--core", CHILD, CHILD)
        self.assert_refused("is not an ELF file", "--core", __file__, CHILD)
        self.assert_refused("is not a file", "--core", "/dev/null", CHILD)
        self.assert_refused("required", "--core", CHILD)
        self.assert_refused("--frames", "--frames", "some", "1")

    def test_process_without_vole_is_refused(self):
        self.assert_refused("there is no vole in process", os.getpid())

    def test_program_that_has_not_started_its_runtime_has_no_goroutines(self):
        with Child("plain") as child:
            self.assertIn("no goroutines", self.dump(child.pid))

    def test_process_that_has_ended_is_refused(self):
        with Child("plain") as child:
            pid = child.pid
            child.process.kill()
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # a zombie
            self.assert_refused(f"process {pid}", pid)
        self.assert_refused("there is no process", pid)

    def test_other_users_process_is_refused(self):
        if os.getuid() != 0:
            self.skipTest("only root can be somebody else")
        self.folder.chmod(0o755)
        command = shutil.copy(VOLE, self.folder / "vole")
        with Child("deadlocked") as child:
            done = subprocess.run([command, "dump", str(child.pid)], capture_output=True, text=True,
                                  user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stderr.count("\n"), 1, done)
        self.assertIn("not permitted", done.stderr)

    def test_process_that_dies_while_it_is_read_is_a_sentence(self):
        for i in range(12):
            with Child("count", 3000) as child:
                looking = subprocess.Popen([VOLE, "dump", str(child.pid)], text=True,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                time.sleep(i * 0.005)  # any moment will do
                child.process.kill()
                said = looking.communicate()[1]
            self.assertIn(looking.returncode, (0, 2), said)
            self.assertEqual(said.count("\n"), 1 if looking.returncode == 2 else 0, said)


if __name__ == "__main__":
    unittest.main()
