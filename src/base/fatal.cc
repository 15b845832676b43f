#include "base/fatal.h"

#include <cstdlib>

#include "base/atomic.h"
#include "base/system.h"

namespace vole::base {
namespace {

// One thread dies, the others wait for it.
//
// The first caller of fatal() claims `dying`, speaks, runs the hook and aborts. A
// fatal() inside its hook prints its sentence and aborts at once. Any other thread
// waits for the end; if the hook hangs, it ends the program itself.
constexpr std::int64_t kPatienceNs = 10'000'000'000;

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

void fatal(std::string_view what) noexcept {
  const char* first = nullptr;
  if (dying.compare_exchange_strong(first, &self, seq_cst)) {
    say(what);
    auto* const dump = hook.load(std::memory_order_acquire);  // pairs: set_fatal_hook
    if (dump != nullptr) dump();
  } else if (first == &self) {
    say(what);
  } else {
    while (futex_wait_for(&never, 0, kPatienceNs)) {
    }
  }
  std::abort();
}

}  // namespace vole::base
