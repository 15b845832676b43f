// vole::file: modes, positions, offsets, concurrent use, closing, and the streams over it.

#include <vole/io.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "net_pair.h"
#include "parked.h"

namespace {

using vole::errc;
using vole::file;

class File : public vole_test::Runtime {
 protected:
  void SetUp() override {
    char name[] = "/tmp/vole_file_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    Runtime::SetUp();
  }
  void TearDown() override {
    Runtime::TearDown();
    std::filesystem::remove_all(folder_);
  }
  std::string path(const std::string& name = "file") const { return folder_ + "/" + name; }
  void make(const std::string& text) const { file::open(path(), "w").write(text); }
  std::string text() const { return vole::io::read_all(file::open(path())); }

 private:
  std::string folder_;
};
VOLE_AT_1_2_4_PROCS(File);

std::string what_of(auto call) {
  try {
    call();
  } catch (const std::system_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST_P(File, WritesAndReadsBack) {
  run([&] {
    file out = file::open(path(), "w");
    EXPECT_EQ(out.write("some "), 5u);
    EXPECT_EQ(out.write(std::string("text")), 4u);
    out.sync();
    EXPECT_EQ(out.size(), 9u);
    out.close();
    EXPECT_FALSE(out);
    file in = file::open(path());
    char part[5];
    EXPECT_EQ(in.read(part), 5u);
    EXPECT_EQ(std::string(part, 5), "some ");
    EXPECT_EQ(vole::io::read_all(in), "text");
    EXPECT_EQ(in.read(part), 0u);
  });
}

TEST_P(File, EveryRangeOfBytes) {
  run([&] {
    file f = file::open(path(), "w+");
    const std::vector<unsigned char> ab{'a', 'b'};
    const std::array<std::byte, 1> c{std::byte{'c'}};
    f.write(ab);
    f.write(c);
    f.write("d");
    f.write({"ef", 2});
    EXPECT_EQ(f.seek(0), 0u);
    std::vector<char> got(6);
    EXPECT_EQ(f.read_at(got, 0), 6u);
    EXPECT_EQ(std::string(got.begin(), got.end()), "abcdef");
    std::array<unsigned char, 2> two{};
    EXPECT_EQ(f.read(two), 2u);
    std::byte one[1];
    EXPECT_EQ(f.read(one), 1u);
    EXPECT_EQ(one[0], std::byte{'c'});
  });
}

TEST_P(File, ModesDoAsFopens) {
  run([&] {
    std::filesystem::remove(path());
    std::error_code error;
    EXPECT_FALSE(file::open(path(), "r", error));
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    EXPECT_FALSE(file::open(path(), "r+", error));
    file::open(path(), "wx").write("one");
    EXPECT_FALSE(file::open(path(), "wx", error));
    EXPECT_EQ(error, std::errc::file_exists);
    file::open(path(), "a").write("two");
    EXPECT_EQ(text(), "onetwo");
    file::open(path(), "r+b").write("ONE");
    EXPECT_EQ(text(), "ONEtwo");
    file both = file::open(path(), "a+");
    EXPECT_EQ(vole::io::read_all(both), "ONEtwo");
    both.write("3");
    file::open(path(), "w", 0600, error).close();
    EXPECT_FALSE(error);
    EXPECT_EQ(text(), "");
    file in = file::open(path(), "r");
    EXPECT_EQ(in.write("x", error), 0u);
    EXPECT_EQ(error, std::errc::bad_file_descriptor);
  });
}

TEST_P(File, BadModesAreExplained) {
  run([&] {
    for (const char* const mode : {"", "q", "rw", "r++", "rx", "+r", "wbb", "w x"}) {
      std::error_code error;
      EXPECT_FALSE(file::open(path(), mode, error)) << mode;
      EXPECT_EQ(error, std::errc::invalid_argument) << mode;
    }
    const std::string what = what_of([&] { (void)file::open("name", "rw"); });
    EXPECT_EQ(what.find("open name: no such mode: \"rw\". It is \"r\" (read)"), 0u) << what;
  });
}

TEST_P(File, ErrorsNameTheFile) {
  run([&] {
    EXPECT_EQ(what_of([&] { (void)file::open("/nowhere/x"); }),
              "open /nowhere/x: no such file or directory");
    const std::string nul("a\0b", 3);
    EXPECT_NE(what_of([&] { (void)file::open(nul); }).find("NUL"), std::string::npos);
    file folder = file::open("/tmp");
    char c;
    EXPECT_EQ(what_of([&] { (void)folder.read({&c, 1}); }), "read: is a directory");
    EXPECT_TRUE(S_ISDIR(folder.stat().mode));
  });
}

TEST_P(File, OffsetsLeaveThePositionAlone) {
  run([&] {
    file f = file::open(path(), "w+");
    f.write("0123456789");
    EXPECT_EQ(f.write_at("AB", 4), 2u);
    char part[20];
    EXPECT_EQ(f.read_at(part, 8), 2u) << "fewer at the end";
    EXPECT_EQ(f.read_at(part, 100), 0u);
    EXPECT_EQ(f.seek(0, vole::seek_from::here), 10u);
    EXPECT_EQ(f.seek(-4, vole::seek_from::end), 6u);
    EXPECT_EQ(f.read(part), 4u);
    EXPECT_EQ(text(), "0123AB6789");
    std::error_code error;
    EXPECT_EQ(f.seek(-1, vole::seek_from::start, error), 0u);
    EXPECT_EQ(error, std::errc::invalid_argument);
    EXPECT_EQ(f.read_at(part, UINT64_MAX, error), 0u);
    EXPECT_EQ(error, std::errc::invalid_argument);
    EXPECT_EQ(f.write_at("x", UINT64_MAX, error), 0u);
    EXPECT_EQ(error, std::errc::invalid_argument);
  });
}

TEST_P(File, AppendingRefusesOffsets) {
  run([&] {
    file f = file::open(path(), "a");
    std::error_code error;
    EXPECT_EQ(f.write_at("x", 0, error), 0u);
    EXPECT_EQ(error, std::errc::invalid_argument);
    const std::string what = what_of([&] { f.write_at("x", 0); });
    EXPECT_EQ(what.find("write_at: the file was opened for appending"), 0u) << what;
  });
}

TEST_P(File, ResizeAndStat) {
  run([&] {
    make("123456");
    file f = file::open(path(), "r+");
    f.resize(3);
    EXPECT_EQ(text(), "123");
    f.resize(5);
    EXPECT_EQ(text(), std::string("123\0\0", 5));
    const vole::file_info is = f.stat();
    EXPECT_EQ(is.size, 5u);
    EXPECT_TRUE(S_ISREG(is.mode));
    const auto age = std::chrono::system_clock::now() - is.modified;
    EXPECT_LT(age, std::chrono::hours(1));
    EXPECT_GT(age, -std::chrono::hours(1));
    EXPECT_EQ(is.inode, file::open(path()).stat().inode);
  });
}

TEST_P(File, EmptyAndClosedAnswerClosed) {
  run([&] {
    file f;
    EXPECT_FALSE(f);
    EXPECT_EQ(f.native_handle(), -1);
    EXPECT_EQ(f.release(), -1);
    for (int round = 0; round < 2; ++round) {
      std::error_code error;
      char c;
      EXPECT_EQ(f.read({&c, 1}, error), 0u);
      EXPECT_EQ(error, errc::closed);
      EXPECT_EQ(f.write_at("x", 0, error), 0u);
      EXPECT_EQ(error, errc::closed);
      EXPECT_EQ(f.size(error), 0u);
      EXPECT_EQ(error, errc::closed);
      EXPECT_THROW(f.sync(), std::system_error);
      f.close(error);
      EXPECT_FALSE(error) << "closing is idempotent";
      f = file::open(path(), "w");
      f.close();
    }
  });
}

TEST_P(File, MovesAndReleases) {
  run([&] {
    file a = file::open(path(), "w+");
    const int fd = a.native_handle();
    file b = std::move(a);
    EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(b.native_handle(), fd);
    EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << "programs do not inherit it";
    const int mine = b.release();
    EXPECT_EQ(mine, fd);
    file c(mine);
    c.write("x");
    b = std::move(c);
    EXPECT_EQ(b.size(), 1u);
    std::error_code error;
    EXPECT_FALSE(file(-1, error));
    EXPECT_EQ(error, std::errc::bad_file_descriptor);
    EXPECT_THROW(file(12345), std::system_error);
  });
}

TEST_P(File, WritesAreWholeBetweenOthers) {
  run([&] {
    file f = file::open(path(), "w+");
    vole::wait_group all;
    for (char c = 'a'; c < 'e'; ++c)
      all.go([&f, c] {
        for (int i = 0; i < 50; ++i) f.write(std::string(1000, c));
      });
    all.wait();
    f.seek(0);
    const std::string got = vole::io::read_all(f);
    ASSERT_EQ(got.size(), 200'000u);
    for (std::size_t i = 0; i < got.size(); i += 1000)
      EXPECT_EQ(got.substr(i, 1000), std::string(1000, got[i]));
  });
}

TEST_P(File, OffsetsRunAtTheSameTime) {
  run([&] {
    file f = file::open(path(), "w+");
    vole::wait_group all;
    for (std::uint64_t part = 0; part < 8; ++part)
      all.go([&f, part] { f.write_at(std::string(10'000, static_cast<char>('a' + part)), part * 10'000); });
    all.wait();
    EXPECT_EQ(f.size(), 80'000u);
    for (std::uint64_t part = 0; part < 8; ++part)
      all.go([&f, part] {
        std::string got(10'000, '\0');
        EXPECT_EQ(f.read_at(got, part * 10'000), 10'000u);
        EXPECT_EQ(got, std::string(10'000, static_cast<char>('a' + part)));
      });
    all.wait();
  });
}

// A FIFO whose writer does not write keeps the read inside for as long as we like.
TEST_P(File, ASlowFileHoldsUpNobodyNotEvenClose) {
  run([&] {
    std::filesystem::remove(path("fifo"));
    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    auto slow = vole::spawn([&] { return file::open(path("fifo")); });
    const int writer = vole::blocking([&] { return ::open(path("fifo").c_str(), O_WRONLY); });
    file f = slow.join();
    const int fd = f.native_handle();
    auto reader = vole::spawn([&] {
      char c;
      return f.read({&c, 1});
    });
    while (vole::stats().blocking_threads == 0) vole::yield();
    auto queued = vole::spawn([&] {
      std::error_code error;
      char c;
      (void)f.read({&c, 1}, error);
      return error;
    });
    f.close();
    EXPECT_FALSE(f);
    EXPECT_EQ(queued.join(), errc::closed) << "who has not begun does not begin";
    EXPECT_GE(fcntl(fd, F_GETFD), 0) << "the reader still uses it";
    EXPECT_EQ(::write(writer, "x", 1), 1);
    EXPECT_EQ(reader.join(), 1u);
    EXPECT_LT(fcntl(fd, F_GETFD), 0);
    ::close(writer);
  });
}

TEST_P(File, OnAPlainThread) {
  make("plain");
  std::thread([&] { EXPECT_EQ(text(), "plain"); }).join();
}

TEST_P(File, ReadersWritersAndLines) {
  run([&] {
    {
      file f = file::open(path(), "w");
      vole::io::writer out(f);
      for (int i = 0; i < 1000; ++i) out.write("line " + std::to_string(i) + "\n");
    }
    file f = file::open(path());
    vole::io::reader in(f);
    std::string line;
    int n = 0;
    while (in.read_line(line)) EXPECT_EQ(line, "line " + std::to_string(n++));
    EXPECT_EQ(n, 1000);
  });
}

TEST_P(File, CopiesToAndFromConnections) {
  run([&] {
    std::string much(500'000, '\0');
    for (std::size_t i = 0; i < much.size(); ++i) much[i] = static_cast<char>(i * 31 >> 3);
    make(much);
    file from = file::open(path()), to = file::open(path("copy"), "w+");
    from.seek(100);
    vole_test::conn_pair p = vole_test::connected_pair();
    auto sender = vole::spawn([&] {
      const auto n = vole::io::copy(p.near, from);
      p.near.close_write();
      return n;
    });
    EXPECT_EQ(vole::io::copy(to, p.far), much.size() - 100);
    EXPECT_EQ(sender.join(), much.size() - 100);
    EXPECT_EQ(from.seek(0, vole::seek_from::here), much.size()) << "the position moves";
    to.seek(0);
    EXPECT_TRUE(vole::io::read_all(to) == much.substr(100));
    from.close();
    std::error_code read_error, write_error;
    EXPECT_EQ(vole::io::copy(p.far, from, read_error, write_error), 0u);
    EXPECT_EQ(read_error, errc::closed);
    EXPECT_FALSE(write_error);
  });
}

TEST_P(File, ThePageCacheIsBypassedByNobody) {
  run([&] {
    // What the disk alone has: the read that asks the cache only finds nothing, and the other does.
    make(std::string(100'000, 'd'));
    file f = file::open(path(), "r+");
    f.sync();
    posix_fadvise(f.native_handle(), 0, 0, POSIX_FADV_DONTNEED);
    EXPECT_EQ(vole::io::read_all(f), std::string(100'000, 'd'));
    std::string got(100'000, '\0');
    EXPECT_EQ(f.read_at(got, 0), got.size());
  });
}

// ── the standard streams ──

// Replaces one of the program's standard descriptors for a while.
class replaced {
 public:
  replaced(int which, int by) : which_(which), was_(fcntl(which, F_DUPFD_CLOEXEC, 10)) {
    dup2(by, which);
  }
  ~replaced() {
    dup2(was_, which_);
    ::close(was_);
  }
  replaced(const replaced&) = delete;
  replaced& operator=(const replaced&) = delete;

 private:
  int which_, was_;
};

TEST_P(File, StandardStreamsThatArePipesParkAndStayBlocking) {
  run([&] {
    int fds[2];
    ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
    {
      const replaced in(0, fds[0]), err(2, fds[1]);
      vole::net::conn input = vole::io::standard_input();
      auto reader = vole::spawn([&] {
        char c;
        return input.read({&c, 1});
      });
      vole_test::wait_until_parked(1, "IO wait");
      EXPECT_EQ(fcntl(0, F_GETFL) & O_NONBLOCK, 0) << "descriptor 0 is as it was";
      vole::net::conn error = vole::io::standard_error();
      EXPECT_EQ(error.write("x"), 1u);
      EXPECT_EQ(fcntl(2, F_GETFL) & O_NONBLOCK, 0);
      EXPECT_EQ(reader.join(), 1u);
    }
    ::close(fds[0]);
    ::close(fds[1]);
  });
}

TEST_P(File, StandardStreamsThatAreFilesKeepTheirPosition) {
  run([&] {
    make("");
    {
      file f = file::open(path(), "r+");
      const replaced out(1, f.native_handle());
      EXPECT_EQ(::write(1, "one ", 4), 4);
      vole::io::standard_output().write("two ");
      EXPECT_EQ(::write(1, "three", 5), 5) << "and 1 is still open";
    }
    EXPECT_EQ(text(), "one two three");
  });
}

TEST_P(File, StandardStreamsThatAreTerminals) {
  run([&] {
    const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) GTEST_SKIP() << "no terminals";
    const int tty = ::open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_GE(tty, 0);
    {
      const replaced in(0, tty);
      vole::net::conn input = vole::io::standard_input();
      auto reader = vole::spawn([&] {
        std::string line;
        vole::io::reader lines(input);
        (void)lines.read_line(line);
        return line;
      });
      vole_test::wait_until_parked(1, "IO wait");
      EXPECT_EQ(::write(master, "typed\n", 6), 6);
      EXPECT_EQ(reader.join(), "typed");
      EXPECT_EQ(fcntl(tty, F_GETFL) & O_NONBLOCK, 0);
    }
    ::close(tty);
    ::close(master);
  });
}

TEST_P(File, AClosedStandardStreamIsAnError) {
  run([&] {
    const int was = fcntl(0, F_DUPFD_CLOEXEC, 10);
    ::close(0);
    std::error_code error;
    EXPECT_FALSE(vole::io::standard_input(error));
    EXPECT_EQ(error, std::errc::bad_file_descriptor);
    EXPECT_EQ(what_of([] { (void)vole::io::standard_input(); }),
              "standard input: bad file descriptor");
    dup2(was, 0);
    ::close(was);
  });
}

}  // namespace
