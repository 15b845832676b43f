"""What the program's root says (src/root/root.h), and the records that it leads to.

The root is found by an ELF note, so neither symbols nor debug information of vole are needed.
"""

import struct

import gdb

from .image import library_modules, main_module, read, read_text, read_word

POINTERS = "g_slab m_slab p_slab sched land start sources note"
PLACES = {
    "slab": "record_bytes first next used records largest",
    "g": "bytes status why flags started_flag locked_flag sp waiting_since stack_lo stack_bytes "
         "object id parent created_at invoke name name_text name_bytes",
    "m": "bytes in_rt hot_p p curg locked_g call alive idle polling spinning zombie captured "
         "alternate_stack id tid",
}
COUNT_AFTER_M = 18 + 13  # p, sched: not needed here
STATUSES, REASONS, REGISTERS, NOT_SAVED = (8, 16), (64, 32), 33, 0xffff
MOST_CHUNKS = 1 << 14  # of 4 MiB each
# DWARF numbers, for each machine in ELF's numbering: registers, stack pointer, return address.
MACHINES = {
    62: ({3: "rbx", 6: "rbp", 12: "r12", 13: "r13", 14: "r14", 15: "r15", 16: "rip"},
         "rsp", "rip", 16),
    183: ({n: f"x{n}" for n in range(19, 31)}, "sp", "pc", 30),
}


class Root:
    VERSION = 1

    def __init__(self, at):
        magic, version, size, machine, pointer, _ = struct.unpack("<8sIIHHI", read(at, 24))
        if magic != b"voleroot":
            raise gdb.GdbError("vole: the program's note leads to something else.")
        if version != self.VERSION or pointer != 8 or machine not in MACHINES:
            raise gdb.GdbError(f"vole: this script knows version {self.VERSION} of vole's layout, "
                               f"the program has version {version}.")
        self.registers, self.sp, self.pc, self.return_address = MACHINES[machine]
        data, self.at = read(at, size), 24
        self.take(data, POINTERS, "Q", self)
        for name, fields in PLACES.items():
            setattr(self, name, self.take(data, fields, "I", type("places", (), {})()))
        self.at += 4 * COUNT_AFTER_M
        self.frame_bytes, *self.frame_at = struct.unpack_from(f"<{1 + REGISTERS}H", data, self.at)
        self.at += 2 * (1 + REGISTERS) + 4
        self.statuses = self.take_names(data, *STATUSES)
        self.reasons = self.take_names(data, *REASONS)

    def take(self, data, fields, kind, to):
        for name in fields.split():
            setattr(to, name, struct.unpack_from("<" + kind, data, self.at)[0])
            self.at += struct.calcsize(kind)
        return to

    def take_names(self, data, count, size):
        texts = [data[self.at + i * size :][:size] for i in range(count)]
        self.at += count * size
        return [text.split(b"\0")[0].decode() for text in texts]

    @staticmethod
    def find():
        if gdb.selected_inferior().pid == 0 or gdb.selected_thread() is None:
            raise gdb.GdbError("vole: no process and no core.")
        try:
            program = main_module()
            for module in (program, *library_modules(program)):
                for name, kind, address, content in module.notes():
                    if name == b"vole" and kind == 1 and len(content) == 8:
                        return Root(address + struct.unpack("<q", content)[0])
        except (KeyError, OSError, struct.error, gdb.MemoryError) as problem:
            raise gdb.GdbError(f"vole: cannot read what is loaded in this process: {problem}")
        raise gdb.GdbError("vole: there is no vole in this program.")

    def records(self, slab, size):
        """(address, bytes) of every record that was ever used"""
        chunk = read_word(slab + self.slab.first)
        step = read_word(slab + self.slab.record_bytes)
        seen = set()
        while chunk and len(seen) < MOST_CHUNKS:
            if chunk in seen:
                raise gdb.GdbError("vole: the records are damaged: they lead in a circle.")
            seen.add(chunk)
            used = read_word(chunk + self.slab.used)
            if step < size or used * step > self.slab.largest:
                raise gdb.GdbError("vole: the records are damaged.")
            first = chunk + self.slab.records
            data = read(first, used * step)
            for i in range(used):
                yield first + i * step, data[i * step : i * step + size]
            chunk = read_word(chunk + self.slab.next)


class Goroutine:
    def __init__(self, root, address, data):
        def word(offset, kind="Q"):
            return struct.unpack_from("<" + kind, data, offset)[0]

        g = root.g
        self.address, self.id, self.parent = address, word(g.id), word(g.parent)
        self.status = root.statuses[word(g.status, "B") % len(root.statuses)]
        self.why = root.reasons[word(g.why, "B") % len(root.reasons)]
        flags = word(g.flags, "B")
        self.started, self.locked = flags & g.started_flag != 0, flags & g.locked_flag != 0
        self.sp, self.object, self.created_at = word(g.sp), word(g.object), word(g.created_at)
        self.stack = range(word(g.stack_lo), word(g.stack_lo) + word(g.stack_bytes, "I"))
        name = word(g.name)
        self.name = read_text(name + g.name_text, g.name_bytes) if name else ""

    def title(self):
        text = f"goroutine {self.id}"
        if self.name:
            text += f" ({self.name})"
        text += f" [{self.status}"
        if self.status == "waiting":
            text += f", {self.why}" if self.why else ""
            text += f", on {self.object:#x}" if self.object else ""
        return text + (", locked to thread]" if self.locked else "]")
