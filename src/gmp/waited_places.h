// The offsets at which dumps look into an object that somebody waits for: the rooms that have the
// objects lie above this one, and a reader outside the process has no types at all.
//
// Law    each is asserted where the type is: sync/mutex.cc, sync/shared_mutex.cc, chan/select.cc,
//        api/go.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vole::rt {

// A mutex or shared mutex: its word, with this bit if somebody has it alone; and an address on the
// stack of the party that locked it last (detail::lockable).
inline constexpr std::size_t kLockWordAt = 0, kLockerAt = 24;
inline constexpr std::uint64_t kLockHeld = 8;

// From a joined task to what its join_handle waits on (detail::join_base).
inline constexpr std::size_t kJoinedAt = 32;

// A select that waits: where its cases are and how many; in each its channel, null if it has none.
inline constexpr std::size_t kSelectCasesAt = 0, kSelectCountAt = 8, kCaseBytes = 32,
                             kCaseChannelAt = 0;
inline constexpr std::size_t kMostCasesShown = 16;

}  // namespace vole::rt
