// Goroutines that wait: for time, for the network, for each other's end, in the kernel.

#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "torture.h"

namespace torture {
namespace {

using namespace std::chrono_literals;

// Nothing comes before its time; what was stopped does not come.
void time(round&, dice& d) {
  const auto from = vole::now();
  const auto nap = d.up_to_us(2000);
  vole::sleep_for(nap);
  MUST(vole::now() - from >= nap);
  const auto fired = std::make_shared<std::atomic<int>>(0);
  const vole::chan<> done(1);
  auto soon = vole::after_func(d.up_to_us(1000), [=] {
    ++*fired;
    done.send();
  });
  if (d.once_in(2) && soon.stop()) {
    MUST(*fired == 0);
  } else {
    (void)done.recv();
    MUST(*fired == 1);
  }
  vole::ticker t(1ms);
  for (int i = 0; i < 2; ++i) (void)t.channel().recv();
  MUST(vole::now() - from >= nap + 2ms);
  vole::timer never(1h);
  MUST(never.stop());
  MUST(!never.channel().try_recv());
}

std::string noise(dice& d, std::size_t n) {
  std::string s(n, ' ');
  for (char& c : s) c = static_cast<char>('a' + d.below(26));
  return s;
}

void echo(vole::net::conn c) {
  std::array<char, 3000> some;
  std::error_code error;
  while (const std::size_t n = c.read(std::span(some), error)) {
    c.write(std::string_view(some.data(), n), error);
    if (error) break;
  }
}

// A value that was sent comes back; a wait that nobody serves ends when its time is over.
void network(round&, dice& d) {
  const bool tcp = d.once_in(2);
  const int clients = 1 + static_cast<int>(d.below(4));
  vole::wait_group all;
  std::unique_ptr<vole::net::listener> at;
  if (tcp) {
    at = std::make_unique<vole::net::listener>(vole::net::listen("tcp", "127.0.0.1:0"));
    all.go([&] {
      for (int i = 0; i < clients; ++i) all.go(echo, at->accept());
    });
  }
  for (int i = 0; i < clients; ++i)
    all.go([&, mine = d.fork()]() mutable {
      vole::net::conn c;
      if (tcp) {
        c = vole::net::dial("tcp", at->local_address().to_string());
      } else {
        auto [here, there] = vole::net::pipe();
        all.go(echo, std::move(there));
        c = std::move(here);
      }
      for (int k = 0; k < 4; ++k) {
        const std::string sent = noise(mine, 1 + mine.below(8000));
        std::string back(sent.size(), ' ');
        auto reads = vole::spawn([&] { return c.read_full(std::span(back.data(), back.size())); });
        MUST(c.write(sent) == sent.size());
        MUST(reads.join() == sent.size() && back == sent);
      }
      std::error_code error;
      char nothing = 0;
      c.set_read_deadline(vole::now() + mine.up_to_us(1000));
      MUST(c.read(std::span(&nothing, 1), error) == 0 && error == vole::errc::deadline_exceeded);
      c.close();
    });
  all.wait();
}

// A context that ends, ends all below it, with the right reason, and frees who waits.
void contexts(round&, dice& d) {
  auto [all, cancel_all] = vole::with_cancel(vole::context::background());
  auto [some, cancel_some] = vole::with_timeout(all, d.up_to_us(3000));
  const bool early = d.once_in(2);
  const vole::chan<int> never;
  vole::wait_group gone;
  for (int i = 0; i < 5; ++i)
    gone.go([&, i, below = some, chance = d.fork()]() mutable {
      auto [mine, cancel_mine] = vole::with_cancel(below);
      if (i % 2 == 0) {
        MUST(never.recv(mine).status == vole::chan_status::canceled);
      } else {
        vole::select(vole::on_recv(never), vole::on_done(mine));
      }
      const std::error_code why = mine.err();
      MUST(why == vole::errc::canceled || why == vole::errc::deadline_exceeded);
      MUST(early || why == vole::errc::deadline_exceeded);
    });
  if (early) {
    vole::sleep_for(d.up_to_us(1000));
    cancel_all();
    MUST(all.err() == vole::errc::canceled);
  }
  gone.wait();
  vole::group work(all);
  if (early) return;
  work.go([] { throw std::string("the first"); });
  work.go([&, ctx = work.context()] { (void)never.recv(ctx); });
  try {
    work.wait();
    fail("a group forgets what was thrown", __FILE__, __LINE__);
  } catch (const std::string& s) {
    MUST(s == "the first");
  }
}

// In the kernel, with the runtime's knowledge and without.
void calls(round&, dice& d) {
  const auto nap = static_cast<useconds_t>(d.below(1500));
  const std::uint64_t me = vole::goroutine_id();
  if (d.once_in(2)) {
    const int error = vole::blocking([&] {
      usleep(nap);
      return close(-1) == 0 ? 0 : errno;
    });
    MUST(error == EBADF);
  } else {
    usleep(nap);
  }
  MUST(vole::goroutine_id() == me);
}

constexpr player kWaiters[] = {
    {"time", time},
    {"network", network},
    {"contexts", contexts},
    {"calls", calls},
};

}  // namespace

std::span<const player> waiters() { return kWaiters; }

}  // namespace torture
