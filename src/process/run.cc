// process::run: one goroutine, or thread, that feeds, reads and waits at once.
//
// Note   the pipes and the pidfd are in an epoll of this call's own, and that is what is waited for:
//        no goroutine but the caller's, so nothing is shared and nothing is left over.
// Note   the process is reaped last. Until then its number is nobody else's, and it can be killed.

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include <vole/blocking.h>
#include <vole/net.h>

#include "os/process.h"
#include "process/launch.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace process {
namespace {

using detail::failure;
using detail::launched;
using detail::owned_fd;

class running {
 public:
  launched program;
  result made;

  void go(const options& o, const context* ctx, std::error_code& error) {
    rest_ = o.input;
    limit_ = o.limit;
    begin(error);
    while (!error && (is_open(program.in) || is_open(program.out) || is_open(program.err) ||
                      is_open(program.pidfd)))
      step(ctx, error);
    if (error) os::process::kill(program.pid, program.own_group, SIGKILL);
    end(ctx, error);
  }

 private:
  static bool is_open(const owned_fd& fd) noexcept { return fd.get() >= 0; }
  static void close(owned_fd& fd) noexcept { os::net::close(fd.take()); }

  void begin(std::error_code& error) noexcept {
    const os::result set = os::process::open_watch();
    error = detail::system_error_code(set.error);
    if (error) return;
    watch_.hold(static_cast<int>(set.value));
    if (rest_.empty() && is_open(program.in)) close(program.in);
    for (const owned_fd* fd : {&program.in, &program.out, &program.err, &program.pidfd}) {
      if (!is_open(*fd) || error) continue;
      error = detail::system_error_code(
          os::process::watch(watch_.get(), fd->get(), fd == &program.in).error);
    }
  }

  void step(const context* ctx, std::error_code& error) {
    if (ctx != nullptr) {
      (void)wait_readable(watch_.get(), *ctx, error);
    } else {
      (void)wait_readable(watch_.get(), error);
    }
    if (error) return;
    int ready[4];
    const os::result n = os::process::watched_ready(watch_.get(), ready);
    for (std::int64_t i = 0; i < n.value && !error; ++i) {
      if (ready[i] == program.in.get()) feed(error);
      else if (ready[i] == program.out.get()) take(program.out, made.output, error);
      else if (ready[i] == program.err.get()) take(program.err, made.errors, error);
      else if (ready[i] == program.pidfd.get()) close(program.pidfd);  // it has ended
    }
  }

  void feed(std::error_code& error) noexcept {
    const iovec part{const_cast<char*>(rest_.data()), rest_.size()};
    const os::result r = os::net::write(program.in.get(), &part, 1);
    if (r.error == EAGAIN) return;
    if (!r.ok() && r.error != EPIPE) error = detail::system_error_code(r.error);
    rest_.remove_prefix(static_cast<std::size_t>(r.value));
    if (!r.ok() || rest_.empty()) close(program.in);  // a program that does not read is no error
  }

  void take(owned_fd& from, std::string& to, std::error_code& error) {
    char part[16384];
    const os::result r = os::net::read(from.get(), part, sizeof(part));
    if (r.error == EAGAIN) return;
    if (!r.ok()) error = detail::system_error_code(r.error);
    const auto n = static_cast<std::size_t>(r.value);
    const std::size_t room = limit_ - to.size();
    to.append(part, std::min(n, room));
    if (n > room) error = errc::too_long;
    if (n == 0) close(from);
  }

  // It has ended, or was killed; without a pidfd it may still run, and is waited for here.
  void end(const context* ctx, std::error_code& error) {
    if (ctx != nullptr && !error) {
      const context_callback ends(*ctx, [this] {
        os::process::kill(program.pid, program.own_group, SIGKILL);
      });
      look({true, false});
    }
    const os::result r = look({true, true});
    if (!error) error = detail::system_error_code(r.error);
    if (!error && ctx != nullptr && made.status.signal() == SIGKILL) error = ctx->err();
  }

  os::result look(os::process::ending how) noexcept {
    return blocking([&] {
      int code = -1, signal = 0;
      const os::result r = os::process::look(program.pid, how, code, signal);
      if (how.reap) program.pid = -1;
      made.status = exit_status(code, signal);
      return r;
    });
  }

  owned_fd watch_{-1};
  std::string_view rest_;  // of the input
  std::size_t limit_ = 0;
};

result run_it(const command& c, const options& o, const context* ctx, failure& f) {
  if (ctx != nullptr) f.code = ctx->err();
  if (f) return {};
  rt::belonging<running> mine;
  detail::launch(c, o, mine->program, f);
  if (f) return {};
  mine->go(o, ctx, f.code);
  return std::move(mine->made);
}

result run_or_throw(const command& c, const options& o, const context* ctx) {
  failure f;
  result made = run_it(c, o, ctx, f);
  if (f) detail::throw_net(detail::named_command("run", c), f);
  return made;
}
result run_or_tell(const command& c, const options& o, const context* ctx, std::error_code& error) {
  failure f;
  result made = run_it(c, o, ctx, f);
  error = f.code;
  return made;
}

}  // namespace

result run(const command& c, const options& o) { return run_or_throw(c, o, nullptr); }
result run(const command& c, const context& ctx) { return run_or_throw(c, {}, &ctx); }
result run(const command& c, const options& o, const context& ctx) {
  return run_or_throw(c, o, &ctx);
}
result run(const command& c, std::error_code& error) { return run_or_tell(c, {}, nullptr, error); }
result run(const command& c, const options& o, std::error_code& error) {
  return run_or_tell(c, o, nullptr, error);
}
result run(const command& c, const context& ctx, std::error_code& error) {
  return run_or_tell(c, {}, &ctx, error);
}
result run(const command& c, const options& o, const context& ctx, std::error_code& error) {
  return run_or_tell(c, o, &ctx, error);
}

}  // namespace process
}  // namespace v0
}  // namespace vole
