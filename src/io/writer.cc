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
    flush(nobody_hears);
  } catch (...) {  // the sink's own: a destructor has no way to tell
  }
}

std::size_t writer::pass_on(std::span<const std::byte> from, std::error_code& error) {
  error_ = std::make_error_code(std::errc::io_error);  // if the sink throws
  const std::size_t n = detail::write_all(sink_, from, error);
  error_ = error;
  return n;
}

void writer::flush(std::error_code& error) {
  begin_ += pass_on({buffer_.get() + begin_, end_ - begin_}, error);
  if (begin_ == end_) begin_ = end_ = 0;
}

std::size_t writer::write(std::span<const std::byte> from, std::error_code& error) {
  error = error_;
  if (error || from.empty()) return 0;
  if (from.size() > size_ - end_) {
    flush(error);
    if (error) return 0;
    if (from.size() >= size_) return pass_on(from, error);
  }
  if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(size_);
  std::memcpy(buffer_.get() + end_, from.data(), from.size());
  end_ += from.size();
  return from.size();
}

void writer::flush() {
  std::error_code error;
  flush(error);
  if (error) detail::throw_io("flush", error);
}
std::size_t writer::write(std::span<const std::byte> from) {
  std::error_code error;
  const std::size_t n = write(from, error);
  if (error) detail::throw_io("write", error);
  return n;
}

}  // namespace io
}  // namespace v0
}  // namespace vole
