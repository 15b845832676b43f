// libFuzzer on the reader of traces and on recover. The input is a file or a ring as it is, or
// (first byte odd) a list of changes to a good one: where, in two bytes, and to what, in one;
// checksums are made right again, so that the damage reaches the events.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "trace/reader.h"
#include "trace/recover.h"
#include "trace/summary.h"
#include "trace_writer.h"

namespace {

using namespace vole_trace;

bytes of(const std::string& s) {
  return {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()};
}

const std::string& good() {
  static const std::string file = [] {
    synthetic_trace::trace t;
    synthetic_trace::busy_generation(t, 1000);
    synthetic_trace::busy_generation(t, 21000, false);
    t.names();
    return t.file(kUnfinished);
  }();
  return file;
}

void correct_checksums(std::string& file) {
  for (std::size_t at = kFileHeader; at + kChunkHeader <= file.size();) {
    const std::size_t size = little_endian<std::uint32_t>(of(file).data() + at + 4);
    if (size > file.size() - at - kChunkHeader) return;
    const std::uint32_t sum = crc32(of(file).subspan(at + kChunkHeader, size));
    for (std::size_t i = 0; i < 4; ++i) file[at + 44 + i] = static_cast<char>(sum >> 8 * i);
    at += kChunkHeader + size;
  }
}

std::string input_of(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] % 2 == 0) return {reinterpret_cast<const char*>(data), size};
  std::string file = good();
  for (std::size_t i = 1; i + 3 <= size; i += 3) {
    const std::size_t at = (data[i] | static_cast<std::size_t>(data[i + 1]) << 8) % file.size();
    file[at] = static_cast<char>(data[i + 2]);
  }
  if (data[0] % 4 == 3) file.resize(file.size() * data[0] / 256);
  correct_checksums(file);
  return file;
}

void read_all(const std::string& content) {
  try {
    trace_file file = read_file(of(content));
    const bool whole = check(file).empty();
    const summary s = summarise(file);
    if (whole && !s.all.problems.empty()) std::abort();  // what checks can be read
    text_of(file, s);
    json_of(file, s);
  } catch (const damaged&) {
  }
}

void recover_all(const std::string& content) {
  try {
    if (!check(of(recover(of(content)).file)).empty()) std::abort();  // what is recovered checks
  } catch (const damaged&) {
  }
}

// The same bytes as slots of a ring.
std::string as_ring(const std::string& file) {
  std::string ring = synthetic_trace::file_header(0, "VOLERNG\n");
  synthetic_trace::buffer sizes;
  sizes.fixed(512, 4).fixed(64, 4);
  ring.replace(16, 8, sizes.bytes);
  ring.resize(4096);
  for (std::size_t at = kFileHeader; at + kChunkHeader <= file.size();) {
    const std::size_t size = little_endian<std::uint32_t>(of(file).data() + at + 4);
    if (size > file.size() - at - kChunkHeader) break;
    std::string slot = file.substr(at, kChunkHeader + size);
    slot.resize(512);
    ring += slot;
    at += kChunkHeader + size;
  }
  return ring;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string content = input_of(data, size);
  read_all(content);
  recover_all(size != 0 && data[0] % 2 == 1 ? as_ring(content) : content);
  return 0;
}
