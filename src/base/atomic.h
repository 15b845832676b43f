// The one place atomics come from.
//
// Who    every room; std::atomic appears nowhere else below include/.
// Law    shipped code sees std::atomic. tests/model puts a twin of this file
//        first on the include path, so the checked text is the shipped text.
// Note   the twin offers exactly what is used here: load, store, exchange,
//        compare_exchange_strong, fetch_add, fetch_sub, fetch_or, fetch_and,
//        fence_seq_cst, compiler_barrier, cpu_relax, kLockSpins, kBiasAfter, kBiasDoublings.
#pragma once

#include <atomic>
#include <cstdint>

namespace vole::base {

template <class T>
using atomic = std::atomic<T>;

inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

// Two neighbours in one load, the first at a multiple of 8: are both 0? Each as a relaxed load of its
// own would say it; only the processor sees that it is one.
inline bool both_zero(const atomic<std::uint32_t>& first, const atomic<std::uint32_t>&) noexcept {
  using two [[gnu::may_alias]] = std::uint64_t;
  return __atomic_load_n(reinterpret_cast<const two*>(&first), __ATOMIC_RELAXED) == 0;
}

inline void fence_seq_cst() noexcept { std::atomic_thread_fence(seq_cst); }

// Orders what the compiler emits, not what the processor does. Its partner is
// os::membarrier() on another thread (gmp/hot_words.h).
inline void compiler_barrier() noexcept { std::atomic_signal_fence(seq_cst); }

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

// How often a lock is tried before its thread goes to sleep: for some 6 us, which is what waking it
// costs the other side.
inline constexpr int kLockSpins = 200;

// After how many times in a row a lock is biased to the P that took it, and how often that number may
// double (base/bias.h). Checked builds bias and revoke all the time.
#ifdef VOLE_CHECKED
inline constexpr std::uint32_t kBiasAfter = 16, kBiasDoublings = 0;
#else
inline constexpr std::uint32_t kBiasAfter = 4096, kBiasDoublings = 12;
#endif

}  // namespace vole::base
