// Signals that the program has asked for: a handler counts them, a thread takes the counts.
//
// Who    hear, unhear, take: one thread at a time, in user context (api/signal.cc).
//        The handler: any thread, at any instruction.
// Law    the handler counts, then changes the wake word. The waiting thread reads the wake word, then
//        takes the counts, then sleeps if the wake word is unchanged. So no count is overlooked.
// Note   while it runs all other signals wait: it never nests, however many come, and the
//        alternate stack is deep enough. Calls that it interrupts are restarted.
//        If somebody has put a handler over ours, unhear and reset leave theirs alone.
#include <cerrno>
#include <csignal>
#include <unistd.h>

#include "base/atomic.h"
#include "os/os.h"

namespace vole::os {
namespace {

constinit base::atomic<std::uint32_t> counts[kMostSignals + 1]{};
constinit base::atomic<std::uint32_t> wake_word{0};  // futex word
constinit struct sigaction before[kMostSignals + 1]{};
constinit bool ignored[kMostSignals + 1]{};  // by ignore_signal

extern "C" void vole_on_signal(int number) {
  const int saved = errno;
  counts[number].fetch_add(1, base::seq_cst);
  ring_for_signals();
  errno = saved;
}

bool is_ours(const struct sigaction& a) noexcept {
  return (a.sa_flags & SA_SIGINFO) == 0 && a.sa_handler == vole_on_signal;
}
bool is_ignoring(const struct sigaction& a) noexcept {
  return (a.sa_flags & SA_SIGINFO) == 0 && a.sa_handler == SIG_IGN;
}

// Sets the action, and remembers what it was if that was not our doing.
int set_action(int number, const struct sigaction& next) noexcept {
  struct sigaction now {};
  if (sigaction(number, &next, &now) != 0) return errno;
  if (!is_ours(now) && !(ignored[number] && is_ignoring(now))) before[number] = now;
  return 0;
}

}  // namespace

int hear_signal(int number) noexcept {
  struct sigaction ours {};
  ours.sa_handler = vole_on_signal;
  ours.sa_flags = SA_RESTART | SA_ONSTACK;
  sigfillset(&ours.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS})
    sigdelset(&ours.sa_mask, fault);
  counts[number].store(0, base::seq_cst);  // signals for earlier registrations do not count
  const int error = set_action(number, ours);
  if (error == 0) ignored[number] = false;
  return error;
}

int ignore_signal(int number) noexcept {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  const int error = set_action(number, ignore);
  if (error == 0) ignored[number] = true;
  return error;
}

int reset_signal(int number) noexcept {
  struct sigaction now {};
  if (sigaction(number, nullptr, &now) != 0) return errno;
  if (!is_ours(now) && !(ignored[number] && is_ignoring(now))) return 0;
  ignored[number] = false;
  return sigaction(number, &before[number], nullptr) != 0 ? errno : 0;
}

void unhear_signal(int number) noexcept {
  struct sigaction now {};
  if (sigaction(number, nullptr, &now) == 0 && is_ours(now))
    sigaction(number, &before[number], nullptr);
}

std::uint32_t take_signals(int number) noexcept {
  return counts[number].exchange(0, base::seq_cst);
}

std::uint32_t signal_wake_word() noexcept { return wake_word.load(base::seq_cst); }

void sleep_until_signal(std::uint32_t seen) noexcept { base::futex_wait(&wake_word, seen); }

void ring_for_signals() noexcept {
  wake_word.fetch_add(1, base::seq_cst);
  base::futex_wake(&wake_word, 1 << 30);
}

std::uint64_t process_id() noexcept { return static_cast<std::uint64_t>(getpid()); }

}  // namespace vole::os
