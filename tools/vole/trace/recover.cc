// See recover.h.
#include "trace/recover.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "trace/event.h"
#include "trace/reader.h"

namespace vole_trace {
namespace {

constexpr std::size_t kFirstSlot = 4096;

void put(std::string& out, std::uint64_t x, int size) {
  for (int i = 0; i < size; ++i) out += static_cast<char>(x >> 8 * i & 0xff);
}

void put_varint(std::string& out, std::uint64_t x) {
  for (; x >= 0x80; x >>= 7) out += static_cast<char>((x & 0x7f) | 0x80);
  out += static_cast<char>(x);
}

std::string header_of_file(std::uint32_t flags) {
  std::string out = "VOLETRC\n";
  put(out, 1, 2);
  put(out, 0, 2);
  put(out, flags, 4);
  put(out, 0, 8);
  put(out, 0, 8);
  return out;
}

void append(std::string& out, const chunk& c) {
  out += "CHNK";
  put(out, c.payload.size(), 4);
  put(out, c.generation, 4);
  put(out, c.thread, 4);
  put(out, c.kind, 2);
  put(out, 0, 2);
  put(out, c.number, 4);
  put(out, c.before, 8);
  put(out, c.ticks, 8);
  put(out, c.events, 4);
  put(out, crc32(c.payload), 4);
  out.append(reinterpret_cast<const char*>(c.payload.data()), c.payload.size());
}

bytes bytes_of(const std::string& s) {
  return {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()};
}

// Only whole events, and as many as there are: the header may be an event behind or ahead.
void trim(bytes ring, chunk& c) {
  std::vector<chunk> one = {c};
  one.front().events = 0xffffffffU;
  event_reader from(ring, &one);
  event e;
  std::uint32_t events = 0;
  auto end = static_cast<std::uint64_t>(c.payload.data() - ring.data());
  const std::uint64_t begin = end;
  try {
    while (from.next(e)) {
      ++events;
      end = from.after();
    }
  } catch (const damaged&) {  // the end, or what is half written
  }
  c.events = events;
  c.payload = c.payload.first(static_cast<std::size_t>(end - begin));
}

struct found_generation {
  std::vector<chunk> begins, ends, listings;
  std::map<std::uint32_t, std::vector<chunk>> threads;
};

class recoverer {
 public:
  explicit recoverer(bytes ring) : ring_(ring) {}
  recovered run();

 private:
  void read_slots();
  void read_slot(std::size_t at, std::size_t room);
  std::string complete(std::uint32_t number, found_generation& g, bool with_end) const;
  std::string made_end(std::uint32_t number, const found_generation& g) const;
  bool keep(const std::string& body, std::uint32_t flags, std::string& why);
  void take(std::uint32_t number, found_generation& g);

  bytes ring_;
  std::map<std::uint32_t, found_generation> generations_;
  std::string names_, bodies_;
  bool unfinished_ = false;
  recovered out_;
};

void recoverer::read_slots() {
  if (ring_.size() < kFileHeader || std::memcmp(ring_.data(), "VOLERNG\n", 8) != 0) {
    throw damaged(ring_.size() >= 8 && std::memcmp(ring_.data(), "VOLETRC\n", 8) == 0
                      ? "This is a trace already, not a flight recorder's ring."
                      : "This is not a flight recorder's ring.");
  }
  const auto major = little_endian<std::uint16_t>(ring_.data() + 8);
  if (major != 1) {
    throw damaged("The ring has format version " + std::to_string(major) +
                  "; this vole reads version 1.");
  }
  const std::size_t size = little_endian<std::uint32_t>(ring_.data() + 16);
  const std::size_t slots = little_endian<std::uint32_t>(ring_.data() + 20);
  if (size < kChunkHeader || slots == 0) throw damaged("The ring's header is damaged.");
  for (std::size_t i = 0; i < slots; ++i) {
    const std::size_t at = kFirstSlot + i * size;
    if (at + kChunkHeader > ring_.size()) break;
    read_slot(at, std::min(size, ring_.size() - at));
  }
}

void recoverer::read_slot(std::size_t at, std::size_t room) {
  const std::uint8_t* const slot = ring_.data() + at;
  if (std::memcmp(slot, "CHNK", 4) != 0) return;
  chunk c = read_header(slot, at);
  if (c.size > room - kChunkHeader) return;
  c.payload = ring_.subspan(at + kChunkHeader, c.size);
  if (c.kind >= kModules && c.kind <= kReasons && c.generation == 0) {
    std::string one, why;
    append(one, c);
    // A file of these names alone must have nothing wrong with it but that.
    const trace_file file = read_file(bytes_of(header_of_file(0) + one));
    if (file.problems.size() == 1 && file.problems.front() == "The trace has no events.") {
      names_ += one;
    }
    return;
  }
  if (c.generation == 0) return;
  found_generation& g = generations_[c.generation];
  if (c.kind == kBegin) g.begins.push_back(c);
  if (c.kind == kEnd) g.ends.push_back(c);
  if (c.kind == kListing) g.listings.push_back(c);
  if (c.kind != kEvents) return;
  trim(ring_, c);
  g.threads[c.thread].push_back(c);
}

void by_number(std::vector<chunk>& chunks) {
  std::stable_sort(chunks.begin(), chunks.end(),
                   [](const chunk& a, const chunk& b) { return a.number < b.number; });
}

// An end for a generation that had none: the moment at which the next one began.
std::string recoverer::made_end(std::uint32_t number, const found_generation& g) const {
  const auto next = generations_.find(number + 1);
  if (next == generations_.end() || next->second.begins.size() != 1) return "";
  std::string out;
  try {
    const begin_info b = read_begin(cursor(ring_.data(), next->second.begins.front().payload));
    put_varint(out, b.ticks);
    put_varint(out, b.mono);
  } catch (const damaged&) {
    return "";
  }
  put_varint(out, 0);
  put_varint(out, g.threads.size());
  for (const auto& [thread, chunks] : g.threads) {
    std::uint64_t events = 0;
    for (const chunk& c : chunks) events += c.events;
    put_varint(out, thread);
    put_varint(out, events);
    put_varint(out, chunks.size());
  }
  return out;
}

std::string recoverer::complete(std::uint32_t number, found_generation& g, bool with_end) const {
  std::string body;
  for (std::vector<chunk>* part : {&g.begins, &g.ends, &g.listings}) by_number(*part);
  for (const chunk& c : g.begins) append(body, c);
  for (const chunk& c : g.listings) append(body, c);
  for (auto& [thread, chunks] : g.threads) {
    by_number(chunks);
    for (const chunk& c : chunks) append(body, c);
  }
  if (!with_end) return body;
  for (const chunk& c : g.ends) append(body, c);
  if (!g.ends.empty()) return body;
  const std::string payload = made_end(number, g);
  if (payload.empty()) return "";
  chunk c;
  c.kind = kEnd;
  c.generation = number;
  c.payload = bytes_of(payload);
  append(body, c);
  return body;
}

bool recoverer::keep(const std::string& body, std::uint32_t flags, std::string& why) {
  const std::string content = header_of_file(kRecovered | flags) + body;
  trace_file file = read_file(bytes_of(content));
  totals counted;
  const std::vector<std::string> problems = check(file, &counted);
  if (!problems.empty()) {
    why = problems.front();
    return false;
  }
  bodies_ += body;
  ++out_.generations;
  out_.events += counted.events;
  return true;
}

void recoverer::take(std::uint32_t number, found_generation& g) {
  const bool last = number == generations_.rbegin()->first;
  std::string why;
  const std::string whole = complete(number, g, true);
  if (!whole.empty() && keep(whole, 0, why)) return;
  // An end that is half written is none.
  if (last && keep(complete(number, g, false), kUnfinished, why)) {
    unfinished_ = true;
    return;
  }
  if (why.empty()) {
    why = "Generation " + std::to_string(number) + " cannot be read: its end is missing.";
  }
  out_.left_out.push_back(why);
}

recovered recoverer::run() {
  read_slots();
  for (auto& [number, g] : generations_) take(number, g);
  if (out_.generations == 0) {
    throw damaged(out_.left_out.empty() ? "The ring is empty."
                                        : "Nothing in the ring is whole. " + out_.left_out.front());
  }
  out_.file = header_of_file(kRecovered | (unfinished_ ? kUnfinished : 0)) + bodies_ + names_;
  return std::move(out_);
}

}  // namespace

recovered recover(bytes ring) { return recoverer(ring).run(); }

}  // namespace vole_trace
