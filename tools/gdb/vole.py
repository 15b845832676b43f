"""Goroutines in gdb: `info goroutines`, `goroutine N COMMAND`, `goroutine all COMMAND`.

Works on live processes and on cores, with or without vole's debug information, and writes nothing
into the program: neither memory nor registers. Needs gdb 10 or newer.

    (gdb) source /usr/local/share/vole/gdb/vole.py

Where vole is installed under gdb's own prefix, gdb does that by itself.
"""

import os
import sys


def load(folder):
    """The code is a module, since what gdb sources shares its names with all that it sources."""
    keep = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    try:
        import vole_gdb  # noqa: F401
    finally:
        sys.path.remove(folder)
        sys.dont_write_bytecode = keep


load(os.path.dirname(os.path.realpath(__file__)))
del load
