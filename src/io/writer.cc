// include/vole/io.h: writer.
//
// Law    [begin_, end_) of the buffer was accepted and is not written yet.

#include <cstring>

#include "io/stream.h"

namespace vole {
inline namespace v0 {
namespace io {

writer::~writer() {
  if (buffered() == 0 || error_) return;
  try {
    std::error_code nobody_hears;
    empty_buffer(nullptr, nobody_hears);
  } catch (...) {  // the sink's own: a destructor has no way to tell
  }
}

std::size_t writer::pass_on(std::span<const std::byte> from, const context* ctx,
                            std::error_code& error) {
  error_ = std::make_error_code(std::errc::io_error);  // if the sink throws
  const std::size_t n = detail::write_all(sink_, from, ctx, error);
  error_ = error;
  return n;
}

void writer::empty_buffer(const context* ctx, std::error_code& error) {
  begin_ += pass_on({buffer_.get() + begin_, end_ - begin_}, ctx, error);
  if (begin_ == end_) begin_ = end_ = 0;
}

std::size_t writer::put(std::span<const std::byte> from, const context* ctx,
                        std::error_code& error) {
  error = error_;
  if (error || from.empty()) return 0;
  if (from.size() > size_ - end_) {
    empty_buffer(ctx, error);
    if (error) return 0;
    if (from.size() >= size_) return pass_on(from, ctx, error);
  }
  if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(size_);
  std::memcpy(buffer_.get() + end_, from.data(), from.size());
  end_ += from.size();
  return from.size();
}

std::size_t writer::accept(std::span<const std::byte> from, const detail::io_ending& last) {
  return detail::reported("write", last, [&](std::error_code& error) {
    return put(from, last.ctx, error);
  });
}

void writer::write_out(const detail::io_ending& last) {
  detail::reported("flush", last, [&](std::error_code& error) {
    empty_buffer(last.ctx, error);
    return 0;
  });
}

}  // namespace io
}  // namespace v0
}  // namespace vole
