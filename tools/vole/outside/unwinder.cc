#include "unwinder.h"

#include <fcntl.h>
#include <libelf.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "../refusal.h"

namespace vole_command::outside {
namespace {

// libdw's callbacks carry no argument of ours; there is one session at a time.
const target* current = nullptr;

int find_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr base, char** file_name, Elf** elf) {
  const module* const m = current->module_at(base);
  if (m == nullptr || !m->has_image) return -1;
  *file_name = nullptr;
  if (!m->copy.empty()) {
    auto* const bytes = const_cast<std::byte*>(m->copy.data());
    *elf = elf_memory(reinterpret_cast<char*>(bytes), m->copy.size());
    return -1;
  }
  *file_name = strdup(m->path.c_str());
  return fcntl(m->file.fd(), F_DUPFD_CLOEXEC, 0);
}

const Dwfl_Callbacks kModules = {find_elf, dwfl_standard_find_debuginfo, nullptr, nullptr};

struct walk {
  const picture& p;
  std::uint64_t land;
  std::vector<std::vector<std::uint64_t>>& out;
  std::size_t next = 0;
  bool is_own = false;  // the walk of a thread has come to its goroutine's stack

  const goroutine& now() const { return p.goroutines[next - 1]; }
};

bool is_on_stack(const goroutine& g, std::uint64_t at) {
  return at >= g.stack_lo && at - g.stack_lo < g.stack_bytes;
}

pid_t next_thread(Dwfl*, void* arg, void** thread_arg) {
  auto& w = *static_cast<walk*>(arg);
  while (w.next < w.p.goroutines.size()) {
    const goroutine& g = w.p.goroutines[w.next++];
    if (g.copy == nullptr || !g.started) continue;
    *thread_arg = arg;
    return static_cast<pid_t>(w.next);
  }
  return 0;
}

bool read_word(Dwfl*, Dwarf_Addr at, Dwarf_Word* word, void* arg) {
  auto& w = *static_cast<walk*>(arg);
  std::uint64_t value;
  if (!w.p.read_word(w.now(), at, &value)) return false;
  w.is_own |= is_on_stack(w.now(), at);
  *word = value;
  return true;
}

bool set_registers(Dwfl_Thread* thread, void* arg) {
  const auto& w = *static_cast<walk*>(arg);
  const goroutine& g = w.now();
  if (g.thread >= 0) {
    const thread_registers& r = w.p.threads[static_cast<std::size_t>(g.thread)];
    if (!dwfl_thread_state_registers(thread, 0, kRegisters, r.at)) return false;
    dwfl_thread_state_register_pc(thread, r.pc);
    return true;
  }
  const Dwarf_Word sp = g.sp;
  if (!dwfl_thread_state_registers(thread, kStackPointer, 1, &sp)) return false;
  dwfl_thread_state_register_pc(thread, w.land);
  return true;
}

int on_frame(Dwfl_Frame* frame, void* arg) {
  auto& w = *static_cast<walk*>(arg);
  auto& frames = w.out[w.next - 1];
  Dwarf_Addr pc;
  bool is_interrupted;
  const bool has_door = !frames.empty() && frames[0] == 0;
  if (!dwfl_frame_pc(frame, &pc, &is_interrupted) || frames.size() >= kMostFrames + has_door)
    return DWARF_CB_ABORT;
  // Strict mode holds it in the handler of a signal: what it was doing begins behind that.
  if (is_interrupted && w.now().status == kPreempted) frames.clear();
  const bool is_door = w.now().thread < 0 && frames.empty() && pc == w.land;
  if (!is_door) frames.push_back(is_interrupted ? pc + 1 : pc);
  if (is_door) frames.push_back(0);  // so that only the first is taken for it
  return DWARF_CB_OK;
}

int on_thread(Dwfl_Thread* thread, void* arg) {
  auto& w = *static_cast<walk*>(arg);
  auto& frames = w.out[w.next - 1];
  w.is_own = false;
  dwfl_thread_getframes(thread, on_frame, arg);
  if (!frames.empty() && frames[0] == 0) frames.erase(frames.begin());
  if (!w.is_own) frames.clear();  // the thread's own: its M was between two goroutines
  return DWARF_CB_OK;
}

const Dwfl_Thread_Callbacks kThreads = {next_thread,   nullptr, read_word,
                                        set_registers, nullptr, nullptr};

}  // namespace

session::session(const target& t) : target_(t) {
  elf_version(EV_CURRENT);
  current = &t;
  dwfl_ = dwfl_begin(&kModules);
  if (dwfl_ == nullptr) throw refusal(std::string("libdw: ") + dwfl_errmsg(-1));
  for (const module& m : t.modules())
    if (m.has_image) dwfl_report_module(dwfl_, m.path.c_str(), m.from, m.to);
  dwfl_report_end(dwfl_, nullptr, nullptr);
}

session::~session() {
  if (dwfl_ != nullptr) dwfl_end(dwfl_);
}

std::vector<std::vector<std::uint64_t>> unwind_all(session& s, const picture& p,
                                                   const found_root& root) {
  std::vector<std::vector<std::uint64_t>> out(p.goroutines.size());
  walk w{p, reinterpret_cast<std::uint64_t>(root.table.land), out};
  if (!dwfl_attach_state(s.get(), nullptr, 1, &kThreads, &w))
    throw refusal("cannot unwind in " + s.of().what() + ": " + dwfl_errmsg(-1));
  dwfl_getthreads(s.get(), on_thread, &w);
  return out;
}

}  // namespace vole_command::outside
