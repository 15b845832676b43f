// io.h over sources and sinks in memory: every boundary, every error, nothing lost.

#include <vole/io.h>
#include <vole/vole.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "fixture.h"

namespace {

namespace io = vole::io;
using vole::errc;

static_assert(io::reader_like<vole::net::conn> && io::writer_like<vole::net::conn>);
static_assert(io::reader_like<io::reader> && io::writer_like<io::writer>);
static_assert(!io::reader_like<int> && !io::writer_like<std::string>);

// Gives `text`, at most `step` bytes at a time. At `fails_at` it fails once, or always.
struct source {
  std::string text;
  std::size_t step = 1;
  std::size_t fails_at = std::string::npos;
  bool for_ever = false;
  std::size_t at = 0;
  int calls = 0;

  std::size_t read(std::span<std::byte> to, std::error_code& error) {
    ++calls;
    error.clear();
    if (at == fails_at) {
      if (!for_ever) fails_at = std::string::npos;
      error = errc::deadline_exceeded;
      return 0;
    }
    const std::size_t most = std::min(fails_at, text.size()) - at;
    const std::size_t n = std::min({to.size(), step, most});
    std::memcpy(to.data(), text.data() + at, n);
    at += n;
    return n;
  }
};

// Takes at most `room` bytes, then fails.
struct sink {
  std::string text = {};
  std::size_t room = std::string::npos;
  int calls = 0;

  std::size_t write(std::span<const std::byte> from, std::error_code& error) {
    ++calls;
    error.clear();
    const std::size_t n = std::min(from.size(), room);
    text.append(reinterpret_cast<const char*>(from.data()), n);
    room -= n;
    if (n < from.size()) error = std::make_error_code(std::errc::broken_pipe);
    return n;
  }
};

std::vector<std::string> lines_of(source from, std::size_t buffer) {
  io::reader r(from, buffer);
  std::vector<std::string> all;
  std::string line = "old";
  while (r.read_line(line)) all.push_back(line);
  EXPECT_EQ(line, "");
  EXPECT_FALSE(r.read_line(line)) << "the end stays the end";
  return all;
}

TEST(Io, LinesAreTheSameHoweverTheyCome) {
  using list = std::vector<std::string>;
  const struct {
    std::string text;
    list lines;
  } cases[] = {
      {"", {}},
      {"\n", {""}},
      {"\r\n", {""}},
      {"\n\n", {"", ""}},
      {"a", {"a"}},
      {"a\n", {"a"}},
      {"a\r\n", {"a"}},
      {"a\nb", {"a", "b"}},
      {"a\r\n\r\nb\r\n", {"a", "", "b"}},
      {"a\rb\n", {"a\rb"}},
      {"a\r\r\n", {"a\r"}},
      {"a\r", {"a\r"}},
      {"\r", {"\r"}},
      {std::string("\0a\0\n\0", 5), {std::string("\0a\0", 3), std::string("\0", 1)}},
      {std::string(5000, 'x') + "\n" + std::string(70, 'y'),
       {std::string(5000, 'x'), std::string(70, 'y')}},
  };
  for (const auto& c : cases)
    for (const std::size_t step : {1u, 2u, 3u, 7u, 100000u})
      for (const std::size_t buffer : {0u, 1u, 2u, 3u, 16u, 4096u})
        EXPECT_EQ(lines_of({.text = c.text, .step = step}, buffer), c.lines)
            << c.text.substr(0, 20) << " step " << step << " buffer " << buffer;
}

TEST(Io, ALineOfTheMostBytesIsGivenAndOneMoreRefused) {
  for (const std::string ending : {"\n", "\r\n", ""})
    for (const std::size_t step : {1u, 3u, 1000u})
      for (const std::size_t buffer : {1u, 4u, 8u, 9u, 10u, 64u}) {
        source fits{.text = "12345678" + ending, .step = step};
        io::reader r(fits, buffer);
        r.set_max_line(8);
        std::string line;
        EXPECT_TRUE(r.read_line(line)) << step << " " << buffer;
        EXPECT_EQ(line, "12345678");
        EXPECT_EQ(r.was_complete(), !ending.empty());

        source longer{.text = "123456789" + ending, .step = step};
        io::reader refuses(longer, buffer);
        refuses.set_max_line(8);
        std::error_code error;
        EXPECT_FALSE(refuses.read_line(line, error));
        EXPECT_EQ(error, errc::too_long);
        EXPECT_EQ(error, std::errc::message_size);
        EXPECT_EQ(line, "");
        EXPECT_THROW((void)refuses.read_line(line), std::system_error);
        refuses.set_max_line(9);
        EXPECT_TRUE(refuses.read_line(line)) << "nothing was lost";
        EXPECT_EQ(line, "123456789");
      }
}

TEST(Io, AnEndlessLineIsRefusedAtTheLimitAndTakesNoMore) {
  source endless{.text = std::string(10 << 20, 'x'), .step = 1500};
  io::reader r(endless);
  std::string line;
  try {
    (void)r.read_line(line);
    ADD_FAILURE();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), errc::too_long);
    EXPECT_STREQ(e.what(), "read line: longer than the limit allows");
  }
  EXPECT_LE(endless.at, 2 * io::reader::default_max_line);
}

TEST(Io, UntilTakesAnyDelimiterAndLeavesCarriageReturns) {
  source s{.text = std::string("a;b\r;;\0x;tail", 13), .step = 2};
  io::reader r(s, 3);
  std::string piece;
  std::vector<std::string> all;
  while (r.read_until(';', piece)) {
    all.push_back(piece);
    EXPECT_EQ(r.was_complete(), piece != "tail");
  }
  EXPECT_EQ(all, (std::vector<std::string>{"a", "b\r", "", std::string("\0x", 2), "tail"}));
}

TEST(Io, AnErrorInTheMiddleOfALineLosesNothing) {
  for (std::size_t at = 0; at <= 12; ++at)
    for (const std::size_t buffer : {1u, 5u, 64u}) {
      source s{.text = "first\nsecond", .step = 2, .fails_at = at};
      io::reader r(s, buffer);
      std::vector<std::string> all;
      int failures = 0;
      std::string line;
      for (std::error_code error;;) {
        const bool is_there = r.read_line(line, error);
        failures += error ? 1 : 0;
        EXPECT_TRUE(!error || error == errc::deadline_exceeded) << error;
        if (is_there) all.push_back(line);
        if (!is_there && !error) break;
      }
      EXPECT_EQ(all, (std::vector<std::string>{"first", "second"})) << at << " " << buffer;
      EXPECT_EQ(failures, 1);
    }
}

TEST(Io, ExactlySoManyOrTheEnd) {
  for (const std::size_t buffer : {0u, 1u, 3u, 64u}) {
    source s{.text = "abcdefgh", .step = 3};
    io::reader r(s, buffer);
    char four[4], five[5];
    EXPECT_EQ(r.read_exact(four), 4u);
    EXPECT_EQ(std::string(four, 4), "abcd");
    EXPECT_EQ(r.read_exact(std::span<char>()), 0u);
    std::error_code error;
    EXPECT_EQ(r.read_exact(five, error), 4u);
    EXPECT_EQ(error, errc::unexpected_end);
    EXPECT_EQ(std::string(five, 4), "efgh");
    EXPECT_EQ(r.read_exact(five, error), 0u);
    EXPECT_FALSE(error) << "the end, at a place where one may be";
    EXPECT_EQ(r.read_exact(five), 0u);
  }
  source late{.text = "abcd", .step = 2, .fails_at = 2};
  io::reader r(late);
  char four[4];
  std::error_code error;
  const std::size_t n = r.read_exact(four, error);
  EXPECT_EQ(n, 2u);
  EXPECT_EQ(error, errc::deadline_exceeded);
  EXPECT_EQ(r.read_exact(std::span(four).subspan(n)), 2u);
  EXPECT_EQ(std::string(four, 4), "abcd");
  source cut{.text = "abc", .step = 2};
  io::reader short_one(cut);
  EXPECT_THROW((void)short_one.read_exact(four), std::system_error);
}

TEST(Io, PeekTakesNothing) {
  source s{.text = "GET / HTTP", .step = 1};
  io::reader r(s, 2);
  EXPECT_EQ(r.peek(), "G");
  EXPECT_EQ(r.peek(4), "GET ");
  EXPECT_EQ(r.peek(0), "");
  EXPECT_GE(r.buffered(), 4u);
  char one[1];
  EXPECT_EQ(r.read(one), 1u);
  EXPECT_EQ(r.peek(3), "ET ");
  EXPECT_EQ(r.peek(100), "ET / HTTP") << "fewer at the end";
  std::string line;
  EXPECT_TRUE(r.read_line(line));
  EXPECT_EQ(line, "ET / HTTP");
  EXPECT_EQ(r.peek(), "");
  source late{.text = "abc", .step = 1, .fails_at = 1};
  io::reader again(late);
  std::error_code error;
  EXPECT_EQ(again.peek(2, error), "a");
  EXPECT_EQ(error, errc::deadline_exceeded);
  EXPECT_EQ(again.peek(2, error), "ab");
  EXPECT_FALSE(error);
}

TEST(Io, LargeReadsGoPastTheBuffer) {
  source s{.text = "head\n" + std::string(100000, 'b'), .step = 100000};
  io::reader r(s, 64);
  std::string line;
  EXPECT_TRUE(r.read_line(line));
  std::string body(100000, '\0');
  EXPECT_EQ(r.read_exact(body), body.size());
  EXPECT_EQ(body, std::string(100000, 'b'));
  EXPECT_LE(s.calls, 4);
}

TEST(Io, AWriterCollects) {
  sink to;
  {
    io::writer w(to, 8);
    EXPECT_EQ(w.write("abc"), 3u);
    EXPECT_EQ(w.write(""), 0u);
    EXPECT_EQ(w.write("defgh"), 5u);
    EXPECT_EQ(to.calls, 0) << "it fits";
    EXPECT_EQ(w.buffered(), 8u);
    w.write("i");
    EXPECT_EQ(to.text, "abcdefgh");
    w.flush();
    w.flush();
    EXPECT_EQ(to.text, "abcdefghi");
    EXPECT_EQ(to.calls, 2) << "an empty buffer is not written";
    w.write("j");
    w.write("0123456789 longer than the buffer");
    EXPECT_EQ(to.text, "abcdefghij0123456789 longer than the buffer");
    EXPECT_EQ(to.calls, 4);
    w.write("!");
  }
  EXPECT_EQ(to.text, "abcdefghij0123456789 longer than the buffer!") << "its destructor flushes";
  io::writer direct(to, 0);
  direct.write("x");
  EXPECT_EQ(to.text.back(), 'x');
}

TEST(Io, AWriterThatFailsLosesNothingAndWritesNothingTwice) {
  sink to{.room = 5};
  {
    io::writer w(to, 8);
    w.write("abcdefgh");
    std::error_code error;
    EXPECT_EQ(w.write("i", error), 0u);
    EXPECT_EQ(error, std::errc::broken_pipe);
    EXPECT_EQ(w.buffered(), 3u);
    to.room = 1000;
    EXPECT_EQ(w.write("i", error), 0u) << "no gap: first a flush must work";
    EXPECT_EQ(error, std::errc::broken_pipe);
    to.room = 0;
    EXPECT_THROW(w.flush(), std::system_error);
    to.room = 1000;
    w.flush();
    EXPECT_EQ(to.text, "abcdefgh");
    to.room = 2;
    EXPECT_EQ(w.write("0123456789", error), 2u) << "past the buffer: how much";
    EXPECT_TRUE(error);
    EXPECT_EQ(w.write("x", error), 0u);
    EXPECT_TRUE(error);
    w.flush();
    w.write("rest");
    EXPECT_THROW(w.flush(), std::system_error);
    to.room = 1000;
  }
  EXPECT_EQ(to.text, "abcdefgh01") << "after an error the destructor does not try";
}

struct throws {
  std::size_t write(std::span<const std::byte>, std::error_code&) { throw std::runtime_error("t"); }
};

TEST(Io, TheDestructorOfAWriterNeverThrows) {
  throws to;
  {
    io::writer w(to);
    w.write("x");
  }
  io::writer w(to);
  w.write("x");
  EXPECT_THROW(w.flush(), std::runtime_error);
}

TEST(Io, CopyTellsWhichEndFailed) {
  const std::string text(100000, 'c');
  sink to;
  source from{.text = text, .step = 1000};
  EXPECT_EQ(io::copy(to, from), text.size());
  EXPECT_EQ(to.text, text);
  EXPECT_EQ(io::copy(to, from), 0u) << "at the end";
  EXPECT_EQ(io::copy(to, source{.text = "rvalue"}), 6u);

  std::error_code in, out, error;
  source breaks{.text = text, .step = 1000, .fails_at = 5000, .for_ever = true};
  sink whole;
  EXPECT_EQ(io::copy(whole, breaks, in, out), 5000u);
  EXPECT_EQ(in, errc::deadline_exceeded);
  EXPECT_FALSE(out);
  EXPECT_EQ(whole.text.size(), 5000u);

  sink full{.room = 2500};
  EXPECT_EQ(io::copy(full, source{.text = text, .step = 1000}, in, out), 2500u);
  EXPECT_FALSE(in);
  EXPECT_EQ(out, std::errc::broken_pipe);
  EXPECT_EQ(io::copy(full, source{.text = text, .step = 1000}, error), 0u);
  EXPECT_EQ(error, std::errc::broken_pipe);
  EXPECT_EQ(io::copy(whole, source{.text = "x"}, error), 1u);
  EXPECT_FALSE(error) << "cleared";

  try {
    (void)io::copy(whole, breaks);
    ADD_FAILURE();
  } catch (const io::copy_error& e) {
    EXPECT_EQ(e.side(), io::copy_side::source);
    EXPECT_EQ(e.bytes(), 0u);
    EXPECT_STREQ(e.what(), "copy: read: deadline exceeded");
  }
  sink fuller{.room = 7};
  try {
    (void)io::copy(fuller, source{.text = text, .step = 5});
    ADD_FAILURE();
  } catch (const io::copy_error& e) {
    EXPECT_EQ(e.side(), io::copy_side::sink);
    EXPECT_EQ(e.bytes(), 7u);
    EXPECT_EQ(e.code(), std::errc::broken_pipe);
    EXPECT_STREQ(e.what(), "copy: write: broken pipe");
  }
}

TEST(Io, CopyFromAReaderBeginsWithWhatItHas) {
  source s{.text = "header\n" + std::string(20000, 'b'), .step = 5000};
  io::reader r(s);
  std::string line;
  EXPECT_TRUE(r.read_line(line));
  sink to;
  io::writer w(to);
  EXPECT_EQ(io::copy(w, r), 20000u);
  w.flush();
  EXPECT_EQ(to.text, std::string(20000, 'b'));
}

TEST(Io, ReadAllKeepsToItsLimit) {
  const std::string text(10000, 'r');
  for (const std::size_t step : {1u, 999u, 1u << 20}) {
    EXPECT_EQ(io::read_all(source{.text = text, .step = step}), text);
    EXPECT_EQ(io::read_all(source{.text = text, .step = step}, 10000), text);
    EXPECT_EQ(io::read_all(source{.text = "", .step = step}, 0), "");
    std::error_code error;
    EXPECT_EQ(io::read_all(source{.text = text, .step = step}, 9999, error), text.substr(1));
    EXPECT_EQ(error, errc::too_long);
    EXPECT_EQ(io::read_all(source{.text = text, .step = step}, 0, error), "");
    EXPECT_EQ(error, errc::too_long);
    EXPECT_THROW((void)io::read_all(source{.text = text, .step = step}, 1), std::system_error);
    source breaks{.text = text, .step = step, .fails_at = 4000};
    EXPECT_EQ(io::read_all(breaks, error).size(), 4000u) << "what came";
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_EQ(io::read_all(breaks).size(), 6000u);
  }
}

}  // namespace
