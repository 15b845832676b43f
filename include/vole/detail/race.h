// What ThreadSanitizer is told of the library: who comes after whom. Not for users.
//
// The library is compiled without instrumentation, so that nothing it does in there orders the
// user's code; these inline halves are compiled with it. Each edge is therefore said where it is
// made, release(p) by who comes first and acquire(p) by who comes after, and the atomics of the
// inline halves are not instrumented: TSan then sees no edge that nobody has said.
//
// Note   a build of vole that watches itself (VOLE_TSAN_RUNTIME) has its own atomics in sight, and
//        then nothing here is needed.
#pragma once

#include <atomic>
#include <type_traits>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VOLE_HAS_TSAN 1
#endif
#endif
#if (defined(VOLE_HAS_TSAN) || defined(__SANITIZE_THREAD__) || defined(VOLE_SANITIZE_THREAD)) && \
    !defined(VOLE_TSAN_RUNTIME)
#define VOLE_RACES 1
#include <sanitizer/tsan_interface.h>
extern "C" void __tsan_read1(void* at);
extern "C" void __tsan_write1(void* at);
#endif

// For what the library does with its own memory in code that is inlined into the user's.
#if !defined(VOLE_RACES)
#define VOLE_UNSEEN
#elif defined(__clang__)  // no_sanitize: it instruments atomics all the same
#define VOLE_UNSEEN __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define VOLE_UNSEEN __attribute__((no_sanitize("thread"), noinline))
#endif

namespace vole {
inline namespace v0 {
namespace detail {

namespace race {

#if defined(VOLE_RACES)
inline constexpr bool on = true;
inline void* at(const volatile void* p) noexcept { return const_cast<void*>(p); }
// What was done before release(p) comes before what is done after an acquire(p) that is later.
inline void release(const volatile void* p) noexcept { __tsan_release(at(p)); }
inline void acquire(const volatile void* p) noexcept { __tsan_acquire(at(p)); }
// As if the byte were read or written: two calls that must not meet.
inline void reads(const volatile void* p) noexcept { __tsan_read1(at(p)); }
inline void writes(const volatile void* p) noexcept { __tsan_write1(at(p)); }
#else
inline constexpr bool on = false;
inline void release(const volatile void*) noexcept {}
inline void acquire(const volatile void*) noexcept {}
inline void reads(const volatile void*) noexcept {}
inline void writes(const volatile void*) noexcept {}
#endif

// For who has done it, perhaps.
inline bool acquired_if(bool done, const volatile void* p) noexcept {
  if (done) acquire(p);
  return done;
}

}  // namespace race

// The atomics of the library's inline halves, which TSan does not see.
namespace unseen {

#if defined(VOLE_RACES)
#define VOLE_PLAIN(A) reinterpret_cast<T*>(const_cast<std::atomic<T>*>(&(A)))
template <class T>
VOLE_UNSEEN T load(const std::atomic<T>& a, std::memory_order o) noexcept {
  return __atomic_load_n(VOLE_PLAIN(a), static_cast<int>(o));
}
template <class T>
VOLE_UNSEEN T fetch_add(std::atomic<T>& a, std::type_identity_t<T> n, std::memory_order) noexcept {
  return __atomic_fetch_add(VOLE_PLAIN(a), n, __ATOMIC_SEQ_CST);
}
template <class T>
VOLE_UNSEEN T fetch_sub(std::atomic<T>& a, std::type_identity_t<T> n, std::memory_order) noexcept {
  return __atomic_fetch_sub(VOLE_PLAIN(a), n, __ATOMIC_SEQ_CST);
}
template <class T>
VOLE_UNSEEN bool compare_exchange_strong(std::atomic<T>& a, T& seen, std::type_identity_t<T> to,
                                         std::memory_order, std::memory_order) noexcept {
  return __atomic_compare_exchange_n(VOLE_PLAIN(a), &seen, to, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}
#undef VOLE_PLAIN
#else
template <class T>
[[gnu::always_inline]] inline T load(const std::atomic<T>& a, std::memory_order o) noexcept {
  return a.load(o);
}
template <class T>
[[gnu::always_inline]] inline T fetch_add(std::atomic<T>& a, std::type_identity_t<T> n,
                                          std::memory_order o) noexcept {
  return a.fetch_add(n, o);
}
template <class T>
[[gnu::always_inline]] inline T fetch_sub(std::atomic<T>& a, std::type_identity_t<T> n,
                                          std::memory_order o) noexcept {
  return a.fetch_sub(n, o);
}
template <class T>
[[gnu::always_inline]] inline bool compare_exchange_strong(std::atomic<T>& a, T& seen,
                                                           std::type_identity_t<T> to,
                                                           std::memory_order success,
                                                           std::memory_order failure) noexcept {
  return a.compare_exchange_strong(seen, to, success, failure);
}
#endif

}  // namespace unseen

}  // namespace detail
}  // namespace v0
}  // namespace vole
