#include "core_threads.h"

#include <sys/procfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <vector>

#include "../refusal.h"
#include "core_output.h"
#include "picture.h"
#include "root_reader.h"
#include "target.h"

namespace vole_command::outside {
namespace {

constexpr std::uint64_t kFirstNumber = 1'000'000'000;

// What all of them share: whose process it is, and the registers that are no function's.
elf_prstatus template_of(const core_file& core) {
  elf_prstatus status = {};
  bool found = false;
  core.image().for_each_note([&](const elf_note& n) {
    if (found || n.name != "CORE" || n.type != NT_PRSTATUS || n.content.size() < sizeof status)
      return;
    std::memcpy(&status, n.content.data(), sizeof status);
    found = true;
  });
  status.pr_info = {};
  status.pr_cursig = 0;
  status.pr_fpvalid = 0;
  return status;
}

void set_registers(elf_prstatus& status, std::uint64_t sp, std::uint64_t pc) {
  user_regs_struct u;
  std::memcpy(&u, &status.pr_reg, sizeof u);
#if defined(__x86_64__)
  user_regs_struct bare = {};
  bare.cs = u.cs, bare.ss = u.ss, bare.ds = u.ds, bare.es = u.es, bare.fs = u.fs, bare.gs = u.gs;
  bare.eflags = 0x202;
  bare.orig_rax = ~0ull;  // not in a system call
  bare.rsp = sp;
  bare.rip = pc;
#else
  user_regs_struct bare = {};
  bare.sp = sp;
  bare.pc = pc;
#endif
  std::memcpy(&status.pr_reg, &bare, sizeof bare);
}

// 1,000,000,000 and its own number; any free one for those that are too large.
int number_for(std::uint64_t id, std::set<int>& taken) {
  auto wanted = static_cast<int>(kFirstNumber + id % kFirstNumber);
  while (!taken.insert(wanted).second) ++wanted;
  return wanted;
}

std::size_t parked_notes(const target& t, const found_root& root, std::string* notes) {
  const picture p = take_picture(t, root);
  if (t.core()->is_cut() && p.goroutines.empty())
    throw refusal(t.what() + " is cut short, and its goroutines are not in it: see ulimit -c");
  std::set<int> taken;
  for (const thread_registers& thread : t.core()->threads()) taken.insert(thread.tid);
  elf_prstatus status = template_of(*t.core());
  const auto land = reinterpret_cast<std::uint64_t>(root.table.land);
  std::size_t count = 0;
  for (const goroutine& g : p.goroutines) {
    const bool has_frame = g.sp >= g.stack_lo && g.sp < g.stack_lo + g.stack_bytes;
    if (g.thread >= 0 || !g.started || !has_frame) continue;
    status.pr_pid = number_for(g.id, taken);
    set_registers(status, g.sp, land);
    put_note(*notes, NT_PRSTATUS, &status, sizeof status);
    ++count;
  }
  return count;
}

// Where each segment's header is in the file, and what it is to be.
struct changed_header {
  std::uint64_t at;
  Elf64_Phdr header;
};

}  // namespace

std::size_t add_goroutine_threads(const std::string& core, const std::string& program) {
  std::string notes;
  std::vector<changed_header> changed;
  std::uint64_t end = 0;
  std::size_t count = 0;
  {
    const std::unique_ptr<target> t = target::of_core(core, program);
    const mapped_file file(core);
    const elf_image& image = t->core()->image();
    Elf64_Ehdr head;
    std::memcpy(&head, file.bytes().data(), sizeof head);  // of_core has looked at it
    end = (file.bytes().size() + 3) / 4 * 4;
    std::uint64_t note_at = 0;
    for (std::size_t i = 0; i < image.headers().size(); ++i) {
      Elf64_Phdr h = image.headers()[i];
      const std::uint64_t at = head.e_phoff + i * sizeof h;
      if (h.p_type == PT_NOTE && note_at == 0) {
        const bytes_view old = image.part(h.p_offset, h.p_filesz);
        notes.assign(reinterpret_cast<const char*>(old.data()), old.size());
        notes.resize((notes.size() + 3) / 4 * 4);
        note_at = at;
        changed.push_back({at, h});
      } else if (h.p_type == PT_LOAD && h.p_filesz != 0) {
        // A core that was cut short must not take our notes for memory.
        const std::uint64_t size = file.bytes().size();
        const std::uint64_t there = h.p_offset < size ? size - h.p_offset : 0;
        if (h.p_filesz <= there) continue;
        h.p_filesz = there;
        changed.push_back({at, h});
      }
    }
    if (note_at == 0) throw refusal(core + " is damaged: there are no notes in it");
    count = parked_notes(*t, find_root(*t), &notes);
    for (changed_header& c : changed) {
      if (c.at != note_at) continue;
      c.header.p_offset = end;
      c.header.p_filesz = notes.size();
      c.header.p_align = 4;
    }
  }
  output_file out(core, output_file::existing);
  out.write(end, notes.data(), notes.size());  // first what is pointed at
  for (const changed_header& c : changed) out.write(c.at, &c.header, sizeof c.header);
  return count;
}

}  // namespace vole_command::outside
