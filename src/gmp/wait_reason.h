// Why a goroutine waits: what dumps and traces print.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace vole::rt {

enum class wait_reason : std::uint8_t {
  none,
  wait_group,  // wait_group::wait, join_handle::join
  processor,   // came back into the runtime and found no P
  chan_send,
  chan_recv,
  chan_send_nil,
  chan_recv_nil,
  select,
  select_nothing,  // select() without cases
  mutex,
  shared_mutex_write,
  shared_mutex_read,
  condition_variable,
  semaphore,
  once,
  sleep,
  network,     // for a file to be readable or writable
  latch,
  barrier,
};
inline constexpr int kWaitReasons = static_cast<int>(wait_reason::barrier) + 1;

constexpr std::string_view name_of(wait_reason r) noexcept {
  constexpr std::string_view kNames[] = {
      "",
      "wait group",
      "processor",
      "chan send",
      "chan receive",
      "chan send (nil channel)",
      "chan receive (nil channel)",
      "select",
      "select (no cases)",
      "mutex",
      "shared mutex (write)",
      "shared mutex (read)",
      "condition variable",
      "semaphore",
      "once",
      "sleep",
      "IO wait",
      "latch",
      "barrier",
  };
  static_assert(std::size(kNames) == kWaitReasons);
  return kNames[static_cast<unsigned>(r)];
}

}  // namespace vole::rt
