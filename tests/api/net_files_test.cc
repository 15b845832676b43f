// Files that are not ours: adopted descriptors, wait_readable, send_file, no descriptors left.

#include <vole/net.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "net_pair.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::errc;
using vole::now;
using vole::net::conn;

class NetFiles : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(NetFiles);

struct pipe_ends {
  pipe_ends() {
    int fds[2];
    EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
    in = fds[0];
    out = fds[1];
  }
  int in, out;
};

bool is_blocking(int fd) { return (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0; }

int temporary_file(const std::string& text) {
  char path[] = "/tmp/vole_net_XXXXXX";
  const int fd = mkstemp(path);
  unlink(path);
  EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  lseek(fd, 0, SEEK_SET);
  return fd;
}

TEST_P(NetFiles, PipesAreAdopted) {
  run([] {
    const pipe_ends p;
    conn in(p.in), out(p.out);
    auto reader = vole::spawn([&] {
      std::string got(300'000, '\0');
      EXPECT_EQ(in.read_full(got), got.size());
      return got;
    });
    const std::string sent(300'000, 'p');
    EXPECT_EQ(out.write(sent), sent.size());
    EXPECT_TRUE(reader.join() == sent);
    in.close();
    std::error_code error;
    EXPECT_EQ(out.write("x", error), 0u);
    EXPECT_EQ(error, std::errc::broken_pipe) << "and no SIGPIPE";
    EXPECT_FALSE(out.local_address());
  });
}

TEST_P(NetFiles, ReleasedAsItWas) {
  run([] {
    const pipe_ends p;
    conn in(p.in), out(p.out);
    EXPECT_FALSE(is_blocking(p.in));
    auto reader = vole::spawn([&] { return vole_test::read_error(in); });
    vole_test::wait_until_parked(1, "IO wait");
    EXPECT_EQ(in.release(), p.in);
    EXPECT_EQ(reader.join(), errc::closed);
    EXPECT_TRUE(is_blocking(p.in));
    EXPECT_FALSE(in);
    EXPECT_EQ(in.release(), -1);
    EXPECT_EQ(::close(p.in), 0);
  });
}

TEST_P(NetFiles, RegularFilesAreReadAndWritten) {
  run([] {
    conn file(temporary_file("some text"));
    char text[4];
    EXPECT_EQ(file.read(text), 4u);
    EXPECT_EQ(std::string(text, 4), "some");
    EXPECT_EQ(file.write("TEXT!"), 5u);
    EXPECT_EQ(file.read(text), 0u);
    file.set_read_deadline(now());
    EXPECT_EQ(vole_test::read_error(file), errc::deadline_exceeded);
  });
}

TEST_P(NetFiles, BadDescriptorsAreRefused) {
  run([] {
    std::error_code error;
    const conn c(-1, error);
    EXPECT_FALSE(c);
    EXPECT_EQ(error, std::errc::bad_file_descriptor);
    EXPECT_THROW(conn(-1), std::system_error);
    EXPECT_FALSE(vole::wait_readable(-1, error));
    EXPECT_EQ(error, std::errc::bad_file_descriptor);
    EXPECT_THROW(vole::wait_writable(12345), std::system_error);
  });
}

TEST_P(NetFiles, AdoptedSocketsKnowTheirAddresses) {
  run([] {
    vole_test::conn_pair p = vole_test::connected_pair();
    const auto local = p.near.local_address(), remote = p.near.remote_address();
    const conn again(p.near.release());
    EXPECT_EQ(again.local_address(), local);
    EXPECT_EQ(again.remote_address(), remote);
    EXPECT_FALSE(is_blocking(again.native_handle()));
  });
}

// ── wait_readable, wait_writable ──

TEST_P(NetFiles, WaitReadableWaits) {
  run([] {
    const pipe_ends p;
    EXPECT_FALSE(vole::wait_readable(p.in, now()));
    EXPECT_FALSE(vole::wait_readable(p.in, now() + 2ms));
    EXPECT_TRUE(vole::wait_writable(p.out));
    vole::wait_group both;
    for (int i = 0; i < 2; ++i) both.go([&] { EXPECT_TRUE(vole::wait_readable(p.in)); });
    vole_test::wait_until_parked(2, "IO wait");
    EXPECT_EQ(::write(p.out, "x", 1), 1);
    both.wait();
    EXPECT_TRUE(vole::wait_readable(p.in, now())) << "it is there, whatever the time";
    char c;
    EXPECT_EQ(::read(p.in, &c, 1), 1);
    EXPECT_TRUE(is_blocking(p.in)) << "left as it was";
    auto end = vole::spawn([&] { return vole::wait_readable(p.in); });
    vole_test::wait_until_parked(1, "IO wait");
    ::close(p.out);
    EXPECT_TRUE(end.join()) << "the end can be read";
    ::close(p.in);
  });
}

TEST_P(NetFiles, WaitWritableWaits) {
  run([] {
    const pipe_ends p;
    fcntl(p.out, F_SETFL, O_NONBLOCK);
    std::vector<char> much(1 << 16);
    while (::write(p.out, much.data(), much.size()) > 0) {
    }
    EXPECT_FALSE(vole::wait_writable(p.out, now() + 2ms));
    auto writer = vole::spawn([&] { return vole::wait_writable(p.out); });
    vole_test::wait_until_parked(1, "IO wait");
    EXPECT_GT(::read(p.in, much.data(), much.size()), 0);
    EXPECT_TRUE(writer.join());
    ::close(p.in);
    ::close(p.out);
  });
}

TEST_P(NetFiles, RegularFilesAreAlwaysReady) {
  run([] {
    const int fd = temporary_file("");
    EXPECT_TRUE(vole::wait_readable(fd));
    EXPECT_TRUE(vole::wait_writable(fd));
    ::close(fd);
  });
}

TEST_P(NetFiles, WaitReadableOnAPlainThread) {
  const pipe_ends p;
  std::thread waits([&] { EXPECT_TRUE(vole::wait_readable(p.in)); });
  EXPECT_EQ(::write(p.out, "x", 1), 1);
  waits.join();
  ::close(p.in);
  ::close(p.out);
}

// ── send_file ──

TEST_P(NetFiles, SendFile) {
  run([] {
    std::string text(3 << 20, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 >> 2);
    const int file = temporary_file(text);
    vole_test::conn_pair p = vole_test::connected_pair();
    auto reader = vole::spawn([&] {
      std::string got(text.size() - 100, '\0');
      EXPECT_EQ(p.far.read_full(got), got.size());
      return got;
    });
    EXPECT_EQ(p.near.send_file(file, 100, UINT64_MAX), text.size() - 100) << "until the file's end";
    EXPECT_TRUE(reader.join() == text.substr(100));
    p.far.close();
    std::error_code error;
    for (int i = 0; i < 100 && !error; ++i) (void)p.near.send_file(file, 0, 1 << 20, error);
    EXPECT_TRUE(error) << "and no SIGPIPE";
    ::close(file);
  });
}

// ── EMFILE ──

// UBSan, which comes with the address sanitizer here, needs two to look at an object's type.
#ifdef VOLE_SANITIZE_ADDRESS
#define NEEDS_NO_DESCRIPTORS_ITSELF() GTEST_SKIP() << "UBSan finds no descriptors"
#else
#define NEEDS_NO_DESCRIPTORS_ITSELF() static_cast<void>(0)
#endif

class no_descriptors_left {
 public:
  no_descriptors_left() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &few);
    for (int fd; (fd = ::dup(2)) >= 0;) taken_.push_back(fd);
  }
  ~no_descriptors_left() {
    give_back();
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  void give_back() {
    for (const int fd : taken_) ::close(fd);
    taken_.clear();
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

TEST_P(NetFiles, AcceptSurvivesALackOfDescriptors) {
  NEEDS_NO_DESCRIPTORS_ITSELF();
  run([] {
    vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
    conn c = vole::net::dial("tcp", l.local_address().to_string());
    no_descriptors_left none;
    std::error_code error;
    EXPECT_FALSE(l.accept(error)) << "the twin says so";
    EXPECT_EQ(error, std::errc::too_many_files_open);
    EXPECT_FALSE(vole::net::dial("tcp", l.local_address().to_string(), error));
    EXPECT_EQ(error, std::errc::too_many_files_open);
    auto acceptor = vole::spawn([&] { return static_cast<bool>(l.accept()); });
    vole_test::wait_until_parked(1, "IO wait");
    none.give_back();
    EXPECT_TRUE(acceptor.join()) << "and the other waits until there are some";
  });
}

TEST_P(NetFiles, CloseEndsTheBackOff) {
  NEEDS_NO_DESCRIPTORS_ITSELF();
  run([] {
    vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
    conn c = vole::net::dial("tcp", l.local_address().to_string());
    const no_descriptors_left none;
    auto acceptor = vole::spawn([&] {
      try {
        (void)l.accept();
      } catch (const std::system_error& e) {
        return e.code();
      }
      return std::error_code();
    });
    vole_test::wait_until_parked(1, "IO wait");
    l.close();
    EXPECT_EQ(acceptor.join(), errc::closed);
  });
}

}  // namespace
