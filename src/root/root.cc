#include "root/root.h"

#include <elf.h>

#include <string_view>

#include <vole/version.h>

#include "arch/context.h"
#include "arch/registers.h"
#include "gmp/waited_places.h"
#include "sched/state.h"

extern "C" void vole_land() noexcept;

// G and M have base classes or members with some; gcc and clang extend offsetof to them.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace vole::root {
namespace {

using namespace rt;

// The byte of bit-fields lies between `kind` and `status`.
constexpr std::uint32_t kFlags = offsetof(G, kind) + 1;
static_assert(offsetof(G, status) == kFlags + 1);
static_assert(sizeof(status_word) == 1 && sizeof(G::why) == 1 && sizeof(owner_count) == 8);
static_assert(kWaitReasons <= int{kMostReasons});

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
constexpr std::uint16_t saved_at(unsigned reg) noexcept {
  switch (reg) {
    case 15: return 8;
    case 14: return 16;
    case 13: return 24;
    case 12: return 32;
    case 3: return 40;   // rbx
    case 6: return 48;   // rbp
    case 16: return 56;  // the return address
    default: return kNotSaved;
  }
}
#else
constexpr std::uint16_t kMachine = EM_AARCH64;
constexpr std::uint16_t saved_at(unsigned reg) noexcept {
  return reg >= 19 && reg <= 30 ? static_cast<std::uint16_t>((reg - 19) * 8) : kNotSaved;
}
#endif

template <std::size_t N>
constexpr void copy_text(char (&to)[N], std::string_view from) noexcept {
  for (std::size_t i = 0; i < from.size() && i + 1 < N; ++i) to[i] = from[i];
}

constexpr slab_places kSlab = {
    slab_core::places().record_bytes, slab_core::places().first,   slab_core::places().next,
    slab_core::places().used,         slab_core::places().records, slab_core::kLargestChunk,
};

constexpr g_places kG = {
    .bytes = sizeof(G),
    .status = offsetof(G, status),
    .why = offsetof(G, why),
    .flags = kFlags,
    .started_flag = 1 << 0,
    .locked_flag = 1 << 3,
    .sp = offsetof(G, sp),
    .waiting_since = offsetof(G, waiting_since),
    .stack_lo = offsetof(G, stack) + offsetof(rt::stack, lo),
    .stack_bytes = offsetof(G, stack) + offsetof(rt::stack, bytes),
    .object = offsetof(G, wait) + offsetof(waiter, object),
    .id = offsetof(G, id),
    .parent = offsetof(G, parent),
    .created_at = offsetof(G, created_at),
    .invoke = offsetof(G, invoke),
    .name = offsetof(G, name),
    .name_text = offsetof(g_name, text),
    .name_bytes = sizeof(g_name::text),
};

constexpr waited_places kWaited = {
    .callable = offsetof(G, callable),
    .lock_word = kLockWordAt,
    .locker = kLockerAt,
    .lock_held = kLockHeld,
    .joined_at = kJoinedAt,
    .select_cases = kSelectCasesAt,
    .select_count = kSelectCountAt,
    .case_bytes = kCaseBytes,
    .case_channel = kCaseChannelAt,
};

constexpr m_places kM = {
    .bytes = sizeof(M),
    .in_rt = VOLE_M_IN_RT,
    .hot_p = offsetof(M, hot) + offsetof(hot_words<P>, p),
    .p = offsetof(M, p),
    .curg = offsetof(M, curg),
    .locked_g = offsetof(M, locked_g),
    .call = offsetof(M, call),
    .alive = offsetof(M, alive),
    .idle = offsetof(M, idle),
    .polling = offsetof(M, polling),
    .spinning = offsetof(M, spinning),
    .zombie = offsetof(M, zombie),
    .captured = offsetof(M, captured),
    .alternate_stack = offsetof(M, alternate_stack),
    .id = offsetof(M, id),
    .tid = offsetof(M, tid),
};

constexpr p_places kP = {
    .bytes = sizeof(P),
    .id = offsetof(P, id),
    .status = offsetof(P, status),
    .m = offsetof(P, m),
    .runnext = offsetof(P, runnext),
    .ready_next = offsetof(P, ready_next),
    .front = static_cast<std::uint32_t>(offsetof(P, ring)) + local_queue::places().front,
    .back = static_cast<std::uint32_t>(offsetof(P, ring)) + local_queue::places().back,
    .schedtick = offsetof(P, schedtick),
    .switches = offsetof(P, switches),
    .spawned = offsetof(P, spawned),
    .finished = offsetof(P, finished),
    .steals = offsetof(P, steals),
    .stolen = offsetof(P, stolen),
    .overflows = offsetof(P, overflows),
    .hand_offs = offsetof(P, hand_offs),
    .preemptions = offsetof(P, preemptions),
    .evictions = offsetof(P, evictions),
};

constexpr sched_places kSched = {
    .bytes = sizeof(sched_state),
    .all = offsetof(sched_state, all),
    .most_procs = kMaxProcs,
    .procs = offsetof(sched_state, procs),
    .idle_procs = offsetof(sched_state, idle_p_count),
    .spinning = offsetof(sched_state, parking) + offsetof(parking::state, spinning),
    .global_queue =
        static_cast<std::uint32_t>(offsetof(sched_state, global)) + global_queue::place_of_size(),
    .m_count = offsetof(sched_state, m_count),
    .zombies = offsetof(sched_state, zombies),
    .evicted = offsetof(sched_state, evicted),
    .captured_ms = offsetof(sched_state, captured_ms),
    .guest_spawned = offsetof(sched_state, guest_spawned),
    .coarse_now = offsetof(sched_state, coarse_now),
};

// This file's path without its tail; symbols/names.cc does the same.
constexpr char kSources[] = __FILE__;

constexpr std::string_view kStatusNames[kStatuses] = {
    "idle", "runnable", "running", "syscall", "waiting", "dead", "preempted", "evicted"};

consteval table make() noexcept {
  table t{};
  for (unsigned i = 0; i < sizeof kMagic; ++i) t.magic[i] = kMagic[i];
  t.version = kVersion;
  t.bytes = sizeof(table);
  t.machine = kMachine;
  t.pointer_bytes = sizeof(void*);
  t.release = VOLE_VERSION;
  t.g_slab = &g_slab;
  t.m_slab = &m_slab;
  t.p_slab = &p_slab;
  t.sched = &sched;
  t.land = &vole_land;
  t.start = &vole_goroutine_start;
  t.sources = kSources;
  t.note = vole_root_note;
  t.slab = kSlab;
  t.g = kG;
  t.m = kM;
  t.p = kP;
  t.sched_at = kSched;
  t.frame_bytes = VOLE_FRAME_BYTES;
  for (unsigned r = 0; r < kMostRegisters; ++r) t.frame_at[r] = saved_at(r);
  t.reasons = kWaitReasons;
  for (unsigned i = 0; i < kStatuses; ++i) copy_text(t.status_names[i], kStatusNames[i]);
  for (int i = 0; i < kWaitReasons; ++i)
    copy_text(t.reason_names[i], name_of(static_cast<wait_reason>(i)));
  t.waited = kWaited;
  return t;
}

}  // namespace
}  // namespace vole::root

extern "C" [[gnu::used]] constinit const vole::root::table vole_root = vole::root::make();
