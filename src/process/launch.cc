#include "process/launch.h"

#include <cerrno>
#include <csignal>
#include <mutex>
#include <string_view>
#include <vector>

#include <vole/blocking.h>
#include <vole/detail/left_behind.h>

#include "base/atomic.h"
#include "base/race.h"
#include "os/process.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

using process::command;
using process::options;
using process::stream;

base::atomic<bool> no_pidfd{false};

// Never destroyed: the last runtime may end after static objects are gone.
struct unreaped_list {
  std::mutex mutex;
  std::vector<pid_t> pids;
};
unreaped_list& unreaped() {
  static unreaped_list& all = *[] {
    const base::race::unseen here;  // who makes it comes before nobody
    return new unreaped_list;
  }();
  return all;
}

bool has_ended(pid_t pid) noexcept {
  int code, signal;
  const os::result r = os::process::look(pid, {false, true}, code, signal);
  return !r.ok() || r.value != 0;
}

failure invalid(std::string what) {
  return {std::make_error_code(std::errc::invalid_argument), std::move(what), {}};
}

bool has_nul(const std::string& s) { return s.find('\0') != std::string::npos; }

failure check(const command& c, const options& o) {
  if (c.empty() || c[0].empty()) return invalid("the command is empty");
  for (const std::string& argument : c)
    if (has_nul(argument)) return invalid("an argument contains a NUL character");
  if (has_nul(o.directory)) return invalid("the directory contains a NUL character");
  for (const std::string& variable : o.environment)
    if (variable.find('=') == std::string::npos || variable[0] == '=' || has_nul(variable))
      return invalid("environment: \"" + variable + "\" is not of the form NAME=value");
  return {};
}

std::string_view name_in(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// As execve wants it. The later of two with one name counts.
std::vector<const char*> environment_of(const options& o) {
  std::vector<const char*> all;
  const auto add = [&all](const char* variable) {
    for (const char*& had : all)
      if (name_in(had) == name_in(variable)) {
        had = variable;
        return;
      }
    all.push_back(variable);
  };
  if (!o.clear_environment)
    for (const char* const* v = os::process::own_environment(); v != nullptr && *v != nullptr;
         ++v)
      all.push_back(*v);
  for (const std::string& variable : o.environment) add(variable.c_str());
  all.push_back(nullptr);
  return all;
}
std::vector<const char*> arguments_of(const command& c) {
  std::vector<const char*> all;
  for (const std::string& argument : c) all.push_back(argument.c_str());
  all.push_back(nullptr);
  return all;
}

// The child's ends, closed when it has them.
struct child_ends {
  owned_fd streams[3] = {owned_fd(-1), owned_fd(-1), owned_fd(-1)};
};

// 0 or errno.
int make_stream(stream kind, bool child_reads, owned_fd& ours, owned_fd& theirs) noexcept {
  if (kind == stream::inherit) return 0;
  if (kind == stream::null) {
    const os::result r = os::process::open_null();
    if (r.ok()) theirs.hold(static_cast<int>(r.value));
    return r.error;
  }
  int ends[2];
  const os::result r = os::process::pipe(ends);
  if (!r.ok()) return r.error;
  theirs.hold(ends[child_reads ? 0 : 1]);
  ours.hold(ends[child_reads ? 1 : 0]);
  return os::net::make_nonblocking(ours.get(), true).error;
}

int make_streams(const options& o, launched& l, child_ends& theirs) noexcept {
  if (const int e = make_stream(o.in, true, l.in, theirs.streams[0])) return e;
  if (const int e = make_stream(o.out, false, l.out, theirs.streams[1])) return e;
  return o.merge_errors ? 0 : make_stream(o.err, false, l.err, theirs.streams[2]);
}

failure explain(int error, const command& c, const options& o) {
  failure f{system_error_code(error), {}, {}};
  if (!o.directory.empty() && !os::process::is_folder(o.directory.c_str()))
    f.what = "directory " + o.directory + ": " + message_of(f.code);
  else if (error == ENOENT && c[0].find('/') == std::string::npos)
    f.what = "no such command in PATH";
  return f;
}

}  // namespace

launched::~launched() {
  if (pid < 0) return;
  os::process::kill(pid, own_group, SIGKILL);
  leave_unreaped(pid);
}

std::string named_command(const char* what, const command& c) {
  return what + (c.empty() || c[0].empty() ? std::string(" a program") : " " + c[0]);
}

void pretend_no_pidfd(bool yes) noexcept { no_pidfd.store(yes, base::seq_cst); }

void leave_unreaped(pid_t pid) noexcept {
  if (has_ended(pid)) return;
  try {
    unreaped_list& all = unreaped();
    const std::lock_guard lock(all.mutex);
    all.pids.push_back(pid);
  } catch (...) {  // bad_alloc: it stays a zombie until this program ends
  }
}

void reap_left() noexcept {
  unreaped_list& all = unreaped();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.pids, has_ended);
}

void launch(const command& c, const options& o, launched& into, failure& f) {
  end_if_left_behind();
  f = check(c, o);
  if (f) return;
  reap_left();
  rt::belonging<std::vector<const char*>> arguments(arguments_of(c));
  rt::belonging<std::vector<const char*>> environment(environment_of(o));
  int error = 0;
  blocking([&] {
    child_ends theirs;
    error = make_streams(o, into, theirs);
    if (error != 0) return;
    os::process::plan p{
        arguments->data(),
        environment->data(),
        o.directory.empty() ? nullptr : o.directory.c_str(),
        {theirs.streams[0].get(), theirs.streams[1].get(), theirs.streams[2].get()},
        o.own_group};
    if (o.merge_errors) p.streams[2] = o.out == stream::inherit ? 1 : p.streams[1];
    const os::result started = os::process::spawn(p);
    error = started.error;
    if (error != 0) return;
    into.pid = static_cast<pid_t>(started.value);
    into.own_group = o.own_group;
    if (no_pidfd.load(base::relaxed)) return;
    const os::result opened = os::process::open_pidfd(into.pid);
    if (opened.ok()) into.pidfd.hold(static_cast<int>(opened.value));
  });
  if (error != 0) f = explain(error, c, o);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
