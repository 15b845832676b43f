// process::start, process::child, process::exit_status.
//
// Law    the process is reaped under the state's lock, and killed only there and before: its number
//        is never somebody else's.
// Note   without a pidfd a goroutine of the child's own waits for its end, in blocking(), without
//        reaping it, and closes a channel: a wait on that channel can be given up. The state joins
//        that goroutine, so that the runtime does not end before it and lose what it holds.

#include <csignal>
#include <cstring>
#include <mutex>
#include <utility>

#include <vole/blocking.h>
#include <vole/go.h>
#include <vole/mutex.h>
#include <vole/net.h>
#include <vole/process.h>

#include "os/process.h"
#include "process/launch.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace detail {

using process::exit_status;

class child_state {
 public:
  explicit child_state(launched& l) noexcept
      : pid(l.pid), own_group_(l.own_group), pidfd_(std::move(l.pidfd)) {
    l.pid = -1;
  }
  // The child has no handle any more: a start failed half-way, or the runtime has ended.
  ~child_state() {
    if (reaped_) return;
    os::process::kill(pid, own_group_, SIGKILL);
    leave_unreaped(pid);
  }
  child_state(const child_state&) = delete;
  child_state& operator=(const child_state&) = delete;

  bool has_pidfd() const noexcept { return pidfd_.get() >= 0; }

  bool kill(int signal) noexcept {
    const std::lock_guard lock(guard_);
    return !reaped_ && os::process::kill(pid, own_group_, signal).ok();
  }

  // Killed, or at its end anyway. Hidden, as is what it gives to a template of the API.
  [[gnu::visibility("hidden")]] void kill_and_reap() noexcept {
    const std::lock_guard lock(guard_);
    if (reaped_) return;
    os::process::kill(pid, own_group_, SIGKILL);
    blocking([this] { reap_locked(true); });
  }

  exit_status wait(const context* ctx, std::error_code& error) {
    error.clear();
    {
      const std::lock_guard lock(guard_);
      if (reaped_) return tell_locked(error);
    }
    if (ctx != nullptr) error = ctx->err();
    if (!error) until_ended(ctx, error);
    if (error) return {-1, 0};
    const std::lock_guard lock(guard_);
    if (!reaped_) reap_locked(true);  // it has ended: nobody waits here
    return tell_locked(error);
  }

  // A goroutine of the child's own tells its end.
  [[gnu::visibility("hidden")]] void watch_by_goroutine() {
    watcher_ = spawn({.name = "process wait"}, [pid = pid, ended = ended_] {
      blocking([pid] {
        int code, signal;
        os::process::look(pid, {true, false}, code, signal);
      });
      ended.close();
    });
  }

  const pid_t pid;

 private:
  void until_ended(const context* ctx, std::error_code& error) {
    if (has_pidfd() && ctx != nullptr) {
      (void)wait_readable(pidfd_.get(), *ctx, error);
    } else if (has_pidfd()) {
      (void)wait_readable(pidfd_.get(), error);
    } else if (ctx == nullptr) {
      ended_.recv();
    } else if (ended_.recv(*ctx).status == chan_status::canceled) {
      error = ctx->err();
    }
  }
  void reap_locked(bool wait) noexcept {
    int code = -1, signal = 0;
    const os::result r = os::process::look(pid, {wait, true}, code, signal);
    reaped_ = true;
    how_ = exit_status(code, signal);
    error_ = system_error_code(r.error);
  }
  exit_status tell_locked(std::error_code& error) const noexcept {
    error = error_;
    return how_;
  }

  const bool own_group_;
  const owned_fd pidfd_;
  const chan<> ended_;  // closed then, if there is no pidfd
  vole::mutex guard_;
  bool reaped_ = false;    // under guard_, as are the next two
  exit_status how_;
  std::error_code error_;  // why its end cannot be told
  join_handle<void> watcher_;
};

}  // namespace detail

namespace process {

using detail::child_state;
using detail::failure;

namespace {

net::conn adopt(detail::owned_fd& fd, std::error_code& error) {
  if (fd.get() < 0 || error) return {};
  net::conn made(fd.get(), error);
  if (!error) fd.take();
  return made;
}

child start_it(const command& c, const options& o, failure& f) {
  rt::belonging<detail::launched> mine;
  detail::launch(c, o, *mine, f);
  if (f) return {};
  const bool by_goroutine = mine->pidfd.get() < 0;
  const auto s = std::make_shared<child_state>(*mine);
  net::conn in = adopt(mine->in, f.code);
  net::conn out = adopt(mine->out, f.code);
  net::conn err = adopt(mine->err, f.code);
  if (f) {
    s->kill_and_reap();
    return {};
  }
  child made = detail::access::make<child>(s, std::move(in), std::move(out), std::move(err));
  if (by_goroutine) s->watch_by_goroutine();
  return made;
}

}  // namespace

child::child() noexcept = default;
child::child(child&& other) noexcept = default;
child::child(std::shared_ptr<child_state> s, net::conn in, net::conn out, net::conn err) noexcept
    : state_(std::move(s)), in_(std::move(in)), out_(std::move(out)), err_(std::move(err)) {}
child& child::operator=(child&& other) noexcept {
  if (this == &other) return *this;
  if (state_ != nullptr) state_->kill_and_reap();
  state_ = std::move(other.state_);
  in_ = std::move(other.in_);
  out_ = std::move(other.out_);
  err_ = std::move(other.err_);
  return *this;
}
child::~child() {
  if (state_ != nullptr) state_->kill_and_reap();
}

pid_t child::pid() const noexcept { return state_ != nullptr ? state_->pid : -1; }
bool child::kill(int signal) noexcept { return state_ != nullptr && state_->kill(signal); }

exit_status child::wait(std::error_code& error) {
  if (state_ != nullptr) return state_->wait(nullptr, error);
  error = errc::closed;
  return {-1, 0};
}
exit_status child::wait(const context& ctx, std::error_code& error) {
  if (state_ != nullptr) return state_->wait(&ctx, error);
  error = errc::closed;
  return {-1, 0};
}
exit_status child::wait() {
  std::error_code error;
  const exit_status s = wait(error);
  if (error) detail::throw_net("wait for a program", error);
  return s;
}
exit_status child::wait(const context& ctx) {
  std::error_code error;
  const exit_status s = wait(ctx, error);
  if (error) detail::throw_net("wait for a program", error);
  return s;
}

child start(const command& c, const options& o, std::error_code& error) {
  failure f;
  child made = start_it(c, o, f);
  error = f.code;
  return made;
}
child start(const command& c, std::error_code& error) { return start(c, {}, error); }
child start(const command& c, const options& o) {
  failure f;
  child made = start_it(c, o, f);
  if (f) detail::throw_net(detail::named_command("start", c), f);
  return made;
}

std::string exit_status::to_string() const {
  if (signal_ == 0) return "exit status " + std::to_string(code_);
  const char* const name = sigdescr_np(signal_);
  return "signal " + std::to_string(signal_) +
         (name != nullptr ? " (" + std::string(name) + ")" : std::string());
}

}  // namespace process
}  // namespace v0
}  // namespace vole
