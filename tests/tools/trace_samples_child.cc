// Writes traces for the tests of `vole trace`: trace_samples_child small|three|unfinished|ring OUT
#include <cstdio>
#include <cstring>
#include <fstream>

#include "../../tools/vole/trace/crc32.cc"
#include "trace_writer.h"

namespace {

// Slots of 512 bytes; the first generation's first one was overwritten.
std::string ring() {
  using namespace synthetic_trace;
  trace t;
  t.for_ring = true;
  for (std::uint64_t i = 0; i < 3; ++i) busy_generation(t, 1000 + i * 20000, i < 2);
  std::string out = file_header(0, "VOLERNG\n");
  buffer sizes;
  sizes.fixed(512, 4).fixed(t.chunks.size(), 4);
  out.replace(16, 8, sizes.bytes);
  out.resize(4096);
  t.chunks.front().replace(0, 4, "free");
  for (std::string slot : t.chunks) {
    slot.resize(512);
    out += slot;
  }
  return out;
}

std::string sample(const char* name) {
  using namespace synthetic_trace;
  trace t;
  if (std::strcmp(name, "ring") == 0) return ring();
  if (std::strcmp(name, "small") == 0) return small().file();
  if (std::strcmp(name, "unfinished") == 0) {
    busy_generation(t, 1000);
    busy_generation(t, 21000, false);
    t.names();
    return t.file(2);
  }
  for (std::uint64_t i = 0; i < 3; ++i) busy_generation(t, 1000 + i * 20000);
  t.names();
  return t.file();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string content = sample(argv[1]);
  std::ofstream out(argv[2], std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  return out ? 0 : 1;
}
