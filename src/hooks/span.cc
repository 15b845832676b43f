#include "hooks/span.h"

namespace vole::hooks {

// As given, as long as nothing of the first part is done.
const iovec* span::parts() noexcept {
  if (done_ == 0) return next_;
  const std::size_t n = count();
  for (std::size_t i = 0; i < n; ++i) window_[i] = next_[i];
  window_[0].iov_base = static_cast<char*>(window_[0].iov_base) + done_;
  window_[0].iov_len -= done_;
  return window_;
}

std::size_t span::bytes_shown() noexcept {
  std::size_t n = 0;
  for (std::size_t i = 0; i < count(); ++i) n += next_[i].iov_len;
  return n - done_;
}

void span::drop(std::size_t n) noexcept {
  done_ += n;
  while (left_ != 0 && done_ >= next_->iov_len) {
    done_ -= next_->iov_len;
    ++next_;
    --left_;
  }
}

bool span::empty() noexcept {
  drop(0);
  return left_ == 0;
}

}  // namespace vole::hooks
