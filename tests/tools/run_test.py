"""`vole run`, from an installed tree that was moved, and from the build's own."""

import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

VOLE = os.environ["VOLE_COMMAND"]
BUILD = os.environ["VOLE_BUILD_DIR"]
CMAKE = os.environ["VOLE_CMAKE"]
CXX = os.environ["VOLE_CXX"]

USES_VOLE = """\
#include <vole/go.h>
#include <cstdio>
int main(int argc, char** argv) {
  return vole::run([&] {
    for (int i = 1; i < argc; ++i) std::printf("%s\\n", argv[i]);
    return 7;
  });
}
"""
PLAIN = '#include <cstdio>\nint main() { std::puts("%s"); }\n'
WAITS = """\
#include <csignal>
#include <cstdio>
#include <unistd.h>
int main() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  std::puts("ready");
  std::fflush(stdout);
  int got = 0;
  sigwait(&set, &got);
  std::puts("told");
  return 3;
}
"""


def setUpModule():
    global holder, installed
    holder = tempfile.TemporaryDirectory()
    first, prefix = Path(holder.name, "first"), Path(holder.name, "moved")
    subprocess.run([CMAKE, "--install", BUILD, "--prefix", str(first)], check=True,
                   stdout=subprocess.DEVNULL)
    first.rename(prefix)
    [installed] = prefix.rglob("bin/vole")


def tearDownModule():
    holder.cleanup()


class Run(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.log = self.folder / "calls"
        self.compiler = self.folder / "counting-c++"
        self.compiler.write_text(f'#!/bin/sh\necho call >>"{self.log}"\nexec {CXX} "$@"\n')
        self.compiler.chmod(0o755)
        self.environment = {**os.environ, "CXX": str(self.compiler), "CXXFLAGS": "-O0",
                            "XDG_CACHE_HOME": str(self.folder / "cache")}

    def put(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *words, command=None, **changes):
        return subprocess.Popen([str(command or installed), "run", *map(str, words)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                errors="replace", env={**self.environment, **changes})

    def run_it(self, *words, **more):
        process = self.start(*words, **more)
        out, err = process.communicate()
        return process.returncode, out, err

    def calls(self):
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def assert_refused(self, words, *sentence, **more):
        status, out, err = self.run_it(*words, **more)
        self.assertEqual((status, out), (2, ""), err)
        self.assertEqual(err.count("\n"), 1, err)
        for part in sentence:
            self.assertIn(part, err)

    def test_arguments_and_status_are_the_programs(self):
        source = self.put("uses vole.cc", USES_VOLE)
        for command in (installed, Path(VOLE)):
            done = self.run_it(source, "-x", "--help", "a b", command=command)
            self.assertEqual(done, (7, "-x\n--help\na b\n", ""))

    def test_built_once_and_again_after_a_change(self):
        self.put("word.h", '#define WORD "first"\n')
        source = self.put("p.cc", '#include "word.h"\n#include <cstdio>\n'
                          "int main() { std::puts(WORD); }\n")
        for _ in range(2):
            self.assertEqual(self.run_it(source), (0, "first\n", ""))
        self.assertEqual(self.calls(), 1)
        self.put("word.h", '#define WORD "other"\n')  # as long as before
        self.assertEqual(self.run_it(source), (0, "other\n", ""))
        self.assertEqual(self.calls(), 2)
        self.assertEqual(self.run_it(source, CXXFLAGS="-O1"), (0, "other\n", ""))
        self.assertEqual(self.calls(), 3)
        source.write_text(PLAIN % "third")
        self.assertEqual(self.run_it(source), (0, "third\n", ""))

    def test_two_files_of_one_name_are_two_programs(self):
        for name in "ab":
            (self.folder / name).mkdir()
            self.put(f"{name}/p.cc", PLAIN % name)
        for name in "abab":
            self.assertEqual(self.run_it(self.folder / name / "p.cc"), (0, name + "\n", ""))

    def test_several_at_once_build_once(self):
        source = self.put("p.cc", PLAIN % "here")
        crowd = [self.start(source) for _ in range(6)]
        for one in crowd:
            out, err = one.communicate()
            self.assertEqual((one.returncode, out, err), (0, "here\n", ""))
        self.assertEqual(self.calls(), 1)

    def test_a_killed_build_is_built_again(self):
        gate = self.folder / "gate"
        os.mkfifo(gate)
        slow = self.put("slow-c++", f'#!/bin/sh\necho in >"{gate}"\nread line <"{gate}"\nexit 1\n')
        slow.chmod(0o755)
        source = self.put("p.cc", PLAIN % "whole")
        process = self.start(source, CXX=str(slow))
        gate.read_text()  # it is in the compiler
        process.kill()
        process.wait()
        gate.write_text("go\n")
        process.communicate()
        self.assertEqual(self.run_it(source), (0, "whole\n", ""))

    def test_the_compilers_words_and_status_are_passed_on(self):
        source = self.put("p.cc", "int main() { return nonsense; }\n")
        for _ in range(2):
            status, out, err = self.run_it(source)
            self.assertEqual((status, out), (1, ""))
            self.assertIn("nonsense", err)
        source.write_text(PLAIN % "mended")
        self.assertEqual(self.run_it(source), (0, "mended\n", ""))

    def test_signals_reach_the_program(self):
        process = self.start(self.put("p.cc", WAITS))
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGUSR1)
        out, _ = process.communicate()
        self.assertEqual((process.returncode, out), (3, "told\n"))

    def test_refusals(self):
        source = self.put("p.cc", PLAIN % "x")
        self.assert_refused([], "FILE.cc")
        self.assert_refused([self.folder / "none.cc"], "none.cc", "No such file")
        self.assert_refused([self.folder], "not a file")
        self.assert_refused([source], "no-such-compiler", CXX="no-such-compiler")
        self.assert_refused([source], "XDG_CACHE_HOME", XDG_CACHE_HOME="", HOME="")
        self.assert_refused([source], "p.cc/vole", XDG_CACHE_HOME=str(source))

    def test_a_cache_that_others_may_write_is_refused(self):
        (self.folder / "cache/vole").mkdir(parents=True)
        (self.folder / "cache/vole").chmod(0o777)
        self.assert_refused([self.put("p.cc", PLAIN % "x")], "may be written")

    def test_a_moved_command_says_what_it_misses(self):
        alone = self.folder / "bin/vole"
        alone.parent.mkdir()
        alone.write_bytes(Path(installed).read_bytes())
        alone.chmod(0o755)
        self.assert_refused([self.put("p.cc", PLAIN % "x")], "vole/vole.h is not there",
                            command=alone)


if __name__ == "__main__":
    unittest.main()
