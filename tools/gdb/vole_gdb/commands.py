"""`info goroutines` and `goroutine`."""

import re

import gdb

from .parked import Scene, Visit


def symbol_at(pc):
    """As the linker knows it: a lambda with the function that it is in."""
    text = gdb.execute(f"info symbol {pc:#x}", to_string=True)
    name = re.sub(r"( \+ \d+)? in section .*", "", text, flags=re.DOTALL)
    if name == text:
        return ""
    return re.sub(r"\{lambda\([^}]*\)#(\d+)\}::operator\(\)(<.*>)?\(.*\)( const)?$",
                  r"{lambda#\1}", name)


def place_of(frame):
    name = frame.name() or f"{frame.pc():#x}"
    if name == "operator()" and frame.type() == gdb.NORMAL_FRAME:
        name = symbol_at(frame.pc()) or name
    line = frame.find_sal()
    if line.symtab is not None:
        name += f" at {line.symtab.filename}:{line.line}"
    return name


def is_plumbing(frame):
    return (frame.name() or "").startswith(("vole::", "vole_", "std::"))


def interrupted(innermost):
    """Strict mode: the frame that a signal stopped, behind those of its handler."""
    frame = innermost
    while frame is not None and frame.type() != gdb.SIGTRAMP_FRAME:
        frame = frame.older()
    return frame and frame.older() or innermost


def where(scene, g):
    """The innermost function of the user's, as far as that can be told."""
    try:
        with Visit(scene, g) as visit:
            frame = first = interrupted(visit.frame) if g.status == "preempted" else visit.frame
            while frame is not None and is_plumbing(frame):
                frame = frame.older()
            return "in " + place_of(frame or first)
    except gdb.GdbError:
        return "has not run yet" if not g.started else "has no stack that can be read"
    except gdb.error as problem:
        return f"cannot be read: {problem}"


def creation(g):
    by = f"goroutine {g.parent}" if g.parent else "a plain thread"
    text = f"created by {by} in {symbol_at(g.created_at - 1) or hex(g.created_at)}"
    line = gdb.find_pc_line(g.created_at - 1)
    if line.symtab is not None and "/vole/" not in line.symtab.filename:  # go() was not inlined
        text += f" at {line.symtab.filename}:{line.line}"
    return text


class InfoGoroutines(gdb.Command):
    """List the goroutines: status, what each waits for, and where it is.
Usage: info goroutines"""

    def __init__(self):
        super().__init__("info goroutines", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("info goroutines takes no arguments.")
        with Scene() as scene:
            if not scene.goroutines:
                gdb.write("No goroutines.\n")
            for number in sorted(scene.goroutines):
                g = scene.goroutines[number]
                thread = scene.on.get(number)
                mark = "*" if thread is not None and thread.num == scene.thread.num else " "
                on = f" on thread {thread.num}" if thread is not None else ""
                gdb.write(f"{mark} {g.title()}{on} {where(scene, g)}\n")


class GoroutineCommand(gdb.Command):
    """Apply a command to a goroutine, or to all of them.
Usage: goroutine N|all [COMMAND]
`goroutine 7 bt` shows the stack of goroutine 7, `goroutine 7 frame apply 3 info locals` the
variables of its three innermost functions. Without COMMAND: where it is and who created it."""

    def __init__(self):
        super().__init__("goroutine", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split(None, 1)
        if not words or not (words[0] == "all" or words[0].isdigit()):
            raise gdb.GdbError("Usage: goroutine N|all [COMMAND], for instance: goroutine 7 bt")
        command = words[1] if len(words) > 1 else None
        with Scene() as scene:
            if words[0] == "all":
                self.apply_to_all(scene, command)
            elif int(words[0]) not in scene.goroutines:
                raise gdb.GdbError(f"There is no goroutine {words[0]}.")
            elif command is None:
                g = scene.goroutines[int(words[0])]
                gdb.write(f"{g.title()} {where(scene, g)}\n{creation(g)}\n")
            else:
                self.apply(scene, scene.goroutines[int(words[0])], command)

    def apply_to_all(self, scene, command):
        for number in sorted(scene.goroutines):
            g = scene.goroutines[number]
            gdb.write(f"\n{g.title()}:\n")
            try:
                if command is not None:
                    self.apply(scene, g, command)
            except (gdb.error, gdb.GdbError) as problem:
                gdb.write(f"{problem}\n")

    @staticmethod
    def apply(scene, g, command):
        with Visit(scene, g) as visit:
            visit.run(command)


def register():
    InfoGoroutines()
    GoroutineCommand()
