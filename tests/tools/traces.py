"""What the tests of `vole trace` share: sample traces, and running the command."""

import os
import shutil
import subprocess
import tempfile
import unittest

VOLE = os.environ["VOLE_COMMAND"]
SAMPLES = os.path.join(os.environ["VOLE_TOOLS_DIR"], "trace_samples_child")
VIEWER = os.path.join(os.environ["VOLE_SOURCE_DIR"], "tools/viewer/test")
NODE = shutil.which("node") or shutil.which("nodejs")


def vole(*arguments):
    return subprocess.run([VOLE, "trace", *arguments], capture_output=True, text=True,
                          errors="replace")


class TraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def sample(self, name):
        path = self.path(name + ".trace")
        subprocess.run([SAMPLES, name, path], check=True)
        return path

    def file(self, name, content):
        path = self.path(name)
        with open(path, "wb") as out:
            out.write(content)
        return path

    def made_by_node(self, expression):
        """A trace of tools/viewer/test/workload.mjs, e.g. "small()"."""
        path = self.path("node.trace")
        script = (f'import * as w from "{VIEWER}/workload.mjs";'
                  f'import {{ writeFileSync }} from "node:fs";'
                  f'writeFileSync("{path}", w.{expression}.file());')
        subprocess.run([NODE, "--input-type=module", "--eval", script], check=True)
        return path

    def assert_refused(self, arguments, words):
        done = vole(*arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)
