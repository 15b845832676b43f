#include "records.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace vole_command::outside {

arena::~arena() {
  for (const block& b : blocks_) munmap(b.at, b.size);
}

arena& arena::operator=(arena&& other) noexcept {
  std::swap(blocks_, other.blocks_);
  std::swap(used_, other.used_);
  return *this;
}

void arena::add_block(std::size_t bytes, bool populate) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | (populate ? MAP_POPULATE : 0), -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  blocks_.push_back({static_cast<char*>(at), bytes, 0});
}

void arena::make_ready(std::size_t bytes) { add_block(bytes, true); }

char* arena::take(std::size_t bytes) {
  constexpr std::size_t kLeast = 64 << 10, kMost = 64 << 20;
  if (blocks_.empty() || blocks_.back().size - blocks_.back().used < bytes)
    add_block(std::max(bytes, std::clamp(used_, kLeast, kMost)), true);
  block& b = blocks_.back();
  char* const at = b.at + b.used;
  b.used += bytes;
  used_ += bytes;
  return at;
}

namespace {

constexpr std::uint64_t kMostInAll = std::uint64_t{8} << 30;  // bytes of records

// Reads one chunk. False: it makes no sense, or cannot be read.
bool read_chunk(const memory& mem, const vole::root::slab_places& where, std::uint64_t chunk,
                std::uint64_t size, record_set* to) {
  std::uint64_t used = 0;
  if (!mem.get(chunk + where.used, &used) || used > where.largest / size) return false;
  if (used == 0) return true;
  // Is it there at all? A damaged number must not cost a gigabyte of ours.
  char last;
  if (used * size > kMostInAll - to->memory.used() ||
      !mem.get(chunk + where.records + used * size - 1, &last))
    return false;
  char* const copy = to->memory.take(used * size);
  if (!mem.read(chunk + where.records, copy, used * size)) return false;
  for (std::uint64_t i = 0; i < used; ++i)
    to->all.push_back({chunk + where.records + i * size, copy + i * size});
  return true;
}

}  // namespace

void read_slab(const memory& mem, const vole::root::slab_places& where, std::uint64_t slab,
               std::uint32_t bytes, record_set* to) {
  constexpr std::size_t kMostChunks = 1 << 14;  // of 4 MiB each
  std::uint64_t size = 0, chunk = 0;
  if (!mem.get(slab + where.record_bytes, &size) || !mem.get(slab + where.first, &chunk)) return;
  if (size < bytes || size > 1 << 20) return;
  std::vector<std::uint64_t> seen;
  while (chunk != 0 && seen.size() < kMostChunks) {
    if (std::find(seen.begin(), seen.end(), chunk) != seen.end()) return;
    seen.push_back(chunk);
    if (!read_chunk(mem, where, chunk, size, to)) return;
    if (!mem.get(chunk + where.next, &chunk)) return;
  }
}

void read_scheduler(const memory& mem, const vole::root::table& t, scheduler_copy* to) {
  to->sched.resize(t.sched_at.bytes);
  to->p_at.clear();
  if (!mem.read(reinterpret_cast<std::uint64_t>(t.sched), to->sched.data(), to->sched.size())) {
    to->sched.clear();
    to->ps.clear();
    return;
  }
  // Ps that are gone keep their counts, and their place.
  for (std::uint32_t i = 0; i < t.sched_at.most_procs; ++i) {
    const auto at = field<std::uint64_t>(to->sched.data(), t.sched_at.all + std::uint64_t{i} * 8);
    if (at == 0) break;
    to->p_at.push_back(at);
  }
  to->ps.resize(to->p_at.size() * t.p.bytes);
  std::vector<request> wanted;
  for (std::size_t i = 0; i < to->p_at.size(); ++i)
    wanted.push_back({to->p_at[i], t.p.bytes, to->ps.data() + i * std::size_t{t.p.bytes}});
  mem.read(wanted);
  for (request& r : wanted)
    if (!r.ok) std::memset(r.to, 0, r.bytes);
}

}  // namespace vole_command::outside
