#include "pause.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string>

#include "../refusal.h"
#include "proc.h"

namespace vole_command::outside {
namespace {

double now_ms() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

std::string why_not(int pid) {
  const std::string who = "process " + std::to_string(pid);
  const int tracer = std::atoi(status_of("/proc/" + std::to_string(pid), "TracerPid").c_str());
  if (tracer != 0)
    return who + " is being traced by process " + std::to_string(tracer) +
           ", a debugger perhaps: only one can";
  return "not permitted to stop " + who +
         ": it is another user's, or kernel.yama.ptrace_scope forbids it; root may";
}

}  // namespace

void pause::seize(int pid, int tid) {
  if (ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) == 0) {
    seized_.push_back({tid});
  } else if (errno == EPERM && access(("/proc/" + std::to_string(pid)).c_str(), F_OK) == 0 &&
             status_of("/proc/" + std::to_string(pid), "State").find("Z") == std::string::npos) {
    throw refusal(why_not(pid));  // the destructor does not run: the kernel lets go of the others
  }
}

// Asleep in the kernel where no signal reaches it: it will not stop, and runs nothing.
static bool is_out_of_reach(int tid) {
  return status_of("/proc/" + std::to_string(tid), "State").find('D') != std::string::npos;
}

// A thread that wants to run may have to wait for a busy machine; one in the kernel is given up.
void pause::stop_from(std::size_t first) {
  constexpr double kPatience = 1000, kMostPatience = 60 * 1000;
  for (std::size_t i = first; i < seized_.size(); ++i)
    ptrace(PTRACE_INTERRUPT, seized_[i].tid, nullptr, nullptr);
  const double began = now_ms();
  for (std::size_t i = first; i < seized_.size(); ++i) {
    seized& s = seized_[i];
    int status = 0;
    int got = 0;
    while ((got = waitpid(s.tid, &status, __WALL | WNOHANG)) == 0) {
      const double waited = now_ms() - began;
      if (waited > kMostPatience || (waited > kPatience && is_out_of_reach(s.tid))) break;
      constexpr timespec kMoment{0, 20 * 1000};
      nanosleep(&kMoment, nullptr);
    }
    if (got != s.tid || !WIFSTOPPED(status)) continue;  // it has ended, or sleeps in the kernel
    s.has_stopped = true;
    if (status >> 16 != PTRACE_EVENT_STOP) s.signal = WSTOPSIG(status);
    user_regs_struct u{};
    iovec to{&u, sizeof u};
    if (ptrace(PTRACE_GETREGSET, s.tid, NT_PRSTATUS, &to) == 0)
      threads_.push_back(from_user(s.tid, u));
  }
}

pause::pause(int pid, const std::function<std::vector<int>()>& tids) {
  for (const int tid : tids()) seize(pid, tid);
  began_ = now_ms();
  for (std::size_t done = 0; done < seized_.size();) {
    const std::size_t n = seized_.size();
    stop_from(done);
    done = n;
    for (const int tid : tids())
      if (std::none_of(seized_.begin(), seized_.end(),
                       [tid](const seized& s) { return s.tid == tid; }))
        seize(pid, tid);
  }
}

void pause::end() {
  for (const seized& s : seized_)
    if (s.has_stopped) ptrace(PTRACE_DETACH, s.tid, nullptr, s.signal);
  if (!seized_.empty()) milliseconds_ = now_ms() - began_;
  seized_.clear();
}

}  // namespace vole_command::outside
