// A trace as a file: header, chunks sorted by generation and thread, names.
//
// Who    reader.h; recover.cc reads slots of a ring with `read_header`.
// Law    views into `content`, which must outlive it. What is wrong with one generation is its
//        `trouble`; what is wrong with the file beyond generations is in `problems`. Only a file
//        that is no trace at all is thrown.
// Proof  reader_test.cc
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/bytes.h"

namespace vole_trace {

inline constexpr std::size_t kFileHeader = 32;
inline constexpr std::size_t kChunkHeader = 48;
inline constexpr std::uint32_t kRecovered = 1;  // flags of the file
inline constexpr std::uint32_t kUnfinished = 2;

enum chunk_kind : std::uint16_t {
  kBegin = 1,
  kEnd = 2,
  kEvents = 3,
  kListing = 4,
  kModules = 5,
  kSymbols = 6,
  kReasons = 7,
};

struct chunk {
  std::uint64_t at = 0;  // of its header, in the file
  bytes payload;
  std::uint32_t size = 0;  // of the payload, as the header says
  std::uint32_t generation = 0;
  std::uint32_t thread = 0;
  std::uint16_t kind = 0;
  std::uint32_t number = 0;
  std::uint64_t before = 0;
  std::uint64_t ticks = 0;
  std::uint32_t events = 0;
  std::uint32_t checksum = 0;
};

struct begin_info {
  std::uint64_t ticks, mono, wall, per_second, ps, pid;
};

struct end_info {
  std::uint64_t ticks = 0, mono = 0, lost = 0;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> threads;  // events, chunks
};

struct generation {
  std::uint32_t number = 0;
  std::optional<begin_info> begin;
  std::optional<end_info> end;
  std::map<std::uint32_t, std::vector<chunk>> threads;  // chunks of events
  std::vector<chunk> listings;
  std::string trouble;   // why it cannot be read; empty if nothing is known against it
  bool partial = false;  // the last one of an unfinished file: it goes as far as it goes
};

struct frame {
  std::string_view function, file;
  std::uint64_t line = 0;
};

struct module_info {
  std::string_view path;
  std::uint64_t bias = 0, from = 0, to = 0;
  std::string_view build_id;
};

struct trace_file {
  bytes content;
  std::uint32_t flags = 0;
  std::vector<generation> generations;  // by number
  std::vector<module_info> modules;
  std::unordered_map<std::uint64_t, std::vector<frame>> symbols;
  std::vector<std::string_view> reasons;
  std::vector<std::string> problems;  // sentences
};

// The header at `at`, without its payload. There must be kChunkHeader bytes.
chunk read_header(const std::uint8_t* header, std::uint64_t at);

begin_info read_begin(cursor c);
end_info read_end(cursor c);

trace_file read_file(bytes content);  // throws damaged: a sentence with its full stop

}  // namespace vole_trace
