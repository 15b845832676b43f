"""Follows a page as a reader would: saves its files, types its commands, compares what it promises.

A block that names a file (```cpp hello.cc, ```cpp no-run server.cc) is saved under that name. An sh block is typed line by line into
one bash, so that `&`, `%1` and `wait` mean what they mean in a terminal; after a line that ends in & we
wait for the first line of output, as a reader would. A block without a language right after an sh block is
what that block prints last, to the letter. check_readme.py uses this.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.M | re.S)
MARK = "follow_page: the command has ended with"


class Reader:
    """A bash in a folder, typed into line by line."""

    def __init__(self, folder, environment):
        self.shell = subprocess.Popen(["bash"], cwd=folder, env=environment, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, errors="replace", bufsize=1,
                                      start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Nothing that was started here goes on, however the page ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.communicate()

    def type(self, line):
        """Runs one line; its output. A line that fails ends the test."""
        self.shell.stdin.write(f"{line}\necho \"{MARK} $?\"\n")
        self.shell.stdin.flush()
        said, is_over, wanted = [], False, line.rstrip().endswith("&")
        while not is_over or (wanted and not said):
            text = self.shell.stdout.readline()
            if text == "":
                sys.exit(f"{line}\n{''.join(said)}the shell has ended")
            if text.startswith(MARK):
                is_over = True
                if text.split()[-1] != "0":
                    sys.exit(f"{line}\n{''.join(said)}status {text.split()[-1]}")
            else:
                said.append(text)
        return "".join(said)


def follow(text, folder, environment, change=lambda text: text):
    """Does what the page says, in that folder. `change` is applied to every command and promise."""
    with Reader(folder, environment) as reader:
        go_through(FENCE.findall(text), folder, reader, change)


def go_through(found, folder, reader, change):
    said = None
    for info, body in found:
        words = info.split()
        for name in (word for word in words[1:] if "." in word):
            (folder / name).write_text(body, encoding="utf-8")
        if words == ["sh"]:
            said = "".join(reader.type(line) for line in change(body).splitlines() if line)
            if "warning:" in said:
                sys.exit(f"{body}{said}")
            continue
        if not words and said is not None and not said.endswith(change(body)):
            sys.exit(f"the page promises\n{change(body)}but it was\n{said}")
        said = None
