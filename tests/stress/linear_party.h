// Random short histories of a channel: parties on goroutines and plain threads, each
// operation with the moment of its call and of its return.
//
// Who    chan_linear_test.cc. Channel is vole::chan<int> or a mutant of it.
// Law    every history ends: once nobody moves any more, the driver closes the
//        channel. That close is an operation like any other.
#pragma once

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "linear.h"
#include "stress.h"

namespace linear {

class stage {
 public:
  std::uint64_t now() { return clock_.fetch_add(1); }
  std::atomic<int> finished{0};  // parties

 private:
  std::atomic<std::uint64_t> clock_{1};
};

inline result to_result(vole::chan_status s) {
  switch (s) {
    case vole::chan_status::ok: return result::ok;
    case vole::chan_status::closed: return result::closed;
    case vole::chan_status::timeout: return result::timeout;
    case vole::chan_status::would_block:
    case vole::chan_status::canceled: break;  // no operation here has a context
  }
  return result::would_block;
}

inline vole::duration short_time(vole_test::dice& d) {
  return std::chrono::nanoseconds(d.below(3) == 0 ? 0 : d.below(30000));
}

// The same operations by way of select, which must be the same operations.
inline void by_select(const vole::chan<int>& c, operation& o, vole_test::dice& d) {
  std::optional<int> v;
  const auto sends = [&] { return vole::on_send(c, o.value); };
  const auto takes = [&] { return vole::on_recv(c, v); };
  std::size_t k = 0;
  try {
    switch (o.what) {
      case verb::send: vole::select(sends()); break;
      case verb::try_send: k = vole::select(sends(), vole::on_default()); break;
      case verb::send_for: k = vole::select(sends(), vole::on_after(short_time(d))); break;
      case verb::recv: vole::select(takes()); break;
      case verb::try_recv: k = vole::select(takes(), vole::on_default()); break;
      default: k = vole::select(takes(), vole::on_after(short_time(d)));
    }
  } catch (const vole::channel_closed&) {
    o.how = result::closed;
    return;
  }
  const bool tried = o.what == verb::try_send || o.what == verb::try_recv;
  if (k == 1) {
    o.how = tried ? result::would_block : result::timeout;
  } else if (o.what == verb::recv || o.what == verb::try_recv || o.what == verb::recv_for) {
    o.how = v ? result::ok : result::closed;
    o.value = v.value_or(0);
  }
}

template <class Channel>
void directly(const Channel& c, operation& o, vole_test::dice& d) {
  const auto received = [&o](auto r) {
    o.how = to_result(r.status);
    o.value = r.value.value_or(0);
  };
  try {
    switch (o.what) {
      case verb::send: c.send(o.value); break;
      case verb::try_send: o.how = to_result(c.try_send(o.value)); break;
      case verb::send_for: o.how = to_result(c.send_for(o.value, short_time(d))); break;
      case verb::try_recv: received(c.try_recv()); break;
      case verb::recv_for: received(c.recv_for(short_time(d))); break;
      case verb::recv: {
        const std::optional<int> v = c.recv();
        o.how = v ? result::ok : result::closed;
        o.value = v.value_or(0);
        break;
      }
      case verb::close: c.close(); break;
      case verb::size: o.value = static_cast<int>(c.size()); break;
    }
  } catch (const vole::channel_closed&) {
    o.how = result::closed;
  }
}

template <class Channel>
void perform(stage& s, const Channel& c, operation& o, vole_test::dice& d) {
  o.called = s.now();
  bool selects = false;
  if constexpr (std::is_same_v<Channel, vole::chan<int>>)
    selects = o.what != verb::close && o.what != verb::size && d.below(4) == 0;
  if constexpr (std::is_same_v<Channel, vole::chan<int>>)
    if (selects) by_select(c, o, d);
  if (!selects) directly(c, o, d);
  o.returned = s.now();
}

inline verb any_verb(vole_test::dice& d) {
  static constexpr verb kOften[] = {verb::send,     verb::send,     verb::recv,
                                    verb::recv,     verb::try_send, verb::try_recv,
                                    verb::send_for, verb::recv_for, verb::size};
  return d.below(40) == 0 ? verb::close : kOften[d.below(9)];
}

// One history, on a goroutine. `threads`: may some of the parties be plain threads?
template <class Channel>
history play(std::size_t capacity, vole_test::dice& d, bool threads) {
  const Channel c(capacity);
  stage s;
  const std::uint32_t parties = 2 + d.below(3);
  std::vector<history> plans(parties);
  int value = 0;
  for (history& plan : plans)
    for (std::uint32_t n = 3 + d.below(4); n > 0; --n) {
      const verb what = any_verb(d);
      const bool sends = what == verb::send || what == verb::try_send || what == verb::send_for;
      plan.push_back({.what = what, .value = sends ? ++value : 0});
    }
  const auto live = [&](history& plan, std::uint64_t stream) {
    vole_test::dice mine(stream);
    for (operation& o : plan) {
      for (std::uint32_t pause = mine.below(4); pause > 1; --pause) vole::yield();
      perform(s, c, o, mine);
    }
    ++s.finished;
  };
  vole::wait_group all;
  std::vector<std::thread> plain;
  for (history& plan : plans) {
    const std::uint64_t stream = d.fork();
    if (threads && d.below(2) == 0) {
      plain.emplace_back([&, stream] { live(plan, stream); });
    } else {
      all.go([&, stream] { live(plan, stream); });
    }
  }
  std::uint64_t last = 0;
  for (int still = 0; s.finished != static_cast<int>(parties) && still < 40; ++still) {
    vole::yield();
    if (const std::uint64_t now = s.now(); now != std::exchange(last, now) + 1) still = 0;
    if (still > 20) vole::select(vole::on_after(std::chrono::microseconds(20)));
  }
  history h{{.what = verb::close}};
  perform(s, c, h[0], d);
  all.wait();
  for (std::thread& t : plain) t.join();
  for (const history& plan : plans) h.insert(h.end(), plan.begin(), plan.end());
  return h;
}

}  // namespace linear
