// Time, contexts, the network, signals: what somebody else starts.

#include <array>
#include <chrono>
#include <csignal>
#include <mutex>
#include <stop_token>
#include <string>

#include "races/cases.h"

using namespace std::chrono_literals;
using races::both;
using races::in_turn;
using races::step;

namespace {

RACE(after_func) {
  step wrote;
  SHARED(x);
  vole::chan<> ran;
  if constexpr (!kRacy) x = 1;
  const vole::func_timer t = vole::after_func(1ms, [&] {
    if constexpr (kRacy) wrote.after();
    ++x;
    ran.send();
  });
  if constexpr (kRacy) {
    x = 1;
    wrote.now();
  }
  ran.recv();
}

RACE(after_func_reset) {
  step wrote;
  SHARED(x);
  vole::chan<> ran;
  vole::func_timer t = vole::after_func(1h, [&] {
    if constexpr (kRacy) wrote.after();
    ++x;
    ran.send();
  });
  both(
      [&] {
        if constexpr (!kRacy) x = 1;
        (void)t.reset(1ms);
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&] { ran.recv(); });
}

RACE(after) {
  step wrote;
  SHARED(x);
  vole::chan<vole::recv_chan<vole::time_point>> handed;
  both(
      [&] {
        if constexpr (!kRacy) x = 1;
        handed.send(vole::after(1ms));
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&] {
        const auto c = *handed.recv();
        c.recv();
        if constexpr (kRacy) wrote.after();
        ++x;
      });
}

// Two who wait for ticks have nothing to do with each other.
RACE(ticks_order_nothing) {
  SHARED(x);
  vole::ticker t(200us);
  vole::mutex m;
  auto body = [&] {
    for (int i = 0; i < 3; ++i) {
      t.channel().recv();
      std::unique_lock hold(m, std::defer_lock);
      if constexpr (!kRacy) hold.lock();
      ++x;
    }
  };
  both(body, body);
}

RACE(sleep_orders_nothing) {
  SHARED(x);
  vole::mutex m;
  auto body = [&](vole::duration d) {
    vole::sleep_for(d);
    std::unique_lock hold(m, std::defer_lock);
    if constexpr (!kRacy) hold.lock();
    ++x;
  };
  both([&] { body(1ms); }, [&] { body(5ms); });
}

RACE(cancel) {
  step wrote;
  auto [ctx, cancel] = vole::with_cancel(vole::context::background());
  SHARED(x);
  both(
      [&, c = std::move(cancel)]() mutable {
        if constexpr (!kRacy) x = 1;
        c();
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&, ctx = ctx] {
        ctx.done().recv();
        if constexpr (kRacy) wrote.after();
        ++x;
      });
}

RACE(cancel_seen_by_done) {
  step wrote;
  auto [ctx, cancel] = vole::with_cancel(vole::context::background());
  SHARED(x);
  step over;
  both(
      [&, c = std::move(cancel)]() mutable {
        if constexpr (!kRacy) x = 1;
        c();
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
        over.now();
      },
      [&, ctx = ctx] {
        over.after();
        ctx.done().recv();
        if constexpr (kRacy) wrote.after();
        ++x;
      });
}

RACE(cancel_seen_by_err) {
  step wrote;
  auto [ctx, cancel] = vole::with_cancel(vole::context::background());
  SHARED(x);
  both(
      [&, c = std::move(cancel)]() mutable {
        if constexpr (!kRacy) x = 1;
        c();
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&, ctx = ctx] {
        while (!ctx.err()) vole::yield();
        if constexpr (kRacy) wrote.after();
        ++x;
      });
}

RACE(canceled_wait) {
  step wrote;
  auto [ctx, cancel] = vole::with_cancel(vole::context::background());
  vole::mutex held;
  held.lock();
  SHARED(x);
  both(
      [&, c = std::move(cancel)]() mutable {
        if constexpr (!kRacy) x = 1;
        c();
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&, ctx = ctx] {
        std::error_code error;
        (void)held.lock(ctx, error);
        if constexpr (kRacy) wrote.after();
        ++x;
      });
  held.unlock();
}

RACE(deadline) {
  step wrote;
  SHARED(x);
  if constexpr (!kRacy) x = 1;
  auto [ctx, cancel] = vole::with_timeout(vole::context::background(), 1ms);
  vole::wait_group over;
  over.go([&, ctx = ctx] {
    ctx.done().recv();
    if constexpr (kRacy) wrote.after();
    ++x;
  });
  if constexpr (kRacy) {
    x = 1;
    wrote.now();
  }
  over.wait();
}

RACE(context_value) {
  static constexpr vole::context_key<int*> key{"x"};
  SHARED(x);
  SHARED(y);
  const vole::context ctx = vole::with_value(vole::context::background(), key, &x);
  in_turn([&] { ++**ctx.value(key); }, [&] { ++*(kRacy ? *ctx.value(key) : &y); });
}

RACE(after_func_of_a_context) {
  step wrote;
  auto [ctx, cancel] = vole::with_cancel(vole::context::background());
  SHARED(x);
  vole::chan<> ran;
  if constexpr (!kRacy) x = 1;
  auto watch = vole::after_func(ctx, [&] {
    if constexpr (kRacy) wrote.after();
    ++x;
    ran.send();
  });
  both([&, c = std::move(cancel)]() mutable { c(); },
       [&] {
         if constexpr (kRacy) {
           x = 1;
           wrote.now();
         }
         ran.recv();
       });
}

RACE(context_callback) {
  step wrote;
  auto [ctx, cancel] = vole::with_cancel(vole::context::background());
  SHARED(x);
  vole::chan<> ran(1);
  both([&, c = std::move(cancel)]() mutable { c(); },
       [&, ctx = ctx] {
         if constexpr (!kRacy) x = 1;
         const vole::context_callback watch(ctx, [&] {
           if constexpr (kRacy) wrote.after();
           ++x;
           ran.send();
         });
         if constexpr (kRacy) {
           x = 1;
           wrote.now();
         }
         ran.recv();
       });
}

RACE(stop_token) {
  step wrote;
  auto [ctx, cancel] = vole::with_cancel(vole::context::background());
  SHARED(x);
  vole::chan<> ran(1);
  vole::chan<> over;  // stop_callback takes who is on its thread for who runs it
  both(
      [&, c = std::move(cancel)]() mutable {
        if constexpr (kRacy) wrote.after();  // or it runs as it is registered
        c();
        over.close();
      },
      [&, ctx = ctx] {
        if constexpr (!kRacy) x = 1;
        const std::stop_callback watch(ctx.stop_token(), [&] {
          ++x;
          ran.send();
        });
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
        ran.recv();
        over.recv();
      });
}

RACE(buffer_of_a_connection) {
  auto ends = vole::net::pipe();
  vole::net::conn a = std::move(ends.first), b = std::move(ends.second);
  std::array<char, 64> out{};
  std::array<char, 64> in{};
  both(
      [&] {
        if constexpr (!kRacy) out[0] = 'x';
        (void)a.write(out);
        a.close_write();
      },
      [&] {
        if constexpr (kRacy) out[0] = 'x';
        while (b.read(in) != 0) {
        }
      });
}

RACE(connection_closed_by_another) {
  auto ends = vole::net::pipe();
  vole::net::conn a = std::move(ends.first), b = std::move(ends.second);
  std::array<char, 16> in{};
  SHARED(x);
  both(
      [&] {
        std::error_code error;
        (void)a.read(in, error);
        if constexpr (kRacy) ++x;
      },
      [&] {
        for (int i = 0; i < 5; ++i) vole::yield();
        a.close();
        if constexpr (kRacy) ++x;
      });
}

RACE(echo) {
  vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
  SHARED(served);
  vole::mutex m;
  vole::group g;
  g.go([&] {
    for (int i = 0; i < 3; ++i)
      g.go([&, c = l.accept()]() mutable {
        char text[8];
        const std::size_t n = c.read_full(text);
        (void)c.write(std::string_view(text, n));
        std::unique_lock hold(m, std::defer_lock);
        if constexpr (!kRacy) hold.lock();
        ++served;
      });
  });
  for (int i = 0; i < 3; ++i)
    g.go([&] {
      vole::net::conn c = vole::net::dial("tcp", l.local_address().to_string());
      (void)c.write("12345678");
      char text[8];
      (void)c.read_full(text);
    });
  g.wait();
}

RACE(signal_notify) {
  step wrote;
  vole::chan<int> heard(1);
  static int x;
  if constexpr (!kRacy) x = 1;
  const auto registered = vole::signal_notify(heard, {SIGUSR1});
  both(
      [&] {
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
        std::raise(SIGUSR1);
      },
      [&] {
        heard.recv();
        if constexpr (kRacy) wrote.after();
        ++x;
      });
}

RACE(process_output) {
  SHARED(x);
  vole::mutex m;
  auto body = [&] {
    const auto done = vole::process::run({"echo", "hello"});
    std::unique_lock hold(m, std::defer_lock);
    if constexpr (!kRacy) hold.lock();
    x += static_cast<int>(done.output.size());
  };
  both(body, body);
}

}  // namespace
