// The fault handler: ours first, then the handler that was there before us.
//
// Note   if somebody has put a handler over ours, remove_ leaves theirs alone; ours
//        then only passes faults on, since theirs may call it. A later install_
//        gives it the hook back and does not climb on top again: the two would
//        call each other for ever.
#include <csignal>
#include <ucontext.h>

#include "base/atomic.h"
#include "os/linux/pass_on.h"
#include "os/os.h"

namespace vole::os {
namespace {

struct watched {
  int number;
  const char* name;
  bool in_chain;            // ours is installed, or buried under somebody else's
  struct sigaction before;  // written before ours is installed
};

constinit watched faults[] = {{SIGSEGV, "SIGSEGV", false, {}},
                              {SIGBUS, "SIGBUS", false, {}},
                              {SIGFPE, "SIGFPE", false, {}},
                              {SIGILL, "SIGILL", false, {}}};
constinit base::atomic<fault_hook> current_hook{nullptr};

void pass_on(const struct sigaction& before, int number, siginfo_t* info, void* context) noexcept {
  const bool sent = info->si_code <= 0;
  if (is_handler(before)) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    sigorset(&mask, &mask, &before.sa_mask);
    return call_handler(before, mask, number, info, context);
  }
  if (before.sa_handler != SIG_IGN || !sent) die_of(number, sent);
}

const void* interrupted_pc(const void* context) noexcept {
  const mcontext_t& m = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto pc = static_cast<std::uintptr_t>(m.gregs[REG_RIP]);
#elif defined(__aarch64__)
  const auto pc = static_cast<std::uintptr_t>(m.pc);
#endif
  return reinterpret_cast<const void*>(pc);
}

extern "C" void vole_on_fault(int number, siginfo_t* info, void* context) {
  const fault_hook hook = current_hook.load(std::memory_order_acquire);  // pairs: install
  for (const watched& w : faults) {
    if (w.number != number) continue;
    const bool wanted_memory =
        (number == SIGSEGV || number == SIGBUS) && info->si_code != SI_KERNEL;
    if (hook != nullptr && info->si_code > 0)
      hook({w.name, wanted_memory, info->si_addr, interrupted_pc(context), !is_handler(w.before),
            context});
    pass_on(w.before, number, info, context);
  }
}

bool is_ours(const struct sigaction& a) noexcept {
  return (a.sa_flags & SA_SIGINFO) != 0 && a.sa_sigaction == vole_on_fault;
}

bool watch(watched& w) noexcept {
  struct sigaction now {};
  if (sigaction(w.number, nullptr, &now) != 0) return false;
  if (is_ours(now) || (w.in_chain && is_handler(now))) return true;
  w.before = now;
  struct sigaction ours {};
  ours.sa_sigaction = vole_on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (now.sa_flags & (SA_NODEFER | SA_RESTART));
  sigemptyset(&ours.sa_mask);
  w.in_chain = sigaction(w.number, &ours, nullptr) == 0;
  return w.in_chain;
}

void unwatch(watched& w) noexcept {
  struct sigaction now {};
  if (!w.in_chain || sigaction(w.number, nullptr, &now) != 0) return;
  if (is_ours(now)) w.in_chain = sigaction(w.number, &w.before, nullptr) != 0;
}

}  // namespace

bool install_fault_handler(fault_hook hook) noexcept {
  current_hook.store(hook, std::memory_order_release);  // pairs: vole_on_fault
  bool done = true;
  for (watched& w : faults) done = watch(w) && done;
  if (!done) remove_fault_handler();
  return done;
}

void remove_fault_handler() noexcept {
  for (watched& w : faults) unwatch(w);
  current_hook.store(nullptr, std::memory_order_release);
}

}  // namespace vole::os
