"""Goroutines in gdb."""

from . import commands, parked

parked.register()
commands.register()
