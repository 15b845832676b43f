// io.h over real sockets, pipes and files: resets, deadlines, slow peers, half-closes.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vole/io.h>
#include <vole/vole.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "net_pair.h"
#include "parked.h"

namespace {

namespace io = vole::io;
using namespace std::chrono_literals;
using vole::errc;
using vole::net::conn;
using vole_test::conn_pair;
using vole_test::connected_pair;
using vole_test::kSanitized;

class IoNet : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(IoNet);

conn_pair unix_pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) std::abort();
  return {conn(fds[0]), conn(fds[1])};
}

// The next close() of it resets the connection.
void reset_at_close(const conn& c) {
  const linger hard{1, 0};
  setsockopt(c.native_handle(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
}

// A stream of bytes that depend on their place, and its checksum.
struct pattern {
  std::uint64_t at = 0, sum = 0;
  void next(char* to, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i, ++at)
      to[i] = static_cast<char>(at * 31 + (at >> 8) * 7 + (at >> 16));
  }
  void add(const char* from, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      sum = sum * 1099511628211u + static_cast<unsigned char>(from[i]);
  }
};

std::uint64_t write_pattern(conn& to, std::uint64_t bytes) {
  pattern p;
  std::vector<char> part(64 * 1024 - 13);
  for (std::uint64_t left = bytes; left != 0;) {
    const std::size_t n = std::min<std::uint64_t>(left, part.size());
    p.next(part.data(), n);
    p.add(part.data(), n);
    to.write({part.data(), n});
    left -= n;
  }
  to.close_write();
  return p.sum;
}

std::pair<std::uint64_t, std::uint64_t> read_sum(conn& from) {
  pattern p;
  std::vector<char> part(100 * 1024 + 1);
  std::uint64_t n = 0;
  while (const std::size_t now = from.read(part)) {
    p.add(part.data(), now);
    n += now;
  }
  return {n, p.sum};
}

TEST_P(IoNet, LinesOneByteAtATime) {
  run([] {
    conn_pair p = connected_pair();
    vole::wait_group all;
    all.go([&] {
      for (const char c : std::string("GET / HTTP/1.1\r\nhost: x\r\n\r\nbody"))
        p.far.write({&c, 1});
      p.far.close_write();
    });
    io::reader r(p.near, 4);
    std::string line;
    std::vector<std::string> lines;
    while (r.read_line(line)) lines.push_back(line);
    EXPECT_EQ(lines, (std::vector<std::string>{"GET / HTTP/1.1", "host: x", "", "body"}));
    EXPECT_FALSE(r.was_complete());
    all.wait();
  });
}

TEST_P(IoNet, APlainThreadReadsLinesToo) {
  conn_pair p = connected_pair();
  std::thread other([&] {
    io::writer w(p.far);
    for (int i = 0; i < 1000; ++i) w.write(std::to_string(i) + "\n");
    w.flush();
    p.far.close_write();
  });
  io::reader r(p.near);
  std::string line;
  int n = 0;
  while (r.read_line(line)) EXPECT_EQ(line, std::to_string(n++));
  EXPECT_EQ(n, 1000);
  other.join();
  p = {};
  vole::shutdown();
}

TEST_P(IoNet, ADeadlineInTheMiddleOfALineLosesNothing) {
  run([] {
    conn_pair p = connected_pair();
    p.far.write("half a ");
    io::reader r(p.near);
    std::string line;
    std::error_code error;
    EXPECT_EQ(r.peek(7), "half a ") << "it has come";
    p.near.set_read_deadline(vole::now() + 1ms);
    EXPECT_FALSE(r.read_line(line, error));
    EXPECT_EQ(error, errc::deadline_exceeded);
    p.near.set_read_deadline(vole::time_point::max());
    p.far.write("line\nnext");
    EXPECT_TRUE(r.read_line(line, error));
    EXPECT_EQ(line, "half a line");
    p.near.set_read_deadline(vole::time_point());
    EXPECT_THROW((void)r.read_line(line), std::system_error);
  });
}

TEST_P(IoNet, AResetIsAnErrorAndNotTheEnd) {
  run([] {
    conn_pair p = connected_pair();
    p.far.write("no newline");
    io::reader r(p.near);
    EXPECT_EQ(r.peek(10), "no newline");
    reset_at_close(p.far);
    p.far.close();
    std::string line;
    std::error_code error;
    EXPECT_FALSE(r.read_line(line, error));
    EXPECT_EQ(error, std::errc::connection_reset);

    conn_pair q = connected_pair(), s = connected_pair();
    reset_at_close(q.far);
    q.far.close();
    std::error_code in, out;
    EXPECT_EQ(io::copy(s.near, q.near, in, out), 0u);
    EXPECT_EQ(in, std::errc::connection_reset) << "the source's";
    EXPECT_FALSE(out);
  });
}

TEST_P(IoNet, AHugeLineFromAHostilePeerIsRefused) {
  run([] {
    conn_pair p = connected_pair();
    vole::wait_group all;
    all.go([&] {
      const std::string flood(1 << 20, 'x');
      std::error_code error;
      while (!error) p.far.write(flood, error);
    });
    io::reader r(p.near);
    std::string line;
    std::error_code error;
    EXPECT_FALSE(r.read_line(line, error));
    EXPECT_EQ(error, errc::too_long);
    p.near.close();
    all.wait();
  });
}

TEST_P(IoNet, AWriterOverASlowReceiverWaitsAndFlushes) {
  run([] {
    conn_pair p = connected_pair();
    std::string got;
    vole::wait_group all;
    all.go([&] {
      char few[777];
      while (const std::size_t n = p.far.read(few)) {
        got.append(few, n);
        vole::yield();
      }
    });
    std::string sent;
    {
      io::writer w(p.near, 100);
      for (int i = 0; i < 20000; ++i) {
        const std::string text = std::to_string(i) + ",";
        sent += text;
        w.write(text);
      }
    }
    p.near.close_write();
    all.wait();
    EXPECT_EQ(got, sent);
  });
}

TEST_P(IoNet, CopyBetweenConnsKeepsEveryByte) {
  constexpr std::uint64_t kBytes = kSanitized ? 4 << 20 : 64 << 20;
  vole::run([&] {
    conn_pair left = connected_pair(), right = connected_pair();
    std::uint64_t sent = 0, copied = 0;
    vole::wait_group all;
    all.go([&] { sent = write_pattern(left.near, kBytes); });
    all.go([&] {
      copied = io::copy(right.near, left.far);
      right.near.close_write();
    });
    const auto [n, sum] = read_sum(right.far);
    all.wait();
    EXPECT_EQ(n, kBytes);
    EXPECT_EQ(copied, kBytes);
    EXPECT_EQ(sum, sent);
  });
  expect_clean();
}

// tcp, unix, pipes and files, in any combination: what the kernel cannot splice is done by hand.
TEST_P(IoNet, CopyBetweenAnyKindsOfConn) {
  constexpr std::uint64_t kBytes = 300 * 1000 + 17;
  enum kind { tcp, unix_stream, pipe_ends, kinds };
  const auto make = [](int k) -> conn_pair {  // near is written to, far is read from
    if (k == tcp) return connected_pair();
    if (k == unix_stream) return unix_pair();
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) std::abort();
    return {conn(fds[1]), conn(fds[0])};
  };
  run([&] {
    for (int from = 0; from < kinds; ++from)
      for (int to = 0; to < kinds; ++to) {
        conn_pair a = make(from), b = make(to);
        const auto end_of = [](conn& c, int k) { k == pipe_ends ? c.close() : c.close_write(); };
        std::uint64_t sent = 0;
        vole::wait_group all;
        all.go([&] {
          pattern p;
          std::vector<char> text(kBytes);
          p.next(text.data(), text.size());
          p.add(text.data(), text.size());
          sent = p.sum;
          a.near.write({text.data(), text.size()});
          end_of(a.near, from);
        });
        all.go([&] {
          EXPECT_EQ(io::copy(b.near, a.far), kBytes);
          end_of(b.near, to);
        });
        const auto [n, sum] = read_sum(b.far);
        all.wait();
        EXPECT_EQ(n, kBytes) << from << " to " << to;
        EXPECT_EQ(sum, sent) << from << " to " << to;
      }
  });
}

int file_with(std::string_view text) {
  const int fd = memfd_create("io_net_test", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    std::abort();
  lseek(fd, 0, SEEK_SET);
  return fd;
}

TEST_P(IoNet, CopyFromAFileAndToAFile) {
  run([] {
    std::string text(3 * 1000 * 1000 + 1, '\0');
    pattern().next(text.data(), text.size());
    const int fd = file_with(text);
    lseek(fd, 1, SEEK_SET);
    conn_pair p = connected_pair();
    std::string got;
    vole::wait_group all;
    all.go([&] { got = io::read_all(p.far); });
    EXPECT_EQ(io::copy(p.near, fd), text.size() - 1) << "from where it stands";
    EXPECT_EQ(io::copy(p.near, fd), 0u) << "now at its end";
    p.near.close_write();
    all.wait();
    EXPECT_TRUE(got == text.substr(1));
    // And back, into a file that can only be appended to, which no splice can do.
    const int out = memfd_create("append", MFD_CLOEXEC);
    fcntl(out, F_SETFL, O_APPEND);
    lseek(fd, 0, SEEK_SET);
    conn_pair back = connected_pair();
    all.go([&] {
      io::copy(back.near, fd);
      back.near.close_write();
    });
    conn file(out);
    EXPECT_EQ(io::copy(file, back.far), text.size());
    all.wait();
    std::string again(text.size(), '\0');
    EXPECT_EQ(::pread(file.native_handle(), again.data(), again.size(), 0),
              static_cast<ssize_t>(again.size()));
    EXPECT_TRUE(again == text);
    ::close(fd);
  });
}

// A descriptor that sendfile does not take, and that has nothing to give for a while: the goroutine
// parks, also at one P, and the other goes on.
TEST_P(IoNet, CopyFromADescriptorThatIsNoFileParks) {
  run([] {
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    conn_pair p = connected_pair();
    vole::wait_group all;
    all.go([&] {
      EXPECT_EQ(io::copy(p.near, fds[0]), 5u);
      p.near.close_write();
    });
    vole_test::wait_until_parked(1, "IO wait");
    ASSERT_EQ(::write(fds[1], "hello", 5), 5);
    ::close(fds[1]);
    EXPECT_EQ(io::read_all(p.far), "hello");
    all.wait();
    ::close(fds[0]);
    std::error_code in, out;
    EXPECT_EQ(io::copy(p.far, -1, in, out), 0u);
    EXPECT_EQ(in, std::errc::bad_file_descriptor);
    EXPECT_FALSE(out);
  });
}

TEST_P(IoNet, CopyToAPeerThatIsGoneIsTheSinksError) {
  std::signal(SIGPIPE, SIG_DFL);  // it would end us
  run([] {
    conn_pair from = connected_pair(), to = connected_pair();
    reset_at_close(to.far);
    to.far.close();
    const std::string text(1 << 20, 'x');
    vole::wait_group all;
    all.go([&] {
      std::error_code error;
      while (!error) from.far.write(text, error);
    });
    std::error_code in, out;
    (void)io::copy(to.near, from.near, in, out);
    EXPECT_TRUE(out == std::errc::connection_reset || out == std::errc::broken_pipe) << out;
    EXPECT_FALSE(in) << in;
    from.near.close();
    all.wait();

    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    ::close(fds[0]);
    conn broken(fds[1]);
    conn_pair again = connected_pair();
    again.far.write("text");
    EXPECT_EQ(io::copy(broken, again.near, in, out), 0u);
    EXPECT_EQ(out, std::errc::broken_pipe);
    const int fd = file_with("text");
    EXPECT_EQ(io::copy(broken, fd, in, out), 0u);
    EXPECT_EQ(out, std::errc::broken_pipe);
    EXPECT_FALSE(in);
    ::close(fd);
  });
}

// A copy that waits for its slow sink holds nothing of its source, which can be closed meanwhile.
// The sink's deadline, or its close, ends it.
TEST_P(IoNet, ACopyThatWaitsForItsSinkCanBeEnded) {
  run([] {
    for (const bool by_deadline : {false, true}) {
      conn_pair from = unix_pair(), to = unix_pair();
      from.far.write("it has come: what it waits for is the sink");
      const std::array<char, 4096> filling{};
      while (::write(to.near.native_handle(), filling.data(), filling.size()) > 0) {
      }
      vole::wait_group all;
      std::error_code in, out;
      std::uint64_t n = 1;
      all.go([&] { n = io::copy(to.near, from.near, in, out); });
      vole_test::wait_until_parked(1, "IO wait");
      from.near.close();
      by_deadline ? to.near.set_write_deadline(vole::time_point()) : to.near.close();
      all.wait();
      EXPECT_EQ(out, by_deadline ? errc::deadline_exceeded : errc::closed);
      EXPECT_FALSE(in);
      EXPECT_EQ(n, 0u);
    }
  });
}

TEST_P(IoNet, TheSourcesDeadlineEndsACopy) {
  run([] {
    conn_pair from = connected_pair(), to = connected_pair();
    from.far.write("some");
    from.near.set_read_deadline(vole::now() + 20ms);
    std::error_code in, out;
    const std::uint64_t n = io::copy(to.near, from.near, in, out);
    EXPECT_LE(n, 4u);
    EXPECT_EQ(in, errc::deadline_exceeded);
    EXPECT_FALSE(out);
    from.near.set_read_deadline(vole::time_point::max());
    conn none;
    EXPECT_EQ(io::copy(to.near, none, in, out), 0u);
    EXPECT_EQ(in, errc::closed);
    from.far.write("more");
    EXPECT_EQ(io::copy(none, from.near, in, out), 0u);
    EXPECT_EQ(out, errc::closed);
    EXPECT_FALSE(in);
  });
}

// What a copy took from a connection is missing for a read that follows, and nothing else is.
TEST_P(IoNet, ReadsAfterACopyFindWhatFollows) {
  run([] {
    conn_pair from = connected_pair(), to = connected_pair();
    char some[64];
    from.far.write("x");
    EXPECT_EQ(from.near.read(some), 1u);  // a short read: nothing more there, it says
    std::error_code in, out;
    from.far.write("copied");
    from.near.set_read_deadline(vole::now() + 20ms);
    std::uint64_t n = io::copy(to.near, from.near, in, out);
    EXPECT_EQ(in, errc::deadline_exceeded);
    from.near.set_read_deadline(vole::time_point::max());
    from.far.write("read");
    from.far.close_write();
    EXPECT_EQ(n + io::read_all(from.near).size(), 10u);
  });
}

TEST_P(IoNet, ACopyAbandonedWithTheRuntimeLeavesNothingOpen) {
  for (int round = 0; round < 3; ++round) {
    conn_pair from = connected_pair(), to = connected_pair();
    vole::shutdown();
    vole::set_max_procs(procs());
    vole::run([&] {
      vole::go([&] { io::copy(to.near, from.near); });
      vole_test::wait_until_parked(1, "IO wait");
    });
    // Its turn is free, and its pipe does not stand in the way of another copy.
    std::thread writes([&] {
      from.far.write("later");
      from.far.close_write();
    });
    EXPECT_EQ(io::copy(to.near, from.near), 5u);
    writes.join();
    from = {};
    to = {};
    vole::shutdown();
    expect_clean();
  }
}

}  // namespace
