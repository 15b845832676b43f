// io.h: any contiguous range of bytes, and contexts that end what waits, with nothing lost.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vole/io.h>
#include <vole/vole.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "fixture.h"

namespace {

namespace io = vole::io;
using namespace std::chrono_literals;
using vole::context;
using vole::errc;
using vole::net::conn;

class IoContext : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(IoContext);

// What it is asked for, for ever.
struct zeros {
  std::size_t read(std::span<std::byte> to, std::error_code&) { return to.size(); }
};

TEST_P(IoContext, BytesAreAnyContiguousRange) {
  run([] {
    auto ends = vole::net::pipe();  // by names that clang can capture
    conn &near = ends.first, &far = ends.second;
    io::writer out(near);
    const std::vector<unsigned char> a{'a', 'b'};
    const std::array<std::byte, 2> b{std::byte{'c'}, std::byte{'d'}};
    std::vector<char> c{'e', 'f'};
    out.write(a);
    out.write(b);
    out.write(c);
    out.write(std::span<char>(c));
    out.write(std::span<const unsigned char>(a), context::background());
    out.write(std::string("gh"));
    out.write("ij");
    out.flush();
    near.close_write();
    io::reader in(far);
    std::vector<unsigned char> first(2);
    EXPECT_EQ(in.read(first), 2u);
    EXPECT_EQ(first, a);
    std::array<std::byte, 2> second{};
    EXPECT_EQ(in.read_exact(second), 2u);
    EXPECT_EQ(second, b);
    std::vector<char> third(2);
    std::error_code error;
    EXPECT_EQ(in.read_exact(third, error), 2u);
    EXPECT_EQ(third, c);
    unsigned char fourth[2];
    EXPECT_EQ(in.read_exact(fourth, context::background(), error), 2u);
    std::string rest(6, ' ');
    EXPECT_EQ(in.read_exact(rest), 6u);
    EXPECT_EQ(rest, "abghij");
  });
}

std::error_code code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::system_error& e) {
    return e.code();
  }
  return {};
}

TEST_P(IoContext, EndsAReadThatGoesOnLater) {
  run([] {
    auto ends = vole::net::pipe();  // by names that clang can capture
    conn &near = ends.first, &far = ends.second;
    near.write("half a li");
    io::reader in(far);
    vole::cancelable soon = vole::with_timeout(context::background(), 2ms);
    std::string line;
    EXPECT_EQ(code_of([&] { (void)in.read_line(line, soon.ctx); }), errc::deadline_exceeded);
    std::error_code error;
    EXPECT_FALSE(in.read_until(';', line, soon.ctx, error));
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_EQ(in.peek(100, soon.ctx, error).size(), 9u) << "what has come";
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_EQ(in.peek(error), "h");
    EXPECT_FALSE(error);
    EXPECT_EQ(in.peek(), "h");
    near.write("ne\n");
    EXPECT_TRUE(in.read_line(line, context::background(), error));
    EXPECT_EQ(line, "half a line");
    char text[4];
    EXPECT_EQ(in.read(text, soon.ctx, error), 0u);
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_EQ(code_of([&] { in.read_exact(text, soon.ctx); }), errc::deadline_exceeded);
    EXPECT_EQ(code_of([&] { (void)io::read_all(far, soon.ctx); }), errc::deadline_exceeded);
    near.write("more");
    near.close_write();
    EXPECT_EQ(io::read_all(in, 100, context::background(), error), "more");
    EXPECT_FALSE(error);
  });
}

TEST_P(IoContext, EndsAWriteThatGoesOnLater) {
  run([] {
    auto ends = vole::net::pipe();  // by names that clang can capture
    conn &near = ends.first, &far = ends.second;
    const int small = 4096;
    setsockopt(near.native_handle(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    io::writer out(near, 1 << 20);
    const std::string much(1 << 19, 'v');
    out.write(much);
    vole::cancelable soon = vole::with_timeout(context::background(), 2ms);
    std::error_code error;
    out.flush(soon.ctx, error);
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_GT(out.buffered(), 0u);
    auto reading = vole::spawn([&] { return io::read_all(far); });
    out.flush(context::background());
    near.close_write();
    EXPECT_EQ(reading.join(), much) << "nothing lost, nothing twice";
  });
}

TEST_P(IoContext, EndsACopy) {
  run([] {
    auto one = vole::net::pipe(), other = vole::net::pipe();
    conn &a = one.first, &b = one.second, &c = other.first, &d = other.second;
    a.write("hello");
    std::error_code error, write_error;
    vole::cancelable soon = vole::with_timeout(context::background(), 5ms);
    EXPECT_EQ(io::copy(c, b, soon.ctx, error, write_error), 5u);
    EXPECT_EQ(error, errc::deadline_exceeded) << "nothing more came";
    EXPECT_FALSE(write_error);
    EXPECT_EQ(code_of([&] { io::copy(c, b, soon.ctx); }), errc::deadline_exceeded);
    io::writer out(c);
    io::reader in(b);
    EXPECT_EQ(io::copy(out, in, soon.ctx, error), 0u);
    EXPECT_EQ(error, errc::deadline_exceeded);
    zeros endless;  // takes no context itself: it is asked no more
    vole::cancelable later = vole::with_timeout(context::background(), 5ms);
    auto reading = vole::spawn([&d] {
      std::error_code gone;
      return io::read_all(d, gone);
    });
    io::copy(c, endless, later.ctx, error);
    EXPECT_EQ(error, errc::deadline_exceeded);
    c.close();
    EXPECT_GE(reading.join().size(), 5u);
  });
}

TEST_P(IoContext, EndsAFileThatIsSent) {
  run([] {
    auto ends = vole::net::pipe();  // by names that clang can capture
    conn& near = ends.first;
    const int small = 4096;
    setsockopt(near.native_handle(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    const int file = memfd_create("sent", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(file, 1 << 22), 0);
    vole::cancelable soon = vole::with_timeout(context::background(), 5ms);
    std::error_code error;
    EXPECT_LT(near.send_file(file, 0, 1 << 22, soon.ctx, error), 1u << 22);
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_EQ(code_of([&] { near.send_file(file, 0, 1 << 22, soon.ctx); }),
              errc::deadline_exceeded);
    vole::cancelable again = vole::with_timeout(context::background(), 5ms);
    EXPECT_LT(io::copy(near, file, again.ctx, error), 1u << 22);
    EXPECT_EQ(error, errc::deadline_exceeded);
    close(file);
  });
}

}  // namespace
