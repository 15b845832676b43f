"""`vole` itself: its subcommands are there, and a bad argument is a sentence and status 2."""

import os
import subprocess
import unittest

VOLE = os.environ["VOLE_COMMAND"]


def vole(*arguments):
    return subprocess.run([VOLE, *arguments], capture_output=True, text=True, errors="replace")


class Command(unittest.TestCase):
    def assert_refused(self, arguments, words):
        done = vole(*arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)

    def test_version_is_the_librarys(self):
        done = vole("version")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"^vole \d+\.\d+\.\d+\n$")

    def test_help_names_every_command(self):
        done = vole("--help")
        self.assertEqual(done.returncode, 0, done)
        for name in ("core", "dump", "exec", "run", "top", "trace", "version"):
            self.assertRegex(done.stdout, rf"(?m)^ +{name}\b")

    def test_no_command_is_refused(self):
        self.assert_refused([], "subcommand is required")

    def test_unknown_command_is_refused(self):
        self.assert_refused(["burrow"], "vole --help")

    def test_unknown_option_is_refused(self):
        self.assert_refused(["version", "--loud"], "--loud")

    def assert_lost(self, done):
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(b"could not be written", done.stderr)

    def test_output_that_cannot_be_written_is_a_sentence(self):
        for arguments in (["version"], ["--help"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([VOLE, *arguments], stdout=full, stderr=subprocess.PIPE)
            self.assert_lost(done)

    def test_closed_output_is_a_sentence(self):
        self.assert_lost(subprocess.run(["sh", "-c", '"$0" version >&-', VOLE],
                                        stderr=subprocess.PIPE))


if __name__ == "__main__":
    unittest.main()
