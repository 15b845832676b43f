"""`vole top`: one page of a process, and the view in a terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import unittest

from dump_test import VOLE, Child, vole


class Terminal:
    """`vole top` in a terminal of its own."""

    def __init__(self, pid, rows, columns):
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.slave, self.before = slave, termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            [VOLE, "top", "--interval", "50", str(pid)], stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.text = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, pattern):
        """Everything up to and with the pattern; as long as it takes."""
        while not re.search(pattern, self.text):
            if len(self.text) < 1 << 22 and select.select([self.master], [], [], 60)[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace")
            else:
                raise AssertionError(f"{pattern!r} did not come: {self.text[-2000:]!r}")
        at = re.search(pattern, self.text).end()
        found, self.text = self.text[:at], self.text[at:]
        return found

    def key(self, text):
        os.write(self.master, text.encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class Top(unittest.TestCase):
    def page(self, child, *more):
        done = vole("top", "--once", "--interval", "50", child.pid, *more)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_page_counts_goroutines_by_function_and_state(self):
        with Child("many") as child:
            text = self.page(child)
        self.assertIn(f"process {child.pid}", text)
        self.assertRegex(text, r"(?m)^goroutines 1002: 1002 waiting$")
        self.assertRegex(text, r"(?m)^ +1000 +\d+\.\d s  chan receive +.*many\(\)::\{lambda#1\}")
        self.assertRegex(text, r"(?m)^switches \S+/s  steals \S+/s  evictions \S+/s")

    def test_page_says_what_ps_run(self):
        with Child("spinning", 3) as child:
            # A P may just be on its way from one thread to another: then another look.
            text = ""
            while not re.search(r"(?m)^ +\d+ +\d+ .*  goroutine \d+ .*spinning\(int\)", text):
                text = self.page(child)
        self.assertIn("(spin\\x1b[2J)", text)  # its name does not reach the terminal as it is
        self.assertNotIn("\x1b", text)

    def test_terminal_is_refreshed_resizes_and_q_quits(self):
        with Child("many") as child, Terminal(child.pid, 30, 120) as terminal:
            terminal.read_until("chan receive")
            terminal.read_until("vole top: process")  # again
            terminal.resize(3, 20)
            terminal.process.send_signal(signal.SIGWINCH)
            small = terminal.read_until(r"\x1b\[Hvole top: process[^\x1b]*\x1b\[K\r+\n"
                                        r"[^\x1b]*\x1b\[K\r+\n[^\x1b]*\x1b\[K\x1b\[J")
            self.assertLessEqual(len(re.findall(r"vole top[^\x1b]*", small)[-1]), 20)
            terminal.key("q")
            terminal.read_until(r"\x1b\[\?1049l")
            self.assertEqual(terminal.process.wait(), 0)
            self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)

    def test_process_that_ends_is_a_sentence(self):
        with Child("many") as child, Terminal(child.pid, 30, 120) as terminal:
            terminal.read_until("chan receive")
            child.process.kill()
            child.process.wait()
            terminal.read_until("has ended")
            self.assertEqual(terminal.process.wait(), 2)

    def test_no_terminal_is_refused(self):
        with Child("many") as child:
            done = vole("top", child.pid, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--once", done.stderr)

    def test_bad_arguments_are_refused(self):
        for arguments in ([], ["x"], ["2147483647"], [str(os.getpid())], ["1", "--interval", "0"]):
            done = vole("top", "--once", *arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertEqual(done.stderr.count("\n"), 1, done)


if __name__ == "__main__":
    unittest.main()
