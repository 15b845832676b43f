// net::dial.
//
// Who    any goroutine, any plain thread.
// Law    with several addresses the first family of the list is tried first, one address after the
//        other, each with its share of the time that is left. If both families are there, the other
//        one starts 300 ms later, or when the first has failed (RFC 8305). The first connection
//        wins; the loser is cancelled, and closed when dial returns. The first error counts.
// Note   a plain thread has a goroutine do that for it: it is told when the runtime ends.

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <vole/chan.h>
#include <vole/detail/left_behind.h>
#include <vole/go.h>
#include <vole/net.h>
#include <vole/runtime.h>

#include "net/connect.h"
#include "os/os.h"
#include "sched/life/belonging.h"
#include "sched/life/spawn.h"

namespace vole {
inline namespace v0 {
namespace net {
namespace {

using detail::connected;
using detail::dialing;
using detail::failure;
using detail::network_name;
using detail::patience;
using list = std::vector<address>;

constexpr std::int64_t kFallback = 300'000'000;      // ns
constexpr std::int64_t kLeastShare = 2'000'000'000;  // ns

// Each address gets its share, but 2 s at least.
patience share_of(const patience& p, std::size_t left) noexcept {
  if (p.deadline == detail::kNeverNs) return p;
  const std::int64_t remaining = p.deadline - os::now_ns();
  std::int64_t share = remaining / static_cast<std::int64_t>(left);
  if (share < kLeastShare) share = remaining < kLeastShare ? remaining : kLeastShare;
  return {p.ctx, p.deadline - remaining + share};
}

connected dial_in_turn(const dialing& d, const list& at, const patience& p) {
  rt::belonging<connected> first;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (const std::error_code over = p.over()) {
      if (!first->why) first->why = {over, {}, at[i].to_string()};
      break;
    }
    connected c = detail::connect(d, at[i], share_of(p, at.size() - i));
    if (c.end != nullptr) return c;
    if (!first->why) first->why = std::move(c.why);
  }
  return std::move(*first);
}

// One family, on a goroutine of its own. The record belongs to that goroutine and to dial_both.
struct attempt {
  const dialing d;  // has no control, which would be somebody else's code
  const list at;
  const context ctx;
  const chan<attempt*> arrivals;  // itself, when `result` is there
  connected result;
  base::atomic<std::uint32_t> references{2};

  void let_go() noexcept {
    if (references.fetch_sub(1, base::acq_rel) == 1) delete this;
  }
  static void invoke(void* callable) {
    attempt& a = **static_cast<attempt**>(callable);
    a.result = dial_in_turn(a.d, a.at, patience::of(a.ctx));
    a.arrivals.try_send(&a);  // there is room for both
    *static_cast<attempt**>(callable) = nullptr;
    a.let_go();
  }
  static void abandon(void* callable, bool running) noexcept {
    attempt* const a = *static_cast<attempt**>(callable);
    if (!running && a != nullptr) a->let_go();
  }
};

struct let_go_of_attempt {
  void operator()(attempt* a) const noexcept { a->let_go(); }
};
using attempt_ptr = std::unique_ptr<attempt, let_go_of_attempt>;

// Everything that dial_both owns: it is freed if the goroutine is abandoned.
struct contest {
  explicit contest(const patience& p)
      : race(with_deadline(p.ctx != nullptr ? *p.ctx : context::background(),
                           detail::from_ns(p.deadline))) {}
  void start(const dialing& d, list at, attempt_ptr& into) {
    into.reset(new attempt{d, std::move(at), race.ctx, arrivals, {}});
    attempt* const a = into.get();
    rt::spawn_trivial({&attempt::invoke, &attempt::abandon}, __builtin_return_address(0), &a,
                      sizeof(a));
  }

  cancelable race;
  const chan<attempt*> arrivals{2};
  attempt_ptr first, second;
  list later;
  failure why;
};

connected dial_both(const dialing& d, list first, list second, const patience& p) {
  rt::belonging<contest> c(p);
  c->later = std::move(second);
  c->start(d, std::move(first), c->first);
  for (int pending = 1; pending != 0;) {
    const bool started = c->second != nullptr;
    const auto came =
        started ? c->arrivals.recv() : c->arrivals.recv_for(duration(kFallback)).value;
    if (came && (*came)->result.end != nullptr) {
      c->race.cancel();
      if (pending == 2) c->arrivals.recv();  // the loser, which is closed with its record
      return std::move((*came)->result);
    }
    if (came) {
      --pending;
      if (!c->why || *came == c->first.get()) c->why = std::move((*came)->result.why);
    }
    if (!started) {
      ++pending;
      c->start(d, std::move(c->later), c->second);
    }
  }
  return {nullptr, std::move(c->why)};
}

int ip_version(const address& a) noexcept { return detail::access::parts(a).ip; }

connected dial_parallel(const dialing& d, const list& at, const patience& p) {
  const bool mixed = std::any_of(
      at.begin(), at.end(), [&at](const address& a) { return ip_version(a) != ip_version(at[0]); });
  if (!mixed || d.control != nullptr || d.n.kind != detail::transport::tcp)
    return dial_in_turn(d, at, p);
  list first, second;
  for (const address& a : at) (ip_version(a) == ip_version(at[0]) ? first : second).push_back(a);
  if (goroutine_id() != 0) return dial_both(d, std::move(first), std::move(second), p);
  try {
    // Copies: a goroutine that the runtime's end has left in user code goes on without us.
    const context ctx = p.ctx != nullptr ? *p.ctx : context::background();
    return spawn([=, deadline = p.deadline] {
             return dial_both(d, first, second, {&ctx, deadline});
           })
        .join();
  } catch (const std::system_error& ended) {  // the runtime has
    connected none;
    none.why.code = ended.code();
    return none;
  }
}

conn dial_all(std::string_view network, std::string_view at, const dial_options& o,
              const patience& p, failure& f) {
  detail::end_if_left_behind();
  f.code = p.over();
  if (f) return {};
  rt::belonging<dialing> d(
      dialing{detail::find_network(network), o.local, detail::socket_options(o), nullptr});
  if (o.control) d->control = &o.control;
  rt::belonging<list> found(detail::find_addresses(d->n, network, at, detail::purpose::dial, p, f));
  if (f) return {};
  connected c = dial_parallel(*d, *found, p);
  f = std::move(c.why);
  if (c.end == nullptr) return {};
  f = {};
  return detail::access::make<conn>(c.end.release());
}

// The timeout and the context's deadline, whichever is earlier.
patience patience_of(const dial_options& o) noexcept {
  patience p = patience::of(o.ctx);
  const duration most = o.timeout;
  if (most != duration::max()) p.deadline = std::min(p.deadline, detail::deadline_after(most));
  return p;
}

conn dial_or_throw(std::string_view network, std::string_view at, const dial_options& o,
                   const patience& p) {
  failure f;
  conn c = dial_all(network, at, o, p, f);
  if (!f) return c;
  std::string what = "dial " + std::string(network);
  const bool names_itself = !f.what.empty();  // "lookup ...", "address ..."
  if (!names_itself) (what += ' ') += f.where.empty() ? at : std::string_view(f.where);
  detail::throw_net(std::move(what), f);
}

conn dial_quietly(std::string_view network, std::string_view at, const dial_options& o,
                  const patience& p, std::error_code& error) {
  failure f;
  conn c = dial_all(network, at, o, p, f);
  error = f.code;
  return c;
}

}  // namespace

conn dial(std::string_view network, std::string_view at) {
  return dial_or_throw(network, at, {}, {});
}
conn dial(std::string_view network, std::string_view at, const context& ctx) {
  return dial_or_throw(network, at, {}, patience::of(ctx));
}
conn dial(std::string_view network, std::string_view at, detail::any_duration most) {
  return dial_or_throw(network, at, {}, {nullptr, detail::deadline_after(most)});
}
conn dial(std::string_view network, std::string_view at, const dial_options& options) {
  return dial_or_throw(network, at, options, patience_of(options));
}
conn dial(std::string_view network, std::string_view at, std::error_code& error) {
  return dial_quietly(network, at, {}, {}, error);
}
conn dial(std::string_view network, std::string_view at, const context& ctx,
          std::error_code& error) {
  return dial_quietly(network, at, {}, patience::of(ctx), error);
}
conn dial(std::string_view network, std::string_view at, detail::any_duration most,
          std::error_code& error) {
  return dial_quietly(network, at, {}, {nullptr, detail::deadline_after(most)}, error);
}
conn dial(std::string_view network, std::string_view at, const dial_options& options,
          std::error_code& error) {
  return dial_quietly(network, at, options, patience_of(options), error);
}

}  // namespace net
}  // namespace v0
}  // namespace vole
