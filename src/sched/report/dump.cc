#include "sched/report/dump.h"

#include "os/os.h"
#include "sched/report/dump_text.h"
#include "sched/report/question.h"
#include "sched/state.h"
#include "symbols/symbols.h"

namespace vole::rt::dump {

bool shows_all_frames() noexcept { return sched.settings.all_frames; }

void put_address(sentence& s, const void* pc) noexcept {
  const symbols::module_place m = symbols::module_of(reinterpret_cast<std::uintptr_t>(pc));
  if (!m.name.empty()) s << m.name << "+";
  s.hex(m.offset);
}

void put_goroutine(sentence& s, const G& g) noexcept {
  s << "goroutine " << g.id;
  if (g.name != nullptr) put_name(s, g.name->text);
}

void write(capture& c, bool plain, sink out, void* arg) noexcept {
  write_blocks(c, {plain, shows_all_frames(), false}, out, arg);
}

void body(const captured& c, const own_stack& stack, sink out, void* arg) noexcept {
  frame_texts names(false, shows_all_frames());
  put_body(c, stack.at, stack.n, names, out, arg);
}

void leaks(capture& c) noexcept {
  const sink to_stderr = [](std::string_view text, void*) noexcept {
    write_stderr(text.data(), text.size());
  };
  if (c.size() == 0) return;
  sentence s;
  s << "vole: leaks: " << c.size() << (c.size() == 1 ? " goroutine is" : " goroutines are")
    << " left at the end of run()\n\n";
  s.print();
  write_blocks(c, {false, shows_all_frames(), true}, to_stderr, nullptr);
}

void all(bool plain, const own_stack* own, sink out, void* arg) noexcept {
  const M* const m = this_m();
  const G* const me = m != nullptr ? m->curg : nullptr;
  own_stack mine;
  if (own == nullptr) {
    mine.take();
    own = &mine;
  }
  capture c;
  if (c.prepare()) {
    questions asked;
    c.take(me, own, false, &asked);
    c.take_answers(asked);
    return write(c, plain, out, arg);
  }
  g_slab.for_each([&](const G* g) {  // one by one, as they come
    const g_status s = status_of(*g);
    if (s != g_status::idle && s != g_status::dead)
      one(*g, g == me ? own : nullptr, plain, out, arg);
  });
}

void one(const G& g, const own_stack* own, bool plain, sink out, void* arg) noexcept {
  const captured c = record_of(g, own != nullptr);
  put_one(c, own != nullptr ? own->at : nullptr, own != nullptr ? own->n : 0,
          {plain, shows_all_frames(), false}, out, arg);
}

}  // namespace vole::rt::dump
