// Traces for tests, written by docs/trace-format.md and by hand: what no program would record too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/bytes.h"

namespace synthetic_trace {

class buffer {
 public:
  std::string bytes;
  buffer& byte(unsigned x) {
    bytes += static_cast<char>(x);
    return *this;
  }
  buffer& varint(std::uint64_t x) {
    for (; x >= 0x80; x >>= 7) byte(static_cast<unsigned>(x & 0x7f) | 0x80);
    return byte(static_cast<unsigned>(x));
  }
  buffer& svarint(std::int64_t x) {
    return varint(static_cast<std::uint64_t>(x) << 1 ^ static_cast<std::uint64_t>(x >> 63));
  }
  buffer& text(std::string_view x) {
    varint(x.size());
    bytes += x;
    return *this;
  }
  buffer& fixed(std::uint64_t x, int size) {
    for (int i = 0; i < size; ++i) byte(static_cast<unsigned>(x >> 8 * i & 0xff));
    return *this;
  }
};

inline std::uint32_t checksum(std::string_view payload) {
  return vole_trace::crc32({reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()});
}

struct chunk_of {
  unsigned kind = 0;
  std::uint32_t generation = 0, thread = 0, number = 0;
  std::uint64_t before = 0, ticks = 0;
  std::uint32_t events = 0;
  bool with_checksum = true;  // a ring has 0
};

inline std::string chunk_bytes(const chunk_of& c, std::string_view payload) {
  buffer b;
  b.bytes = "CHNK";
  b.fixed(payload.size(), 4).fixed(c.generation, 4).fixed(c.thread, 4).fixed(c.kind, 2).fixed(0, 2);
  b.fixed(c.number, 4).fixed(c.before, 8).fixed(c.ticks, 8).fixed(c.events, 4);
  b.fixed(c.with_checksum ? checksum(payload) : 0, 4);
  b.bytes += payload;
  return b.bytes;
}

inline std::string file_header(unsigned flags = 0, std::string_view magic = "VOLETRC\n",
                               unsigned major = 1) {
  buffer b;
  b.bytes = magic;
  b.fixed(major, 2).fixed(0, 2).fixed(flags, 4).fixed(0, 8).fixed(0, 8);
  return b.bytes;
}

// One thread's events of one generation. Each call is an event: its type, its time, its arguments.
class stream {
 public:
  stream& event(unsigned type, std::uint64_t time) {
    if (events_ == 0) start_ = time_ = time;
    b_.byte(type).varint(time - time_);
    time_ = time;
    ++events_;
    return *this;
  }
  stream& v(std::uint64_t x) {
    b_.varint(x);
    return *this;
  }
  stream& g(std::uint64_t id) {
    b_.svarint(static_cast<std::int64_t>(id - last_));
    last_ = id;
    return *this;
  }
  stream& n(std::uint64_t seq) {
    b_.svarint(static_cast<std::int64_t>(seq - last_seq_));
    last_seq_ = seq;
    return *this;
  }
  stream& text(std::string_view x) {
    b_.text(x);
    return *this;
  }
  void cut() {  // the next event begins another chunk
    if (events_ == 0) return;
    done_.push_back({b_.bytes, start_, events_});
    b_.bytes.clear();
    events_ = 0;
    last_ = last_seq_ = 0;
  }
  std::uint64_t events() const {
    std::uint64_t n = events_;
    for (const part& p : done_) n += p.events;
    return n;
  }

 private:
  friend class trace;
  struct part {
    std::string payload;
    std::uint64_t ticks;
    std::uint32_t events;
  };
  buffer b_;
  std::vector<part> done_;
  std::uint64_t time_ = 0, start_ = 0, last_ = 0, last_seq_ = 0;
  std::uint32_t events_ = 0;
};

// Ticks are nanoseconds.
class trace {
 public:
  std::vector<std::string> chunks;
  bool for_ring = false;

  void begin(std::uint64_t time, unsigned ps = 2) {
    ++generation_;
    streams_.clear();
    buffer b;
    b.varint(time)
        .varint(5'000'000'000 + time)
        .varint(1'790'000'000'000'000'000)
        .varint(1'000'000'000);
    b.varint(ps).varint(4242);
    add({1, generation_, 0, 0, 0, time}, b.bytes);
  }
  stream& on(std::uint32_t thread) { return streams_[thread]; }
  // What the threads wrote, and the end if there is one.
  void end(std::uint64_t time, std::uint64_t lost = 0, bool with_end = true) {
    buffer b;
    b.varint(time).varint(5'000'000'000 + time).varint(lost).varint(streams_.size());
    for (auto& [thread, s] : streams_) {
      s.cut();
      std::uint64_t before = 0;
      std::uint32_t number = 0;
      for (const stream::part& p : s.done_) {
        add({3, generation_, thread, number++, before, p.ticks, p.events}, p.payload);
        before += p.events;
      }
      b.varint(thread).varint(before).varint(number);
    }
    if (with_end) add({2, generation_, 0, 0, 0, time}, b.bytes);
  }
  void listing(const std::string& payload) { add({4, generation_}, payload); }
  void names() {
    buffer r;
    r.varint(3).text("none").text("chan receive").text("mutex");
    add({7}, r.bytes);
    buffer s;
    s.varint(3);
    s.varint(0x401000).varint(1).text("main").text("demo.cc").varint(40);
    s.varint(0x402000).varint(1).text("work(int)").text("demo.cc").varint(10);
    s.varint(0x402040).varint(2).text("vole::chan<int>::recv()").text("vole/chan.h").varint(9);
    s.text("work(int)").text("src/demo.cc").varint(12);
    add({6}, s.bytes);
  }
  std::string file(unsigned flags = 0) const {
    std::string all = file_header(flags);
    for (const std::string& c : chunks) all += c;
    return all;
  }

 private:
  void add(chunk_of c, const std::string& payload) {
    c.with_checksum = !for_ring;
    chunks.push_back(chunk_bytes(c, payload));
  }
  std::uint32_t generation_ = 0;
  std::map<std::uint32_t, stream> streams_;
};

// A generation from `t` on, 20 µs long. main (1) on thread 1 makes 2 and 3; 3 runs on thread 2 and
// waits for 2, which wakes it; 3 then calls, loses its P, and ends.
inline void busy_generation(trace& t, std::uint64_t at, bool with_end = true) {
  t.begin(at);
  stream &a = t.on(1), &b = t.on(2), &z = t.on(0);
  const std::uint64_t base = at * 1000 + 10;  // ids are never used twice
  const std::uint64_t two = base + 2, three = base + 3;
  a.event(3, at).v(1).v(5).g(1).v(0);
  a.event(1, at).v(0).v(1).v(0x401000);  // place 1
  a.event(1, at).v(0).v(1).v(0x402000);  // 2
  a.event(1, at).v(1).v(1).v(0x402040);  // 3: chan receive
  a.event(1, at).v(2).v(1).v(0x402040);  // 4: mutex
  a.event(2, at).text("prepare");
  a.event(4, at + 1000).g(1).v(1).v(0).v(0).v(1).v(1);
  a.event(9, at + 1000).g(two).v(2).v(1);
  a.event(9, at + 2000).g(three).v(2).v(1);
  b.event(3, at + 3000).v(0).v(0).g(0).v(0);
  b.event(1, at + 3000).v(1).v(1).v(0x402040);
  b.event(6, at + 3000).v(1).v(1);
  b.event(11, at + 3000).g(three).n(2);
  a.event(20, at + 4000).v(4).g(two).n(2);
  a.cut();
  b.event(12, at + 6000).v(1);
  b.event(7, at + 6500);
  a.event(50, at + 7000).v(1);
  a.event(51, at + 9000).v(1);
  a.event(10, at + 10000).g(three).n(3);
  a.event(25, at + 12000);
  a.event(30, at + 13000).v(2);
  z.event(8, at + 15000).v(0).v(5).v(1).v(a.events());
  b.event(6, at + 15500).v(0).v(6);
  b.event(11, at + 15500).g(two).n(3);
  b.event(15, at + 16000);
  b.event(7, at + 16000);
  a.event(31, at + 16500);
  a.event(6, at + 17000).v(1).v(2);
  a.event(15, at + 18000);
  a.event(10, at + 19000).g(1).n(1);
  a.event(11, at + 19500).g(1).n(2);
  buffer l;
  l.varint(1).varint(1).varint(0).varint(1).varint(0).varint(0x401000).varint(0).varint(1).varint(
      0);
  l.text("main").varint(1).varint(1).varint(101).varint(1).varint(5).varint(1);
  t.listing(l.bytes);
  t.end(at + 20000, 0, with_end);
}

inline trace small() {
  trace t;
  busy_generation(t, 1000);
  t.names();
  return t;
}

}  // namespace synthetic_trace
