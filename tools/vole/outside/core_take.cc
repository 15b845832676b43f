#include "core_take.h"

#include <elf.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "../refusal.h"
#include "core_mappings.h"
#include "core_output.h"
#include "pause.h"
#include "proc.h"
#include "registers.h"
#include "root_reader.h"
#include "target.h"

namespace vole_command::outside {
namespace {

constexpr std::uint64_t kPage = 4096;

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// ── notes ──

// From the fields behind the name in /proc/PID/stat: state, parent, group, session.
struct process_line {
  char state = 'R';
  int parent = 0, group = 0, session = 0;
};

process_line line_of(int pid) {
  const std::string text = file_text("/proc/" + std::to_string(pid) + "/stat");
  process_line p;
  const std::size_t name = text.rfind(')');
  if (name != std::string::npos)
    std::sscanf(text.c_str() + name + 1, " %c %d %d %d", &p.state, &p.parent, &p.group, &p.session);
  return p;
}

bool register_set(int tid, int type, std::vector<char>& to) {
  to.resize(1 << 16);
  iovec where{to.data(), to.size()};
  if (::ptrace(PTRACE_GETREGSET, tid, type, &where) != 0) return false;
  to.resize(where.iov_len);
  return true;
}

void put_process(std::string& notes, int pid, const process_line& line) {
  elf_prpsinfo info = {};
  info.pr_state = 0;
  info.pr_sname = line.state;
  info.pr_zomb = line.state == 'Z' ? 1 : 0;
  info.pr_pid = pid;
  info.pr_ppid = line.parent;
  info.pr_pgrp = line.group;
  info.pr_sid = line.session;
  const std::string folder = "/proc/" + std::to_string(pid);
  std::string name = file_text(folder + "/comm");
  if (name.ends_with('\n')) name.pop_back();
  std::strncpy(info.pr_fname, name.c_str(), sizeof info.pr_fname - 1);
  std::string words = file_text(folder + "/cmdline");
  std::replace(words.begin(), words.end(), '\0', ' ');
  words.copy(info.pr_psargs, sizeof info.pr_psargs - 1);
  put_note(notes, NT_PRPSINFO, &info, sizeof info);
}

// How many, the size of a page, {from, to, page in the file} of each, then their names.
void put_files(std::string& notes, const std::vector<core_mapping>& mappings) {
  std::vector<std::uint64_t> numbers{0, kPage};
  std::string names;
  for (const core_mapping& m : mappings) {
    if (!m.is_file()) continue;
    ++numbers[0];
    numbers.insert(numbers.end(), {m.from, m.to, m.offset / kPage});
    names.append(m.path.c_str(), m.path.size() + 1);
  }
  std::string content(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 8);
  content += names;
  put_note(notes, NT_FILE, content.data(), content.size());
}

// The kernel's order: of the first thread its state, then what is the process's, then the rest.
void put_thread(std::string& notes, int tid, const process_line& line, const std::string& between) {
  std::vector<char> general, floating, extended;
  if (!register_set(tid, NT_PRSTATUS, general)) return;
  const bool has_floating = register_set(tid, NT_FPREGSET, floating);
  elf_prstatus status = {};
  status.pr_pid = tid;
  status.pr_ppid = line.parent;
  status.pr_pgrp = line.group;
  status.pr_sid = line.session;
  status.pr_fpvalid = has_floating ? 1 : 0;
  std::memcpy(&status.pr_reg, general.data(), std::min(general.size(), sizeof status.pr_reg));
  put_note(notes, NT_PRSTATUS, &status, sizeof status);
  notes += between;
  if (has_floating) put_note(notes, NT_FPREGSET, floating.data(), floating.size());
#if defined(__x86_64__)
  if (register_set(tid, NT_X86_XSTATE, extended))
    put_note(notes, NT_X86_XSTATE, extended.data(), extended.size(), "LINUX");
#endif
}

std::string notes_of(int pid, const pause& standing, const std::vector<core_mapping>& mappings) {
  const process_line line = line_of(pid);
  std::string once;
  put_process(once, pid, line);
  const std::string auxiliary = file_text("/proc/" + std::to_string(pid) + "/auxv");
  put_note(once, NT_AUXV, auxiliary.data(), auxiliary.size());
  put_files(once, mappings);
  std::string notes;
  for (const thread_registers& t : standing.threads()) {
    put_thread(notes, t.tid, line, once);
    once.clear();
  }
  return notes;
}

// ── memory ──

// Pages that cannot be read stay holes.
std::uint64_t copy_run(int pid, page_run run, std::uint64_t to, output_file& out,
                       std::vector<char>& buffer) {
  std::uint64_t copied = 0;
  while (run.from < run.to) {
    const std::size_t most = std::min<std::uint64_t>(buffer.size(), run.to - run.from);
    const iovec mine{buffer.data(), most};
    const iovec theirs{reinterpret_cast<void*>(run.from), most};
    const ssize_t n = ::process_vm_readv(pid, &mine, 1, &theirs, 1, 0);
    if (n < 0 && errno == ESRCH)
      throw refusal("process " + std::to_string(pid) + " ended while it was read");
    const std::uint64_t got = n > 0 ? static_cast<std::uint64_t>(n) / kPage * kPage : 0;
    if (got != 0) out.write(to, buffer.data(), got);
    copied += got;
    const std::uint64_t skip = got != 0 ? got : kPage;
    run.from += skip;
    to += skip;
  }
  return copied;
}

Elf64_Ehdr file_header(std::size_t segments) {
  Elf64_Ehdr h = {};
  std::memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64;
  h.e_ident[EI_DATA] = ELFDATA2LSB;
  h.e_ident[EI_VERSION] = EV_CURRENT;
  h.e_type = ET_CORE;
  h.e_machine = kMachine;
  h.e_version = EV_CURRENT;
  h.e_phoff = sizeof h;
  h.e_ehsize = sizeof h;
  h.e_phentsize = sizeof(Elf64_Phdr);
  h.e_phnum = static_cast<Elf64_Half>(segments);
  return h;
}

std::vector<Elf64_Phdr> segments_of(const std::vector<core_mapping>& mappings,
                                    std::size_t note_bytes) {
  std::vector<Elf64_Phdr> all(1);
  std::uint64_t at = sizeof(Elf64_Ehdr) + (mappings.size() + 1) * sizeof(Elf64_Phdr);
  all[0].p_type = PT_NOTE;
  all[0].p_offset = at;
  all[0].p_filesz = note_bytes;
  all[0].p_align = 4;
  at = (at + note_bytes + kPage - 1) / kPage * kPage;
  for (const core_mapping& m : mappings) {
    Elf64_Phdr h = {};
    h.p_type = PT_LOAD;
    h.p_flags = (m.readable ? PF_R : 0u) | (m.writable ? PF_W : 0u) | (m.executable ? PF_X : 0u);
    h.p_offset = at;
    h.p_vaddr = m.from;
    h.p_memsz = m.to - m.from;
    h.p_filesz = m.bytes_wanted();
    h.p_align = kPage;
    at += h.p_filesz;
    all.push_back(h);
  }
  return all;
}

void write_core(int pid, const pause& standing, output_file& out, taken_core* result) {
  const std::vector<core_mapping> mappings = core_mappings_of(pid);
  if (mappings.size() >= PN_XNUM - 1)
    throw refusal("process " + std::to_string(pid) + " has more mappings than a core file holds");
  const std::string notes = notes_of(pid, standing, mappings);
  const std::vector<Elf64_Phdr> segments = segments_of(mappings, notes.size());
  const Elf64_Ehdr head = file_header(segments.size());
  out.write(0, &head, sizeof head);
  out.write(sizeof head, segments.data(), segments.size() * sizeof(Elf64_Phdr));
  out.write(segments[0].p_offset, notes.data(), notes.size());
  std::vector<char> buffer(1 << 20);
  std::uint64_t end = segments[0].p_offset + notes.size();
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const Elf64_Phdr& h = segments[i + 1];
    if (h.p_filesz == 0) continue;
    end = h.p_offset + h.p_filesz;
    // Of a file that was written to, pages that were not touched are in the file, and not zero.
    const bool all = mappings[i].is_file() || mappings[i].path == "[vdso]";
    const std::uint64_t to = h.p_vaddr + h.p_filesz;
    const std::vector<page_run> runs =
        all ? std::vector<page_run>{{h.p_vaddr, to}} : touched_pages(pid, h.p_vaddr, to);
    for (const page_run& run : runs)
      result->bytes += copy_run(pid, run, h.p_offset + (run.from - h.p_vaddr), out, buffer);
  }
  out.set_size(end);
}

}  // namespace

taken_core take_core(int asked, const std::string& path) {
  const std::shared_ptr<const target> t = target::of_process(asked);
  find_root(*t);  // refuses a process without vole before anything is stopped
  const int pid = t->pid();
  output_file out(path, output_file::fresh);
  taken_core result;
  result.process = t;
  for (const module& m : t->modules())
    if (m.is_program) result.program = "/proc/self/fd/" + std::to_string(m.file.fd());
  pause standing(pid, [pid] { return threads_of(pid); });
  result.threads = standing.threads().size();
  if (result.threads == 0)
    throw refusal("there is no process " + std::to_string(pid) + ", or it has just ended");
  write_core(pid, standing, out, &result);
  standing.end();
  result.paused_ms = standing.milliseconds();
  return result;
}

}  // namespace vole_command::outside
