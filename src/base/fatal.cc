#include "base/fatal.h"

#include <cstdlib>

#include "base/atomic.h"
#include "base/system.h"

namespace vole::base {
namespace {

// One thread dies, the others wait for it.
//
// The first caller of begin_last_words() claims `dying`, and speaks: fatal(), a panic, a fault.
// fatal() runs the hook and aborts. A fatal() inside its hook, or inside other last words, prints
// its sentence and aborts at once. Another thread that has last words of its own waits for the end;
// if the dying thread hangs, it ends the program itself. A thread that only wants to end well
// (run() returns, exit()) waits for as long as it takes: the dying thread needs nothing of it.
constexpr std::int64_t kDyingWaitNs = 10'000'000'000;

constinit atomic<void (*)() noexcept> hook{nullptr};
constinit atomic<const char*> dying{nullptr};  // the dying thread's `self`
constinit atomic<std::uint32_t> never{0};

// Its address names the thread. Never loaded lazily: fatal() may run in a signal handler.
[[gnu::tls_model("initial-exec")]] constinit thread_local char self = 0;

void say(std::string_view what) noexcept {
  constexpr std::string_view kBefore = "vole: fatal: ";
  sentence line;
  line << kBefore << what.substr(0, sentence::kRoom - kBefore.size() - 1) << "\n";
  line.print();
}

// False: this thread had it before.
bool claim_last_words() noexcept {
  const char* first = nullptr;
  if (dying.compare_exchange_strong(first, &self, seq_cst)) return true;
  if (first == &self) return false;
  while (futex_wait_for(&never, 0, kDyingWaitNs)) {
  }
  std::abort();
}

}  // namespace

sentence& sentence::operator<<(std::string_view text) noexcept {
  for (const char c : text) {
    if (size_ == kRoom) break;
    text_[size_++] = c;
  }
  return *this;
}

sentence& sentence::operator<<(std::uint64_t number) noexcept {
  char digits[20];
  std::size_t at = sizeof digits;
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return *this << std::string_view(digits + at, sizeof digits - at);
}

sentence& sentence::operator<<(std::int64_t number) noexcept {
  const auto bits = static_cast<std::uint64_t>(number);
  if (number >= 0) return *this << bits;
  return *this << "-" << (0 - bits);
}

sentence& sentence::hex(std::uint64_t number) noexcept {
  char digits[16];
  std::size_t at = sizeof digits;
  do {
    digits[--at] = "0123456789abcdef"[number % 16];
    number /= 16;
  } while (number != 0);
  return *this << "0x" << std::string_view(digits + at, sizeof digits - at);
}

void sentence::print() const noexcept { write_stderr(text_, size_); }

void set_fatal_hook(void (*h)() noexcept) noexcept { hook.store(h, std::memory_order_release); }

void begin_last_words() noexcept { claim_last_words(); }

void wait_if_dying() noexcept {
  const char* const who = dying.load(seq_cst);
  if (who == nullptr || who == &self) return;
  for (;;) futex_wait(&never, 0);
}

void end_if_dying() noexcept {
  if (dying.load(seq_cst) == &self) std::abort();
}

void forget_dying_threads() noexcept {
  if (dying.load(seq_cst) != &self) dying.store(nullptr, seq_cst);
}

void fatal(std::string_view what) noexcept {
  const bool is_first = claim_last_words();
  say(what);
  auto* const dump = hook.load(std::memory_order_acquire);  // pairs: set_fatal_hook
  if (is_first && dump != nullptr) dump();
  std::abort();
}

void broken(std::string_view what) noexcept {
  fatal(
      sentence() << what
                 << ". This is a fault of vole's own: please report it, with what follows. Only a "
                    "program that writes where it must not could cause it, too: AddressSanitizer "
                    "would tell");
}

}  // namespace vole::base
