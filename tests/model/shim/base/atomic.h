// The twin of src/base/atomic.h: the same names, backed by the checker.
//
// Who    tests/model only; stands before src on the include path, so the shipped
//        headers are checked as they are.
// Law    every operation is a scheduling point of the explorer. cpu_relax says
//        "I spin": see spin() in engine.h. compiler_barrier does nothing, since a
//        model thread runs in program order and only its view of memory is weak.
// Note   an atomic must be made inside a running model (in a program object or in
//        one of its threads); using one after its destructor is a violation.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace model::detail {

struct cas_result {
  std::uint64_t seen;
  bool done;
};
using rmw_function = std::uint64_t (*)(std::uint64_t was, std::uint64_t arg);

int create_location(const void* address, std::uint64_t value) noexcept;
void destroy_location(int location) noexcept;
std::uint64_t do_load(int location, std::memory_order order) noexcept;
void do_store(int location, std::uint64_t value, std::memory_order order) noexcept;
std::uint64_t do_rmw(int location, rmw_function f, std::uint64_t arg,
                     std::memory_order order) noexcept;
cas_result do_cas(int location, std::uint64_t expected, std::uint64_t desired,
                  std::memory_order success, std::memory_order failure) noexcept;
void do_fence() noexcept;
void do_relax() noexcept;

}  // namespace model::detail

namespace vole::base {

inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);

 public:
  constexpr atomic() noexcept : atomic(T{}) {}
  constexpr atomic(T value) noexcept {
    if (!std::is_constant_evaluated())
      location_ = model::detail::create_location(this, encode(value));
  }
  constexpr ~atomic() {
    if (!std::is_constant_evaluated()) model::detail::destroy_location(location_);
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order order = seq_cst) const noexcept {
    return decode(model::detail::do_load(location_, order));
  }
  void store(T value, std::memory_order order = seq_cst) noexcept {
    model::detail::do_store(location_, encode(value), order);
  }
  T exchange(T value, std::memory_order order = seq_cst) noexcept {
    return rmw([](std::uint64_t, std::uint64_t arg) { return arg; }, value, order);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
    const auto r = model::detail::do_cas(location_, encode(expected), encode(desired), success,
                                         failure);
    if (!r.done) expected = decode(r.seen);
    return r.done;
  }
  bool compare_exchange_strong(T& expected, T desired,
                               std::memory_order order = seq_cst) noexcept {
    const std::memory_order failure = order == acq_rel   ? acquire
                                      : order == release ? relaxed
                                                         : order;
    return compare_exchange_strong(expected, desired, order, failure);
  }
  T fetch_add(T n, std::memory_order order = seq_cst) noexcept {
    return rmw([](std::uint64_t was, std::uint64_t arg) {
      return encode(static_cast<T>(decode(was) + decode(arg)));
    }, n, order);
  }
  T fetch_sub(T n, std::memory_order order = seq_cst) noexcept {
    return rmw([](std::uint64_t was, std::uint64_t arg) {
      return encode(static_cast<T>(decode(was) - decode(arg)));
    }, n, order);
  }
  T fetch_or(T n, std::memory_order order = seq_cst) noexcept {
    return rmw([](std::uint64_t was, std::uint64_t arg) { return was | arg; }, n, order);
  }
  T fetch_and(T n, std::memory_order order = seq_cst) noexcept {
    return rmw([](std::uint64_t was, std::uint64_t arg) { return was & arg; }, n, order);
  }

 private:
  static std::uint64_t encode(T value) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  static T decode(std::uint64_t bits) noexcept {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  T rmw(model::detail::rmw_function f, T arg, std::memory_order order) noexcept {
    return decode(model::detail::do_rmw(location_, f, encode(arg), order));
  }

  int location_ = -1;
};

inline void fence_seq_cst() noexcept { model::detail::do_fence(); }
inline void compiler_barrier() noexcept {}
inline void cpu_relax() noexcept { model::detail::do_relax(); }

inline constexpr int kLockSpins = 2;  // more would only be more of the same
inline constexpr std::uint32_t kBiasAfter = 1, kBiasDoublings = 1;

}  // namespace vole::base
