"""The control socket: it answers its owner while every P spins, and nobody can hold it up."""

import array
import json
import os
import random
import shutil
import socket
import stat
import subprocess
import tempfile
import time
import unittest

from traces import VOLE

PROMTOOL = shutil.which("promtool")
CHILD = os.path.join(os.environ["VOLE_TOOLS_DIR"], "control_child")


class Program:
    """One of control_child's, with a folder of its own for sockets."""

    def __init__(self, scenario, folder, debug="control=1"):
        environment = dict(os.environ, VOLE_DEBUG=debug, VOLE_MAXPROCS="2",
                           XDG_RUNTIME_DIR=folder)
        self.process = subprocess.Popen([CHILD, scenario], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())
        self.path = os.path.join(folder, "vole", str(self.pid))

    def connect(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.connect(self.path)
        s.settimeout(120)
        return s

    def ask(self, request):
        with self.connect() as s:
            s.sendall(request)
            return answer_of(s)

    def end(self):
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err


def answer_of(s):
    parts = []
    while True:
        try:
            part = s.recv(65536)
        except ConnectionResetError:  # it left something of ours unread
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)


class Control(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o700)

    def program(self, scenario, debug="control=1"):
        p = Program(scenario, self.folder, debug)

        def clean():
            p.process.kill()
            p.process.wait()
            for pipe in (p.process.stdin, p.process.stdout, p.process.stderr):
                pipe.close()
        self.addCleanup(clean)
        return p

    @staticmethod
    def pipes_of(pid):
        found = set()
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                found.add(os.stat(f"/proc/{pid}/fd/{fd}").st_ino)
            except FileNotFoundError:  # closed meanwhile
                pass
        return found

    def assert_ends_well(self, p):
        self.assertEqual(p.end(), (0, "", ""))
        self.assertFalse(os.path.exists(p.path))

    def test_it_answers_while_every_p_spins(self):
        p = self.program("spin")
        self.assertRegex(p.ask(b"version\n"), r"^ok\n\d+\.\d+\.\d+\n$")
        self.assertRegex(p.ask(b"metrics\n"), r"(?m)^vole_procs 2$")
        self.assertRegex(p.ask(b"dump\n"), r"^ok\n.*goroutine")
        self.assert_ends_well(p)

    @unittest.skipUnless(PROMTOOL, "no promtool (prometheus)")
    def test_metrics_are_what_prometheus_reads(self):
        p = self.program("idle")
        answer = p.ask(b"metrics\n")
        self.assertTrue(answer.startswith("ok\n"))
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=answer[3:], text=True,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assert_ends_well(p)

    def test_only_the_owner_may_come_near(self):
        p = self.program("idle")
        self.assertEqual(stat.S_IMODE(os.stat(p.path).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(p.path)).st_mode), 0o700)
        self.assertIn("(parked)", p.ask(b"dump\n"))
        self.assert_ends_well(p)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_another_user_is_turned_away_by_the_kernels_word(self):
        p = self.program("idle")
        for path in (self.folder, os.path.dirname(p.path), p.path):
            os.chmod(path, 0o777)  # as if modes did not protect it
        script = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
                  "try:\n  s.sendall(b'version\\n'); print(s.recv(100))\n"
                  "except OSError: print(b'')")
        done = subprocess.run(["/usr/bin/python3", "-c", script, p.path], user=65534, group=65534,
                              capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("b''\n", ""))
        self.assert_ends_well(p)

    def record(self, p, seconds):
        out = os.path.join(self.folder, "out.trace")
        return out, subprocess.Popen([VOLE, "trace", "record", str(p.pid), "-s", str(seconds),
                                      "-o", out], stderr=subprocess.PIPE, text=True)

    def assert_recorded(self, out, recording):
        err = recording.communicate()[1]
        self.assertEqual((recording.returncode, err), (0, ""))
        done = subprocess.run([VOLE, "trace", "check", out], capture_output=True, text=True)
        if "events were lost" in done.stdout:  # the machine was too busy to write them
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done)
        done = subprocess.run([VOLE, "trace", "summary", "--json", out], capture_output=True,
                              text=True, check=True)
        summary = json.loads(done.stdout)
        states = sum(sum(f["states"].values()) for f in summary["functions"])
        self.assertAlmostEqual(states, summary["lifetimes"], delta=1 + states * 1e-9)
        self.assertGreaterEqual(summary["goroutines"], 3)
        return summary

    def test_a_trace_is_recorded_while_every_p_spins(self):
        p = self.program("spin")
        summary = self.assert_recorded(*self.record(p, 1))
        self.assertEqual(len(summary["ps"]), 2)
        self.assert_ends_well(p)

    def test_the_programs_end_is_the_traces(self):
        p = self.program("idle")
        out, recording = self.record(p, 3600)
        while not (os.path.exists(out) and os.path.getsize(out) > 0):
            self.assertIsNone(recording.poll())
            time.sleep(0.01)
        self.assert_ends_well(p)
        summary = self.assert_recorded(out, recording)
        self.assertGreater(summary["events"], 0)

    def ask_for_trace(self, s, seconds):
        with open(os.path.join(self.folder, "asked"), "wb") as file:
            s.sendmsg([b"trace %d\n" % seconds], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                                  array.array("i", [file.fileno()]))])

    def test_one_trace_at_a_time_and_it_ends_when_its_client_goes(self):
        p = self.program("idle")
        first = p.connect()
        self.ask_for_trace(first, 3600)
        with p.connect() as second:  # comes after it
            self.ask_for_trace(second, 1)
            self.assertIn("already", answer_of(second))
        self.assertEqual(p.ask(b"version\n")[:3], "ok\n")
        first.close()
        answer = "already"
        while "already" in answer:
            with p.connect() as again:
                self.ask_for_trace(again, 1)
                answer = answer_of(again)
        self.assertEqual(answer, "ok\n")
        self.assert_ends_well(p)

    def test_without_control_there_is_no_socket(self):
        p = self.program("idle", "control=0")
        self.assertFalse(os.path.exists(p.path))
        done = subprocess.run([VOLE, "trace", "record", str(p.pid), "-o", self.folder + "/x"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("VOLE_DEBUG=control=1", done.stderr)
        self.assertFalse(os.path.exists(self.folder + "/x"))
        self.assert_ends_well(p)

    def test_a_folder_that_is_not_ours_alone_is_refused(self):
        folder = os.path.join(self.folder, "vole")
        elsewhere = os.path.join(self.folder, "elsewhere")
        os.mkdir(elsewhere, 0o700)
        for prepare in (lambda: os.symlink(elsewhere, folder), lambda: os.mkdir(folder, 0o755)):
            prepare()
            p = self.program("idle")
            code, _, err = p.end()
            self.assertEqual(code, 0)
            self.assertIn("vole: there is no control socket: its folder", err)
            self.assertEqual(os.listdir(elsewhere), [])
            os.unlink(folder) if os.path.islink(folder) else os.rmdir(folder)

    def test_hostile_clients_have_no_effect(self):
        p = self.program("idle")
        self.assertEqual(p.ask(b"burrow\n"), "error: there is no such request\n")
        self.assertEqual(p.ask(b"\n"), "error: there is no such request\n")
        self.assertEqual(p.ask(b"x" * 5000), "")
        self.assertEqual(p.ask(bytes(range(256)) * 4), "error: there is no such request\n")
        self.assertIn("seconds from 1", p.ask(b"trace -1\n") + p.ask(b"trace\n"))
        self.assertIn("needs a file", p.ask(b"trace 1\n"))
        quiet = [p.connect() for _ in range(3)]  # they say nothing, and go when we do
        gone = p.connect()
        gone.sendall(b"dump\n")
        gone.close()
        lazy = p.connect()  # asks, and takes nothing
        lazy.sendall(b"dump\n")
        for s in quiet:
            s.close()
        self.assertTrue(p.ask(b"version\n").startswith("ok"))
        lazy.close()
        self.assert_ends_well(p)

    def test_nonsense_is_answered(self):
        p = self.program("idle")
        seed = int(os.environ.get("VOLE_SEED", random.randrange(1 << 31)))
        draw = random.Random(seed)
        words = [b"version", b"dump", b"metrics", b"trace", b" ", b"1", b"-", b"99999999999999999999", b"\0",
                 b"\n", b"\xff", b"x" * 300]
        for i in range(150):
            asked = b"".join(draw.choice(words) for _ in range(draw.randrange(6)))
            asked += bytes(draw.randrange(256) for _ in range(draw.randrange(4))) + b"\n"
            answer = p.ask(asked)
            self.assertTrue(answer.startswith(("ok", "error: ")) or not answer,
                            f"VOLE_SEED={seed}, request {i}, {asked!r}: {answer[:100]!r}")
        self.assertTrue(p.ask(b"version\n").startswith("ok"))
        self.assert_ends_well(p)

    def test_descriptors_that_are_no_files_are_refused_and_closed(self):
        p = self.program("idle")
        reading, writing = os.pipe()
        with open("/dev/null", "rb") as read_only:
            for fds in ([writing], [read_only.fileno()], [writing] * 4, [writing] * 30):
                with p.connect() as s:
                    s.sendmsg([b"trace 1\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                               array.array("i", fds))])
                    self.assertIn("needs a file", answer_of(s))
        self.assertNotIn(os.fstat(writing).st_ino, self.pipes_of(p.pid))
        os.close(reading)
        os.close(writing)
        self.assertEqual(p.ask(b"version\n")[:2], "ok")
        self.assert_ends_well(p)

    def test_the_end_of_the_program_waits_for_no_client(self):
        p = self.program("idle")
        held = [p.connect() for _ in range(2)]
        held[0].sendall(b"du")
        self.assert_ends_well(p)
        for s in held:
            s.close()

    def test_runtimes_that_come_and_go_leave_nothing(self):
        p = self.program("restart")
        self.assertEqual(os.listdir(os.path.join(self.folder, "vole")), [])
        self.assert_ends_well(p)

    def test_a_stale_socket_is_removed(self):
        p = self.program("idle")
        p.process.kill()
        p.process.wait()
        self.assertTrue(os.path.exists(p.path))
        again = self.program("idle")
        os.rename(p.path, again.path)  # as if the number had been used before
        done = subprocess.run([VOLE, "trace", "record", str(again.pid), "-o", self.folder + "/x"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertFalse(os.path.exists(again.path))

    def test_its_thread_is_no_hope_in_a_deadlock(self):
        done = subprocess.run([CHILD, "deadlock"], capture_output=True, text=True,
                              env=dict(os.environ, VOLE_DEBUG="control=1",
                                       XDG_RUNTIME_DIR=self.folder))
        self.assertIn("all goroutines are asleep - deadlock!", done.stderr)


if __name__ == "__main__":
    unittest.main()
