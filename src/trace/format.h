// The trace format's numbers: docs/trace-format.md says what each means.
//
// Who    everything that writes or reads traces. A leaf: it knows nothing of the runtime.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"

namespace vole::rt::trace {

using namespace base;

inline constexpr char kFileMagic[8] = {'V', 'O', 'L', 'E', 'T', 'R', 'C', '\n'};
inline constexpr char kRingMagic[8] = {'V', 'O', 'L', 'E', 'R', 'N', 'G', '\n'};
inline constexpr std::uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK"
inline constexpr std::uint32_t kUnfinished = 2;           // a file's flag
inline constexpr std::size_t kRingSlots = 4096;           // where a ring's slots begin

struct file_header {
  char magic[8];
  std::uint16_t major = 1, minor = 0;
  std::uint32_t flags = 0;
  std::uint32_t slot_bytes = 0, slots = 0;  // of a ring
  std::uint64_t zero = 0;
};
static_assert(sizeof(file_header) == 32);

enum class chunk_kind : std::uint16_t {
  begin = 1, end, events, listing, modules, symbols, reasons,
};

// bytes and events change while the chunk is filled.
struct chunk_header {
  atomic<std::uint32_t> magic;
  atomic<std::uint32_t> bytes;
  std::uint32_t generation, thread;
  chunk_kind kind;
  std::uint16_t zero;
  std::uint32_t number;
  std::uint64_t before, ticks;
  atomic<std::uint32_t> events;
  std::uint32_t crc;

  std::uint8_t* payload() noexcept { return reinterpret_cast<std::uint8_t*>(this + 1); }
  const std::uint8_t* payload() const noexcept {
    return reinterpret_cast<const std::uint8_t*>(this + 1);
  }
};
static_assert(sizeof(chunk_header) == 48);

enum class event : std::uint8_t {
  def_site = 1, def_string, thread_first, g_first, g_name, proc_start, proc_stop, proc_steal,
  g_create, g_unblock, g_run, g_block, g_yield, g_preempt, g_end, g_requeue,
  block_run = 20, yield_run, preempt_run, end_run, block_woken, yield_woken, end_woken = 27,
  call_begin = 30, call_end,
  stop_begin = 40, stop_end,
  region_begin = 50, region_end, task_begin, task_end, log,
};

enum class g_state : std::uint8_t { runnable, running, waiting, call, evicted, preempted };

// ── numbers ── each returns the byte after; ten bytes at most
inline std::uint8_t* put_varint(std::uint8_t* at, std::uint64_t n) noexcept {
  while (n >= 0x80) {
    *at++ = static_cast<std::uint8_t>(n | 0x80);
    n >>= 7;
  }
  *at++ = static_cast<std::uint8_t>(n);
  return at;
}
inline std::uint8_t* put_svarint(std::uint8_t* at, std::int64_t n) noexcept {
  return put_varint(at, static_cast<std::uint64_t>(n) << 1 ^ static_cast<std::uint64_t>(n >> 63));
}
inline constexpr std::size_t kMostVarint = 10;

std::uint32_t crc32(const void* bytes, std::size_t n) noexcept;  // of zlib and PNG

}  // namespace vole::rt::trace
