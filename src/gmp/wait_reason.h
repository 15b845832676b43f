// Why a goroutine waits: what dumps and traces print.
#pragma once

#include <cstdint>
#include <string_view>

namespace vole::rt {

enum class wait_reason : std::uint8_t {
  none,
  wait_group,  // wait_group::wait, join_handle::join
  processor,   // came back into the runtime and found no P
};

constexpr std::string_view name_of(wait_reason r) noexcept {
  constexpr std::string_view kNames[] = {"", "wait group", "processor"};
  return kNames[static_cast<unsigned>(r)];
}

}  // namespace vole::rt
