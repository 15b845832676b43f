// Finds the goroutine that holds a mutex somebody waits for.
//
// A mutex keeps an address on the stack of the party that locked it last (detail::lockable). The
// goroutine with that stack holds it; "probably", since a goroutine may end without unlocking, and
// another one get its stack. If it is nobody's, a plain thread holds it, or one that has ended.
//
// A shared mutex that readers hold keeps no address. But a reader will unlock it, so its address, or a
// std::shared_lock's reference to it, mostly lies on that goroutine's stack. If exactly one goroutine
// that does not wait for it has its address there, that is probably a holder. If there are several,
// or none, dumps say nothing.
//
// Who    capture, while the stacks stand still (of one that runs, from its answer: question.h); the
//        `vole` command, from copies.
// Where  signal-safe. Reads of stacks are the caller's.
// Law    at most kMostObjects mutexes, and kMostBytes of stacks, are looked at.
// Proof  tests/crash/report_test.cc
#pragma once

#include <cstddef>
#include <cstdint>

namespace vole::rt {

class holders {  // zeroed memory is an empty one
 public:
  bool is_new(const void* object) const noexcept;
  // Somebody waits for it. `locker`: an address on the holder's stack; 0: not known.
  void wanted(const void* object, std::uintptr_t locker) noexcept;
  bool any() const noexcept { return n_ != 0; }

  void sort() noexcept;  // when all are wanted
  void match(std::uint64_t id, std::uintptr_t stack_from, std::uintptr_t stack_to) noexcept;

  bool is_unsure() const noexcept { return unsure_ != 0; }  // search would be of use
  // The stack of goroutine `id`, from its stack pointer, by words. It waits for `waits_on` itself;
  // may be null. read(address, &word): false, it is not there.
  template <class Read>
  void search(std::uint64_t id, const void* waits_on, std::uintptr_t from, std::uintptr_t to,
              Read&& read) noexcept;

  std::uint64_t holder_of(const void* object) const noexcept;  // captured::holder

 private:
  static constexpr std::size_t kMostObjects = 256, kSlots = 1024;
  static constexpr std::size_t kMostBytes = 8u << 20;

  struct entry {
    const void* object;
    std::uintptr_t locker;
    std::uint64_t found;  // a goroutine that has it on its stack; the last one
    std::uint32_t n;      // how many have
  };
  std::size_t slot_of(const void* object) const noexcept;
  void note(std::uint64_t id, const void* object) noexcept;

  entry entries_[kSlots];
  std::uint16_t by_locker_[kMostObjects];  // slots of those that say, sorted
  std::size_t n_, sure_, unsure_, searched_;
};

template <class Read>
void holders::search(std::uint64_t id, const void* waits_on, std::uintptr_t from, std::uintptr_t to,
                     Read&& read) noexcept {
  if (from >= to || searched_ + (to - from) > kMostBytes) return;
  searched_ += to - from;
  for (std::uintptr_t at = from; at < to; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    if (!read(at, &word) || word < 4096) continue;
    const auto* const object = reinterpret_cast<const void*>(word);
    if (object != waits_on) note(id, object);
  }
}

}  // namespace vole::rt
