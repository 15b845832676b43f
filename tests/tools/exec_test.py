"""`vole exec`: an unmodified program's main on a goroutine, or a sentence why not."""

import os
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

VOLE = os.environ["VOLE_COMMAND"]
CXX = os.environ["VOLE_CXX"]

WAITS = """\
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int s[2];
  char to[8];
  socketpair(AF_UNIX, SOCK_STREAM, 0, s);
  if (fork() == 0) {
    usleep(20000);
    write(s[1], "hello", 5);
    _exit(0);
  }
  printf("%zd bytes\\n", read(s[0], to, 8));
  wait(0);
  printf("%d arguments, %s\\n", argc, argc > 1 ? argv[1] : "");
  printf("LD_PRELOAD=%s\\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "");
  return 7;
}
"""
STATIC = "int main() { return 0; }\n"


def vole(*arguments, **settings):
    return subprocess.run([VOLE, *arguments], capture_output=True, text=True, errors="replace",
                          timeout=60, env={**os.environ, **settings})


class Exec(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.folder = Path(self.holder.name)

    def build(self, text, *flags):
        source, program = self.folder / "program.c", self.folder / "program"
        source.write_text(text, encoding="utf-8")
        subprocess.run([CXX, "-w", "-x", "c++", str(source), "-o", str(program), *flags], check=True)
        return str(program)

    def assert_refused(self, arguments, words):
        done = vole("exec", *arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)

    def test_main_waits_parked_and_keeps_arguments_and_status(self):
        program = self.build(WAITS)
        done = vole("exec", program, "--help", VOLE_DEBUG="hooks=1,storm=100")
        self.assertEqual(done.returncode, 7, done)
        self.assertEqual(done.stdout, "5 bytes\n2 arguments, --help\nLD_PRELOAD=\n")
        self.assertRegex(done.stderr, r"vole: hooks: read: 1 calls, [1-9]\d* parked")

    def test_other_preloaded_libraries_stay(self):
        done = vole("exec", self.build(WAITS), LD_PRELOAD="libm.so.6")
        self.assertIn("LD_PRELOAD=libm.so.6\n", done.stdout)

    def test_the_program_is_found_in_path(self):
        done = vole("exec", "sh", "-c", "echo $0 $1; exit 3", "a", "b")
        self.assertEqual((done.returncode, done.stdout), (3, "a b\n"))

    def test_missing_programs_are_refused(self):
        self.assert_refused(["no-such-program"], "no folder of $PATH has it")
        self.assert_refused(["/nowhere/at/all"], "it is not there")
        self.assert_refused([str(self.folder)], "it is not a program")
        self.assert_refused([], "which PROGRAM?")

    def test_a_static_program_is_refused(self):
        self.assert_refused([self.build(STATIC, "-static")], "is a static program")

    def test_a_program_with_privileges_is_refused(self):
        program = self.build(STATIC)
        os.chmod(program, 0o755 | stat.S_ISUID)
        if os.geteuid() != 0:
            self.skipTest("only root can make one that belongs to somebody else")
        os.chown(program, 1, 1)
        os.chmod(program, 0o755 | stat.S_ISUID)
        self.assert_refused([program], "privileges of its own")

    def test_without_the_library_it_is_refused(self):
        there = self.folder / "bin"
        there.mkdir()
        command = there / "vole"
        command.write_bytes(Path(VOLE).read_bytes())
        command.chmod(0o755)
        done = subprocess.run([str(command), "exec", "true"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("no library to preload", done.stderr)


if __name__ == "__main__":
    unittest.main()
