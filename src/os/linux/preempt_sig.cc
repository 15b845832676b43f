// Preemption by signal: the slice timers, and the handler of their signal; questions come by the
// same one.
//
// Where  vole_on_preempt: signal context, on the thread's alternate stack, with every signal
//        blocked that libc lets us block (its own two stay open: setgid() waits for them).
// Law    errno is preserved. The handler is never taken away again: a signal may be on its way.
// Note   timers by the bare system call: glibc's wrapper may allocate. A timer of CPU time expires
//        on a tick of the kernel, in a thread that runs: a call that blocks is not interrupted.
#include <cerrno>
#include <csignal>
#include <ctime>
#include <initializer_list>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/atomic.h"
#include "os/linux/pass_on.h"
#include "os/os.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace vole::os {
namespace {

constinit base::atomic<preempt_hook> current_hook{nullptr};
constinit base::atomic<question_hook> current_question_hook{nullptr};
constinit struct sigaction before {};  // written before ours is installed
constinit base::atomic<int> installed{0};  // the signal; ours is there, or buried under another's
constinit base::atomic<bool> installing{false};
constinit int tag = 0, question_tag = 0;  // their addresses mark our timers and our questions

const void* interrupted_sp(const void* context) noexcept {
  const mcontext_t& m = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto sp = static_cast<std::uintptr_t>(m.gregs[REG_RSP]);
#elif defined(__aarch64__)
  const auto sp = static_cast<std::uintptr_t>(m.sp);
#endif
  return reinterpret_cast<const void*>(sp);
}

bool ignored_by_default(int number) noexcept {
  return number == SIGURG || number == SIGCHLD || number == SIGWINCH || number == SIGCONT;
}

// Passes the signal on as the kernel would: under the interrupted code's mask and the handler's own.
void pass_on(int number, siginfo_t* info, void* context) noexcept {
  if (is_handler(before)) {
    sigset_t mask;
    sigorset(&mask, &static_cast<const ucontext_t*>(context)->uc_sigmask, &before.sa_mask);
    if ((before.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, number);
    return call_handler(before, mask, number, info, context);
  }
  if (before.sa_handler == SIG_DFL && !ignored_by_default(number)) die_of(number, true);
}

bool set(int id, std::int64_t first, std::int64_t then) noexcept {
  const auto spec = [](std::int64_t ns) {
    return timespec{static_cast<std::time_t>(ns / 1'000'000'000),
                    static_cast<long>(ns % 1'000'000'000)};
  };
  const itimerspec both{spec(then), spec(first)};
  return syscall(SYS_timer_settime, id, 0, &both, nullptr) == 0;
}

bool is_question(const siginfo_t& info) noexcept {
  return info.si_code == SI_QUEUE && info.si_value.sival_ptr == &question_tag &&
         info.si_pid == getpid();
}

// First, since a thread may be captured for long.
void answer(const void* context) noexcept {
  const question_hook hook = current_question_hook.load(std::memory_order_acquire);
  if (hook != nullptr) hook(context);
}

extern "C" void vole_on_preempt(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &tag) {
    answer(context);
    const preempt_hook hook = current_hook.load(std::memory_order_acquire);  // pairs: install
    hook(interrupted_sp(context), context);
  } else if (is_question(*info)) {
    answer(context);
  } else {
    pass_on(number, info, context);
  }
  errno = saved;
}

// Held while the handler is installed: a runtime that starts and the first question may both do so.
bool install(int signal) noexcept {
  for (int spins = 0; installing.exchange(true, std::memory_order_acquire); ++spins) {
    if (spins == 1 << 20) return false;  // a program that dies in here still has its last words
    base::cpu_relax();
  }
  bool done = installed.load(base::relaxed) == signal;
  if (!done && sigaction(signal, nullptr, &before) == 0) {
    struct sigaction ours {};
    ours.sa_sigaction = vole_on_preempt;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigfillset(&ours.sa_mask);
    done = sigaction(signal, &ours, nullptr) == 0;
    if (done) installed.store(signal, base::relaxed);
  }
  installing.store(false, std::memory_order_release);
  return done;
}

}  // namespace

bool may_preempt_with(int signal) noexcept {
  if (signal < 1 || signal > SIGRTMAX || (signal >= 32 && signal < SIGRTMIN)) return false;
  for (const int s : {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT})
    if (signal == s) return false;
  return true;
}

bool install_preempt_handler(int signal, preempt_hook hook) noexcept {
  current_hook.store(hook, std::memory_order_release);  // pairs: vole_on_preempt
  return install(signal);
}

bool install_question_handler(int signal, question_hook hook) noexcept {
  current_question_hook.store(hook, std::memory_order_release);  // pairs: answer
  return install(signal);
}

bool ask_thread(std::uint64_t thread_id, int signal) noexcept {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = &question_tag;
  return syscall(SYS_rt_tgsigqueueinfo, info.si_pid, static_cast<pid_t>(thread_id), signal,
                 &info) == 0;
}

int start_slice_timer(int* id, int signal, std::int64_t ns, bool wall) noexcept {
  sigset_t open;
  sigemptyset(&open);
  sigaddset(&open, signal);
  pthread_sigmask(SIG_UNBLOCK, &open, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_value.sival_ptr = &tag;
  event.sigev_notify_thread_id = static_cast<pid_t>(thread_id());
  const clockid_t clock = wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  if (syscall(SYS_timer_create, clock, &event, id) != 0) return errno;
  if (set(*id, ns, wall ? 0 : ns)) return 0;
  const int error = errno;
  stop_slice_timer(*id);
  return error;
}

void wind_up_slice_timer(int id, std::int64_t ns) noexcept { set(id, ns, 0); }

void stop_slice_timer(int id) noexcept { syscall(SYS_timer_delete, id); }

}  // namespace vole::os
