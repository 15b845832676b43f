// What is left of the buffers of one call, part by part.
//
// Law    a window of kParts at a time, so that a thousand of them need no room on a small stack.
#pragma once

#include <sys/uio.h>

#include <cstddef>

namespace vole::hooks {

class span {
 public:
  span(const void* at, std::size_t n) noexcept
      : own_{const_cast<void*>(at), n}, next_(&own_), left_(1) {}
  span(const iovec* parts, std::size_t n) noexcept : own_{}, next_(parts), left_(n) {}
  span(const span&) = delete;
  span& operator=(const span&) = delete;

  // The beginning of what is left.
  const iovec* parts() noexcept;
  std::size_t count() const noexcept { return left_ < kParts ? left_ : kParts; }
  std::size_t bytes_shown() noexcept;  // in parts()[0, count())
  bool shows_all() const noexcept { return left_ <= kParts; }

  void drop(std::size_t n) noexcept;  // of what was shown
  bool empty() noexcept;              // no bytes are left

 private:
  static constexpr std::size_t kParts = 16;

  iovec own_;
  const iovec* next_;     // the first part that is not done with
  std::size_t left_;      // parts from there
  std::size_t done_ = 0;  // bytes of the first
  iovec window_[kParts];
};

}  // namespace vole::hooks
