// What waits on the network ends when its context is done: at once, alone, and the file stays
// usable.

#include <vole/net.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "net_pair.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::context;
using vole::errc;
using vole::net::conn;
using vole_test::wait_until_parked;

class NetContext : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(NetContext);

std::error_code read_with(conn& c, const context& ctx) {
  char one[1];
  std::error_code error;
  const std::size_t n = c.read(one, ctx, error);
  EXPECT_EQ(n, error ? 0u : 1u);
  return error;
}

TEST_P(NetContext, AReadIsCancelledAndTheConnectionStaysUsable) {
  run([] {
    auto p = vole_test::connected_pair();
    auto [ctx, cancel] = vole::with_cancel(context::background());
    auto reader = vole::spawn([&p, ctx = ctx] { return read_with(p.near, ctx); });
    wait_until_parked(1, "IO wait");
    cancel();
    EXPECT_EQ(reader.join(), errc::canceled);
    EXPECT_EQ(read_with(p.near, ctx), errc::canceled) << "done before";
    p.far.write("x");
    EXPECT_EQ(read_with(p.near, ctx), errc::canceled) << "done before, whatever is there";
    EXPECT_FALSE(read_with(p.near, context::background()));
  });
}

TEST_P(NetContext, DeadlinesOfContextsAndOfConnectionsAreTwoThings) {
  run([] {
    auto p = vole_test::connected_pair();
    auto [ctx, cancel] = vole::with_timeout(context::background(), 2ms);
    EXPECT_EQ(read_with(p.near, ctx), errc::deadline_exceeded);
    EXPECT_EQ(ctx.err(), errc::deadline_exceeded);
    auto [other, stop] = vole::with_cancel(context::background());
    p.near.set_read_deadline(vole::now() + 2ms);
    EXPECT_EQ(read_with(p.near, other), errc::deadline_exceeded);
    EXPECT_FALSE(other.err());
    p.near.set_read_deadline(vole::time_point::max());
    p.far.write("x");
    EXPECT_FALSE(read_with(p.near, other));
  });
}

// One reads, others queue behind it; those whose context is done leave the queue, the rest do not
// notice.
TEST_P(NetContext, WhoQueuesIsCancelledWithoutDisturbingTheOthers) {
  run([] {
    auto p = vole_test::connected_pair();
    auto [ctx, cancel] = vole::with_cancel(context::background());
    std::atomic<int> read{0};
    vole::wait_group patient, hasty;
    for (int i = 0; i < 3; ++i)
      patient.go([&] { read += read_with(p.near, context::background()) ? 0 : 1; });
    wait_until_parked(3, "IO wait");
    for (int i = 0; i < 3; ++i)
      hasty.go([&, ctx = ctx] { EXPECT_EQ(read_with(p.near, ctx), errc::canceled); });
    wait_until_parked(6, "IO wait");
    patient.go([&] { read += read_with(p.near, context::background()) ? 0 : 1; });
    wait_until_parked(7, "IO wait");
    cancel();
    hasty.wait();
    EXPECT_EQ(read, 0);
    p.far.write("four");
    patient.wait();
    EXPECT_EQ(read, 4);
  });
}

TEST_P(NetContext, PlainThreadsAreCancelledToo) {
  auto p = vole_test::connected_pair();
  for (const bool queues : {false, true}) {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    std::atomic<int> about{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < (queues ? 3 : 1); ++i)
      readers.emplace_back([&, ctx = ctx] {
        ++about;
        EXPECT_EQ(read_with(p.near, ctx), errc::canceled);
      });
    while (about < static_cast<int>(readers.size())) std::this_thread::yield();
    cancel();
    for (std::thread& t : readers) t.join();
  }
  vole::shutdown();
}

TEST_P(NetContext, AWriteIsCancelledAndSaysHowMuch) {
  run([] {
    auto [near, far] = vole::net::pipe();
    const std::string much(4 << 20, 'x');
    auto [ctx, cancel] = vole::with_cancel(context::background());
    auto writer = vole::spawn([&, ctx = ctx, &c = near] {
      std::error_code error;
      const std::size_t n = c.write(much, ctx, error);
      EXPECT_EQ(error, errc::canceled);
      return n;
    });
    wait_until_parked(1, "IO wait");
    cancel();
    const std::size_t n = writer.join();
    EXPECT_LT(n, much.size());
    std::string got(n, '\0');
    EXPECT_EQ(far.read_full(got), n);
    EXPECT_EQ(near.write("y"), 1u) << "it stays usable";
    char y[1];
    EXPECT_EQ(far.read_full(y), 1u);
    EXPECT_EQ(y[0], 'y');
  });
}

TEST_P(NetContext, AcceptReadFromAndTheWaitsOfForeignFiles) {
  run([] {
    auto l = vole::net::listen("tcp", "127.0.0.1:0");
    auto packets = vole::net::listen_packet("udp", "127.0.0.1:0");
    auto [near, far] = vole::net::pipe();
    const int fd = near.native_handle();
    auto [ctx, cancel] = vole::with_cancel(context::background());
    vole::wait_group all;
    all.go([&, ctx = ctx] {
      std::error_code error;
      EXPECT_FALSE(l.accept(ctx, error));
      EXPECT_EQ(error, errc::canceled);
    });
    all.go([&, ctx = ctx] {
      char text[8];
      std::error_code error;
      EXPECT_EQ(packets.read_from(text, ctx, error).first, 0u);
      EXPECT_EQ(error, errc::canceled);
    });
    all.go([&, ctx = ctx, fd] {
      std::error_code error;
      EXPECT_FALSE(vole::wait_readable(fd, ctx, error));
      EXPECT_EQ(error, errc::canceled);
      EXPECT_TRUE(vole::wait_writable(fd, context::background()));
    });
    wait_until_parked(3, "IO wait");
    cancel();
    all.wait();
    conn c = vole::net::dial("tcp", l.local_address().to_string());
    EXPECT_TRUE(l.accept(context::background()));
    packets.write_to("x", packets.local_address(), context::background());
    std::array<unsigned char, 8> text{};
    EXPECT_EQ(packets.read_from(text, context::background()).first, 1u);
    try {
      (void)vole::wait_readable(fd, ctx);
      ADD_FAILURE() << "the context is done";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), errc::canceled);
    }
    far.write("x");
    EXPECT_TRUE(vole::wait_readable(fd, context::background()));
  });
}

// Cancellation, data and closing come at the same moment; whatever happens, everybody ends and no
// byte is lost.
TEST_P(NetContext, CancellationsRaceDataAndTheEnd) {
  run([] {
    for (int round = 0; round < (vole_test::kSanitized ? 40 : 200); ++round) {
      auto p = vole::net::pipe();
      conn& c = p.first;
      auto [ctx, cancel] = vole::with_cancel(context::background());
      std::atomic<int> got{0};
      vole::wait_group all;
      for (int i = 0; i < 4; ++i)
        all.go([&, i, ctx = ctx] {
          const std::error_code e = read_with(c, i % 2 == 0 ? ctx : context::background());
          if (!e) ++got;
          EXPECT_TRUE(!e || e == errc::canceled || e == errc::closed) << e.message();
        });
      for (int k = round % 5; k > 0; --k) vole::yield();
      all.go([&] {
        std::error_code too_late;
        p.second.write("xy", too_late);
      });
      all.go([&cancel = cancel] { cancel(); });
      for (int k = round % 3; k > 0; --k) vole::yield();
      if (round % 2 != 0)
        while (got < 2) vole::yield();  // two are patient
      c.close();
      all.wait();
      EXPECT_LE(got, 2);
    }
  });
}

// The runtime ends while goroutines wait with a context that lives on.
TEST_P(NetContext, AbandonedWaitsLeaveNothingInTheContext) {
  for (int round = 0; round < 20; ++round) {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    auto p = vole::net::pipe();
    const context& outer = ctx;
    vole::run([&, &stop = cancel] {
      for (int i = 0; i < 3; ++i)
        vole::go([&] {
          char one[1];
          std::error_code error;
          (void)p.first.read(one, outer, error);
        });
      vole::go([&] {
        std::error_code error;
        vole::wait_readable(p.second.native_handle(), outer, error);
      });
      wait_until_parked(4, "IO wait");
      if (round % 2 == 0) stop();
    });
    cancel();
    p.second.write("x");
    EXPECT_FALSE(read_with(p.first, context::background())) << "the turn was given up";
  }
  vole::shutdown();
  allow_zombies();
}

}  // namespace
