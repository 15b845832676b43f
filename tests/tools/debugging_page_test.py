"""docs/debugging.md: its commands are typed as they are printed, but for the number of the process."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from looked_at import TOOLS, Child

PAGE = Path(os.environ["VOLE_SOURCE_DIR"]) / "docs/debugging.md"


class DebuggingPage(unittest.TestCase):
    def test_its_commands_do_what_they_say(self):
        if any(shutil.which(each) is None for each in ("gdb", "lldb", "eu-stack")):
            self.skipTest("there is no gdb, lldb or eu-stack")
        blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
        self.assertEqual(len(blocks), 1, "this test knows one block")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "app").symlink_to(TOOLS / "parked_child")
            path = f"{Path(os.environ['VOLE_COMMAND']).parent}:{os.environ['PATH']}"
            with Child(TOOLS / "parked_child", folder) as child:
                self.run_line(f"vole core take {child.pid} --plain -o core", folder, path)
                for line in blocks[0].splitlines():
                    said = self.run_line(line.replace("4711", str(child.pid)), folder, path)
                    if line.startswith("eu-stack"):
                        self.assertIn("vole_goroutine_start", said)
                self.assertEqual(child.end(), 7, "it goes on afterwards")

    def run_line(self, line, folder, path):
        done = subprocess.run(["bash", "-c", line], cwd=folder, stdin=subprocess.DEVNULL, text=True,
                              env={**os.environ, "PATH": path}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace", timeout=200)
        # eu-stack gives 1 where a stack does not end as it expects; what it shows is looked at.
        self.assertIn(done.returncode, (0, 1) if line.startswith("eu-stack") else (0,),
                      f"{line}\n{done.stdout}")
        return done.stdout


if __name__ == "__main__":
    unittest.main()
