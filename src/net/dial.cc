// net::dial.
//
// Who    any goroutine, any plain thread.
// Law    with several addresses the first family of the list is tried first, one address after the
//        other, each with its share of the time that is left. If both families are there, the other
//        one starts 300 ms later, or when the first has failed (RFC 8305). The first connection
//        wins; the loser is cancelled, and closed when dial returns. The first error counts.
// Note   a plain thread has a goroutine do that for it: it is told when the runtime ends.

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <vole/chan.h>
#include <vole/go.h>
#include <vole/net.h>
#include <vole/runtime.h>

#include "net/connect.h"
#include "os/os.h"

namespace vole {
inline namespace v0 {
namespace net {
namespace {

using detail::connected;
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

connected dial_in_turn(const network_name& n, const list& at, const patience& p) {
  connected first;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (const std::error_code over = p.over()) {
      if (!first.why) first.why = {over, {}, at[i].to_string()};
      break;
    }
    connected c = detail::connect(n, at[i], share_of(p, at.size() - i));
    if (c.end != nullptr) return c;
    if (!first.why) first.why = std::move(c.why);
  }
  return first;
}

struct arrival {
  connected c;
  bool fallback;
};

connected dial_both(const network_name& n, list first, list second, const patience& p) {
  const context parent = p.ctx != nullptr ? *p.ctx : context::background();
  auto [ctx, cancel] = with_deadline(parent, detail::from_ns(p.deadline));
  const chan<arrival> arrivals(2);  // both have room, whether or not somebody still listens
  const auto start = [&, ctx = ctx](list at, bool fallback) {
    go([=, at = std::move(at)] {
      arrivals.send({dial_in_turn(n, at, patience::of(ctx)), fallback});
    });
  };
  start(std::move(first), false);
  bool started = false;
  failure why;
  for (int pending = 1; pending != 0;) {
    std::optional<arrival> came;
    if (started) {
      came = arrivals.recv();
    } else {
      came = arrivals.recv_for(duration(kFallback)).value;
    }
    if (came && came->c.end != nullptr) {
      cancel();
      if (pending == 2) arrivals.recv();  // the loser, which is closed with that
      return std::move(came->c);
    }
    if (came) {
      --pending;
      if (!why || !came->fallback) why = std::move(came->c.why);
    }
    if (!started) {
      started = true;
      ++pending;
      start(std::move(second), true);
    }
  }
  connected none;
  none.why = std::move(why);
  return none;
}

connected dial_parallel(const network_name& n, const list& at, const patience& p) {
  list first, second;
  for (const address& a : at) (a.parts().ip == at[0].parts().ip ? first : second).push_back(a);
  if (second.empty() || n.kind != detail::transport::tcp) return dial_in_turn(n, at, p);
  if (goroutine_id() != 0) return dial_both(n, std::move(first), std::move(second), p);
  try {
    // Copies: a goroutine that the runtime's end has left in user code goes on without us.
    const context ctx = p.ctx != nullptr ? *p.ctx : context::background();
    return spawn([=, deadline = p.deadline] {
             return dial_both(n, first, second, {&ctx, deadline});
           })
        .join();
  } catch (const std::system_error& ended) {  // the runtime has
    connected none;
    none.why.code = ended.code();
    return none;
  }
}

conn dial_all(std::string_view network, std::string_view at, const patience& p, failure& f) {
  f.code = p.over();
  if (f) return {};
  const network_name n = detail::find_network(network);
  const list found = detail::find_addresses(n, network, at, detail::purpose::dial, p, f);
  if (f) return {};
  connected c = dial_parallel(n, found, p);
  f = std::move(c.why);
  if (c.end == nullptr) return {};
  f = {};
  return conn(c.end.release());
}

conn dial_or_throw(std::string_view network, std::string_view at, const patience& p) {
  failure f;
  conn c = dial_all(network, at, p, f);
  if (!f) return c;
  std::string what = "dial " + std::string(network);
  const bool names_itself = !f.what.empty();  // "lookup ...", "address ..."
  if (!names_itself) what += " " + (f.where.empty() ? std::string(at) : f.where);
  detail::throw_net(std::move(what), f);
}

conn dial_quietly(std::string_view network, std::string_view at, const patience& p,
                  std::error_code& error) {
  failure f;
  conn c = dial_all(network, at, p, f);
  error = f.code;
  return c;
}

}  // namespace

conn dial(std::string_view network, std::string_view at) { return dial_or_throw(network, at, {}); }
conn dial(std::string_view network, std::string_view at, const context& ctx) {
  return dial_or_throw(network, at, patience::of(ctx));
}
conn dial(std::string_view network, std::string_view at, duration most) {
  return dial_or_throw(network, at, {nullptr, detail::deadline_after(most)});
}
conn dial(std::string_view network, std::string_view at, std::error_code& error) {
  return dial_quietly(network, at, {}, error);
}
conn dial(std::string_view network, std::string_view at, const context& ctx,
          std::error_code& error) {
  return dial_quietly(network, at, patience::of(ctx), error);
}
conn dial(std::string_view network, std::string_view at, duration most, std::error_code& error) {
  return dial_quietly(network, at, {nullptr, detail::deadline_after(most)}, error);
}

}  // namespace net
}  // namespace v0
}  // namespace vole
