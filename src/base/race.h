// The edges that the runtime makes for user code, as ThreadSanitizer is told of them. Without it, or
// where the runtime's own accesses are watched instead (VOLE_TSAN_RUNTIME), all of this is nothing.
//
// Who    whoever orders one goroutine's code before another's: acquire and release run on the
//        goroutine (or plain thread) whose code is ordered, never on g0 and never in a commit.
// Law    what is not said here is not seen: the runtime is compiled without instrumentation
//        (cmake/races.cmake). An address stands for an edge; it need not be memory of anybody's.
// Note   the inline halves of include/vole have their own copy of this: vole/detail/race.h.
// Proof  tests/races
#pragma once

#include <cstddef>

#if defined(VOLE_SANITIZE_THREAD) && !defined(VOLE_TSAN_RUNTIME)
#define VOLE_RACES 1
#include <sanitizer/tsan_interface.h>
extern "C" void __tsan_read1(void* at);
extern "C" void __tsan_write1(void* at);
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
extern "C" void AnnotateIgnoreSyncBegin(const char* file, int line);
extern "C" void AnnotateIgnoreSyncEnd(const char* file, int line);
extern "C" void AnnotateBenignRaceSized(const char* file, int line, void* at, std::size_t bytes,
                                        const char* what);
#endif

namespace vole::base::race {

#if defined(VOLE_RACES)
inline constexpr bool on = true;
inline void* at(const volatile void* p) noexcept { return const_cast<void*>(p); }
inline void release(const volatile void* p) noexcept { __tsan_release(at(p)); }
inline void acquire(const volatile void* p) noexcept { __tsan_acquire(at(p)); }
inline void reads(const volatile void* p) noexcept { __tsan_read1(at(p)); }
inline void writes(const volatile void* p) noexcept { __tsan_write1(at(p)); }
// Accesses there are no race, although nothing orders them.
inline void not_shared(void* p, std::size_t bytes) noexcept {
  AnnotateBenignRaceSized(__FILE__, __LINE__, p, bytes, "a variable of the thread's own");
}
// Until the end, this thread or goroutine makes no edge and no access that counts: what libc's calls
// do for us TSan would take for the user's doing. Nests.
inline void begin_unseen() noexcept {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}
inline void end_unseen() noexcept {
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
#else
inline constexpr bool on = false;
inline void release(const volatile void*) noexcept {}
inline void acquire(const volatile void*) noexcept {}
inline void reads(const volatile void*) noexcept {}
inline void writes(const volatile void*) noexcept {}
inline void begin_unseen() noexcept {}
inline void end_unseen() noexcept {}
#endif

class unseen {
 public:
  unseen() noexcept { begin_unseen(); }
  ~unseen() { end_unseen(); }
  unseen(const unseen&) = delete;
  unseen& operator=(const unseen&) = delete;
};

// One of many who drop a reference: the last comes after all.
inline bool dropped(bool is_last, const volatile void* count) noexcept {
  if (is_last) acquire(count);
  return is_last;
}

}  // namespace vole::base::race
