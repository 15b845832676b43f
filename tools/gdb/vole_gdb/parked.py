"""One instant: which goroutine is on which thread, and the frames of those that are on none.

A parked goroutine is shown through a thread. While a command runs, an unwinder tells gdb that this
thread's innermost frame was called by the function in which the goroutine waits. Nothing is written
into the program, so this works on a core.
"""

import re
import struct

import gdb
from gdb.unwinder import Unwinder, register_unwinder

from .image import read
from .root import NOT_SAVED, Goroutine, Root


class Scene:
    """with Scene() as scene: thread and frame are afterwards selected as they were."""

    def __init__(self):
        self.root = Root.find()
        self.goroutines = {}
        for address, data in self.root.records(self.root.g_slab, self.root.g.bytes):
            g = Goroutine(self.root, address, data)
            if g.status not in ("idle", "dead"):
                self.goroutines[g.id] = g
        self.thread, self.frame = gdb.selected_thread(), gdb.selected_frame()
        real = gdb.newest_frame()
        self.sp, self.pc = (int(real.read_register(name)) for name in (self.root.sp, self.root.pc))
        self.find_threads()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.thread.switch()
        if self.frame.is_valid():
            self.frame.select()

    def find_threads(self):
        """self.on: the thread of each goroutine that is on one"""
        self.on, current = {}, {}
        for _, data in self.root.records(self.root.m_slab, self.root.m.bytes):
            curg, tid = (struct.unpack_from("<Q", data, at)[0]
                         for at in (self.root.m.curg, self.root.m.tid))
            if data[self.root.m.alive] and curg:
                current[tid] = curg
        by_page = {}  # of a goroutine's stack: 64 KiB each
        for g in self.goroutines.values():
            if g.started:
                for page in range(g.stack.start >> 16, (g.stack.stop >> 16) + 1):
                    by_page.setdefault(page, []).append(g)
        by_address = {g.address: g for g in self.goroutines.values()}
        try:
            for thread in gdb.selected_inferior().threads():
                thread.switch()
                sp = int(gdb.newest_frame().read_register(self.root.sp)) & (1 << 64) - 1
                here = [g for g in by_page.get(sp >> 16, ()) if sp in g.stack]
                g = by_address.get(current.get(thread.ptid[1]))
                # A thread whose stack pointer is elsewhere may be in a handler, on its own stack.
                if not here and g and g.status in ("running", "syscall", "preempted", "evicted"):
                    here = [g]
                self.on.update((g.id, thread) for g in here)
        finally:
            self.thread.switch()


# ── frames of a parked goroutine ──


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Parked(Unwinder):
    """While `visit` is set: the selected thread's real frame was called by a goroutine's."""

    def __init__(self):
        super().__init__("vole-parked")
        self.visit = None

    def __call__(self, pending):
        if self.visit is None:
            return None
        root, g, thread_sp, thread_pc = self.visit
        pc = pending.read_register(root.pc)
        if int(pending.read_register(root.sp)) != thread_sp or int(pc) != thread_pc:
            return None
        # Its frame has to lie below its caller's: gdb takes a stack that turns round for broken.
        info = pending.create_unwind_info(FrameId(gdb.Value(g.sp).cast(pc.type), pc))
        saved = read(g.sp, root.frame_bytes)
        for number, offset in enumerate(root.frame_at):
            name = root.registers.get(number)
            if offset == NOT_SAVED or name is None:
                continue
            value = gdb.Value(struct.unpack_from("<Q", saved, offset)[0])
            info.add_saved_register(name, value.cast(pending.read_register(name).type))
            if number == root.return_address and name != root.pc:
                info.add_saved_register(root.pc, value.cast(pc.type))
        sp = pending.read_register(root.sp)
        info.add_saved_register(root.sp, gdb.Value(g.sp + root.frame_bytes).cast(sp.type))
        return info


class Visit:
    """with Visit(scene, g) as visit: visit.frame is g's innermost one."""

    def __init__(self, scene, g):
        self.scene, self.g = scene, g
        self.first = 0  # the level of that frame

    def __enter__(self):
        g, scene = self.g, self.scene
        if g.id in scene.on:
            scene.on[g.id].switch()
            self.frame = gdb.newest_frame()
            return self
        if not g.started or not g.sp:
            raise gdb.GdbError(f"{g.title()} has not run yet: it has no stack.")
        if g.sp not in g.stack:
            raise gdb.GdbError(f"{g.title()} has no stack that can be read.")
        unwinder.visit = (scene.root, g, scene.sp, scene.pc)
        gdb.invalidate_cached_frames()
        try:
            frame = gdb.newest_frame()
            while frame.type() == gdb.INLINE_FRAME:
                frame, self.first = frame.older(), self.first + 1
            self.frame, self.first = frame.older(), self.first + 1
            if self.frame is None:
                raise gdb.GdbError(f"{g.title()}: its stack cannot be read.")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if unwinder.visit is not None:
            unwinder.visit = None
            gdb.invalidate_cached_frames()
        if self.g.id in self.scene.on:
            self.scene.thread.switch()

    def run(self, command):
        """A command in g's context. Levels are g's own: its innermost frame is #0."""
        self.frame.select()
        command = self.shifted(command.strip())
        if not re.match(r"(bt|backtrace|where|frame|f|up|down|faas)\b", command):
            gdb.execute(command)
            return
        text = gdb.execute(command, to_string=True)
        if re.match(r"(bt|backtrace|where)\b", command):  # without the thread that we look through
            start = re.search(rf"^#{self.first}\b", text, re.MULTILINE)
            text = text[start.start():] if start else text
        gdb.write(re.sub(r"^#(\d+)( *)", self.renumbered, text, flags=re.MULTILINE))

    def renumbered(self, match):
        level = f"#{int(match[1]) - self.first}"
        return level.ljust(len(match[0])) if match[2] else level

    def shifted(self, command):
        first = self.first
        if re.match(r"(bt|backtrace|where)\b", command):  # so many, of the innermost
            return re.sub(r"(?<=\s)\d+$", lambda m: str(first + int(m[0])), command)
        match = re.match(r"f(?:rame)?\s+(?:level\s+)?(\d+)$", command)
        if match:
            self.select(int(match[1]))
            return "frame"
        match = re.match(r"frame\s+apply\s+(all|level\s+(\d+)(?:-(\d+))?|\d+)\s+(.*)", command)
        if not match:
            return command
        if match[1] == "all":
            low, high = 0, self.last() - first
        elif match[2]:
            low, high = int(match[2]), int(match[3] or match[2])
        else:
            low, high = 0, int(match[1]) - 1
        return f"frame apply level {first + low}-{first + high} {match[4]}"

    @staticmethod
    def select(level):
        frame = gdb.selected_frame()
        for _ in range(level):
            frame = frame.older()
            if frame is None:
                raise gdb.GdbError(f"There is no frame {level}.")
        frame.select()

    @staticmethod
    def last():
        frame = gdb.selected_frame()
        while frame.older() is not None:
            frame = frame.older()
        return frame.level()


unwinder = Parked()


def register():
    register_unwinder(None, unwinder, replace=True)
