// include/vole/io.h: reader.
//
// Law    [begin_, end_) of the buffer is what has come and was not taken. Nothing is taken
//        before the whole piece is there, so an error in the middle loses nothing.

#include <algorithm>
#include <cstring>

#include "io/stream.h"

namespace vole {
inline namespace v0 {
namespace io {

std::string_view reader::ahead() const noexcept {
  return {reinterpret_cast<const char*>(buffer_.get()) + begin_, end_ - begin_};
}

// Takes as many bytes as the buffer has and `to` has room for.
std::size_t reader::take(std::span<std::byte> to) noexcept {
  const std::size_t n = std::min(to.size(), buffered());
  if (n != 0) std::memcpy(to.data(), buffer_.get() + begin_, n);
  begin_ += n;
  return n;
}

// The buffer holds `wanted` bytes and one more place than is filled.
void reader::make_room(std::size_t wanted) {
  const std::size_t have = buffered();
  const std::size_t least = std::max({wanted, have + 1, first_size_});
  if (size_ < least) {
    const std::size_t grown = std::max(least, std::min(2 * size_, max_line_));
    auto bigger = std::make_unique_for_overwrite<std::byte[]>(grown);
    if (have != 0) std::memcpy(bigger.get(), buffer_.get() + begin_, have);
    buffer_ = std::move(bigger);
    size_ = grown;
  } else if (begin_ == 0 || (end_ < size_ && begin_ + wanted <= size_)) {
    return;
  } else if (have != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, have);
  }
  begin_ = 0;
  end_ = have;
}

// Reads once. 0: the end, or an error.
std::size_t reader::fill(std::size_t wanted, const context* ctx, std::error_code& error) {
  if (begin_ == end_) begin_ = end_ = 0;
  make_room(wanted);
  const std::size_t n =
      detail::read_some(source_, {buffer_.get() + end_, size_ - end_}, ctx, error);
  end_ += n;
  return n;
}

bool reader::find_piece(char delimiter, bool is_line, std::string& to, const context* ctx,
                        std::error_code& error) {
  error.clear();
  to.clear();
  complete_ = false;
  for (std::size_t looked = 0;;) {
    const std::string_view have = ahead();
    const std::size_t at = have.find(delimiter, looked);
    const std::string_view piece = have.substr(0, at);
    // A '\r' before the '\n' belongs to the ending; so may one that is the last so far.
    const bool carriage_return = is_line && !piece.empty() && piece.back() == '\r';
    const std::size_t length = piece.size() - (carriage_return ? 1 : 0);
    if (length > max_line_) {
      error = errc::too_long;
      return false;
    }
    if (at != std::string_view::npos) {
      to.assign(piece, 0, length);
      begin_ += at + 1;
      complete_ = true;
      return true;
    }
    looked = have.size();
    if (fill(0, ctx, error) == 0) break;
  }
  const std::string_view rest = ahead();
  if (!error && rest.size() > max_line_) error = errc::too_long;
  if (error || rest.empty()) return false;
  to.assign(rest);
  begin_ = end_;
  return true;
}

std::size_t reader::read_once(std::span<std::byte> to, const context* ctx, std::error_code& error) {
  if (to.empty()) return 0;
  if (buffered() == 0) {
    if (to.size() >= first_size_) return detail::read_some(source_, to, ctx, error);
    if (fill(0, ctx, error) == 0) return 0;
  }
  return take(to);
}

bool reader::read_piece(char delimiter, bool is_line, std::string& to,
                        const detail::io_ending& last) {
  return detail::reported(is_line ? "read line" : "read until", last, [&](std::error_code& error) {
    return find_piece(delimiter, is_line, to, last.ctx, error);
  });
}

std::size_t reader::read_some(std::span<std::byte> to, const detail::io_ending& last) {
  return detail::reported("read", last, [&](std::error_code& error) {
    return read_once(to, last.ctx, error);
  });
}

std::size_t reader::read_all_of(std::span<std::byte> to, const detail::io_ending& last) {
  return detail::reported("read exact", last, [&](std::error_code& error) {
    std::size_t done = 0;
    while (done < to.size()) {
      const std::size_t n = read_once(to.subspan(done), last.ctx, error);
      if (n == 0) break;
      done += n;
    }
    if (!error && done != 0 && done < to.size()) error = errc::unexpected_end;
    return done;
  });
}

std::string_view reader::look_ahead(std::size_t n, const detail::io_ending& last) {
  return detail::reported("peek", last, [&](std::error_code& error) {
    while (buffered() < n && fill(n, last.ctx, error) != 0) {
    }
    return ahead().substr(0, n);
  });
}

}  // namespace io
}  // namespace v0
}  // namespace vole
