"""The memory of the program, and the ELF files that lie in it."""

import re
import struct

import gdb


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def read_word(address):
    return struct.unpack("<Q", read(address, 8))[0]


def read_text(address, longest=4096):
    text = b""
    while len(text) < longest:
        # Up to the end of the page, since the next one may not be there.
        part = read(address + len(text), 4096 - (address + len(text)) % 4096)
        end = part.find(b"\0")
        if end >= 0:
            return (text + part[:end]).decode("utf-8", "replace")
        text += part
    return text.decode("utf-8", "replace")


PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_PHDR = 1, 2, 4, 6
AT_PHDR, AT_PHNUM, DT_DEBUG = 3, 5, 21


class Module:
    """A program or library as it lies in memory; its file, for what a core does not hold."""

    def __init__(self, path):
        self.path, self.bias, self.headers = path, 0, []

    def read(self, offset, address, size):
        try:
            return read(address, size)
        except gdb.error:
            with open(self.path, "rb") as file:
                file.seek(offset)
                return file.read(size)

    def take_headers(self, data):
        # (type, offset, vaddr, filesz, align)
        fields = struct.iter_unpack("<IIQQQQQQ", data[: len(data) // 56 * 56])
        self.headers = [(f[0], f[2], f[3], f[5], f[7]) for f in fields]

    def notes(self):
        """(name, type, address of the content, content)"""
        for kind, offset, vaddr, size, align in self.headers:
            if kind != PT_NOTE or size > 1 << 20:
                continue
            data, step, at = self.read(offset, self.bias + vaddr, size), 8 if align == 8 else 4, 0
            while at + 12 <= len(data):
                name_size, content_size, note_type = struct.unpack_from("<III", data, at)
                content = -(-(at + 12 + name_size) // step) * step
                name = data[at + 12 : at + 12 + name_size].rstrip(b"\0")
                yield name, note_type, self.bias + vaddr + content, \
                    data[content : content + content_size]
                at = -(-(content + content_size) // step) * step


def main_module():
    auxiliary = {}
    for line in gdb.execute("info auxv", to_string=True).splitlines():
        match = re.match(r"(\d+)\s.*\s(0x[0-9a-f]+|\d+)$", line)
        if match:
            auxiliary[int(match[1])] = int(match[2], 0)
    module = Module(gdb.current_progspace().filename or "")
    at = auxiliary[AT_PHDR]
    # Behind the ELF header, in every file that a linker makes.
    module.take_headers(module.read(64, at, auxiliary[AT_PHNUM] * 56))
    for kind, offset, vaddr, _, _ in module.headers:
        if kind == PT_PHDR or (kind == PT_LOAD and offset == 0):
            module.bias = at - vaddr - (64 if kind == PT_LOAD else 0)
            break
    return module


def library_modules(program):
    """Those in the loader's list; none in a static program."""
    entries = ()
    for kind, _, vaddr, size, _ in program.headers:
        if kind == PT_DYNAMIC:
            entries = struct.iter_unpack("<QQ", read(program.bias + vaddr, size // 16 * 16))
    debug = next((value for tag, value in entries if tag == DT_DEBUG and value), None)
    entry = read_word(debug + 8) if debug else 0
    seen = set()  # a damaged core may lead in a circle
    while entry and entry not in seen:
        seen.add(entry)
        bias, name, _, entry = struct.unpack("<QQQQ", read(entry, 32))
        module = Module(read_text(name) if name else "")
        module.bias = bias
        try:
            head = module.read(0, bias, 64)
            if head[:4] == b"\x7fELF":
                offset, count = struct.unpack_from("<Q", head, 32)[0], \
                    struct.unpack_from("<H", head, 56)[0]
                module.take_headers(module.read(offset, bias + offset, count * 56))
                yield module
        except (gdb.error, OSError):
            pass  # the vdso, or a file that is gone
