// Streams of bytes: a buffered reader and writer, copy, read_all, the standard streams.
//
//     vole::io::reader in(conn);
//     vole::io::writer out(conn);
//     std::string line;
//     std::error_code error;  // a peer may reset the connection at any time
//     while (in.read_line(line, error)) {
//       out.write(line, error);
//       out.write("\n", error);
//       out.flush(error);
//     }
//
// They work over a net::conn, a file and over anything that reads or writes as one does (reader_like,
// writer_like; a reader and a writer are such things themselves). They refer to it: it must live
// longer, at the same address. One goroutine at a time may use a reader or writer.
//
// A call that fails throws std::system_error. Each takes a last std::error_code& as well, and then does
// not throw it. Exceptions that the reader or writer underneath throws by itself, and std::bad_alloc,
// pass through both.
//
// Every call that may wait takes a const context& as well, before the error_code&: when it is done, the
// call ends with its error, errc::canceled or errc::deadline_exceeded. That reaches as far as the
// reader or writer underneath takes a context itself, as net::conn does; another one is not asked
// any more. `Last` below is nothing, an error_code&, a context, or both.
//
// Bytes are any contiguous range of char, unsigned char or std::byte, as for net::conn.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <vole/detail/io_stream.h>
#include <vole/errors.h>
#include <vole/file.h>
#include <vole/net.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace io {

// Reads ahead into a buffer. After an error in read_line, read_until or peek nothing is lost: what
// had come is still in the buffer, and when the cause is gone (a deadline that is set anew) the
// same call goes on where it was.
class reader {
 public:
  // Bytes.
  static constexpr std::size_t default_buffer = 4096;
  static constexpr std::size_t default_max_line = 64 * 1024;  // bytes of a line that read_line takes

  template <reader_like R>
    requires(!std::same_as<R, reader>)
  explicit reader(R& source, std::size_t buffer = default_buffer) noexcept
      : reader(detail::source_of(source), buffer) {}
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  // The longest line that read_line and the longest piece that read_until give; its ending does
  // not count. One that is longer is errc::too_long: a peer must not be able to fill the memory.
  // The buffer grows up to this when it has to.
  void set_max_line(std::size_t bytes) noexcept { max_line_ = bytes; }
  std::size_t max_line() const noexcept { return max_line_; }

  // The next line, without its "\n" or "\r\n". False: the end (or, with an error_code, an error), and
  // the line is empty. A last line that has no ending counts, unless it is empty.
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  [[nodiscard]] bool read_line(std::string& line, Last&&... last) {
    return read_piece('\n', true, line, detail::io_ending(last...));
  }
  // The same for another ending: what comes before `delimiter`, which is taken and not given.
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  [[nodiscard]] bool read_until(char delimiter, std::string& text, Last&&... last) {
    return read_piece(delimiter, false, text, detail::io_ending(last...));
  }
  // Whether the last read_line or read_until met its ending. False: the stream ended instead, and
  // what it gave may have been cut short.
  bool was_complete() const noexcept { return complete_; }

  // Fills `to`, and returns its size; 0: the end, and not one byte before it. The end in the middle
  // is errc::unexpected_end. With an error_code it returns on error how much came: go on behind that.
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  std::size_t read_exact(std::span<std::byte> to, Last&&... last) {
    return read_all_of(to, detail::io_ending(last...));
  }
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  std::size_t read_exact(std::span<char> to, Last&&... last) {
    return read_exact(std::as_writable_bytes(to), last...);
  }
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  std::size_t read_exact(std::span<unsigned char> to, Last&&... last) {
    return read_exact(std::as_writable_bytes(to), last...);
  }
  template <detail::other_buffer R, class... Last>
    requires detail::ends_a_wait<Last...>
  std::size_t read_exact(R&& to, Last&&... last) {
    return read_exact(detail::buffer_of(to), last...);
  }

  // Some bytes, as soon as there are any; 0: the end.
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::size_t read(std::span<std::byte> to, Last&&... last) {
    return read_some(to, detail::io_ending(last...));
  }
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::size_t read(std::span<char> to, Last&&... last) {
    return read(std::as_writable_bytes(to), last...);
  }
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::size_t read(std::span<unsigned char> to, Last&&... last) {
    return read(std::as_writable_bytes(to), last...);
  }
  template <detail::other_buffer R, class... Last>
    requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::size_t read(R&& to, Last&&... last) {
    return read(detail::buffer_of(to), last...);
  }

  // The next n bytes, or the next one, which stay to be read; fewer only at the end or, with an
  // error_code, on error. Good until the next call.
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::string_view peek(std::size_t n, Last&&... last) {
    return look_ahead(n, detail::io_ending(last...));
  }
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::string_view peek(Last&&... last) {
    return look_ahead(1, detail::io_ending(last...));
  }

  // How many bytes have come already and can be read without waiting.
  std::size_t buffered() const noexcept { return end_ - begin_; }

 private:
  reader(detail::byte_source source, std::size_t buffer) noexcept
      : source_(source), first_size_(buffer) {}

  std::string_view ahead() const noexcept;
  std::size_t take(std::span<std::byte> to) noexcept;
  std::size_t fill(std::size_t wanted, const context* ctx, std::error_code& error);
  void make_room(std::size_t wanted);
  std::size_t read_once(std::span<std::byte> to, const context* ctx, std::error_code& error);
  bool find_piece(char delimiter, bool is_line, std::string& to, const context* ctx,
                  std::error_code& error);
  bool read_piece(char delimiter, bool is_line, std::string& to, const detail::io_ending& last);
  std::size_t read_all_of(std::span<std::byte> to, const detail::io_ending& last);
  std::size_t read_some(std::span<std::byte> to, const detail::io_ending& last);
  std::string_view look_ahead(std::size_t n, const detail::io_ending& last);

  detail::byte_source source_;
  std::size_t first_size_;
  std::size_t max_line_ = default_max_line;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t size_ = 0, begin_ = 0, end_ = 0;
  bool complete_ = false;
};

// Collects what is written, and writes it when its buffer is full and at flush(). After an error
// every write fails with that error until a flush() has worked, so that no gap can come into the
// stream: look at the error once, at the end. Destroying it flushes, unless there was an error;
// whether that works nobody hears, so call flush() before. It may have to wait for the peer: set a
// deadline.
class writer {
 public:
  // Bytes.
  static constexpr std::size_t default_buffer = 4096;

  template <writer_like W>
    requires(!std::same_as<W, writer>)
  explicit writer(W& sink, std::size_t buffer = default_buffer) noexcept
      : writer(detail::sink_of(sink), buffer) {}
  ~writer();
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  // All of it; on error, how much was accepted: that is in the buffer or written.
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  std::size_t write(std::span<const std::byte> from, Last&&... last) {
    return accept(from, detail::io_ending(last...));
  }
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  std::size_t write(std::string_view from, Last&&... last) {
    return write(std::as_bytes(std::span(from)), last...);
  }
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  std::size_t write(std::span<const unsigned char> from, Last&&... last) {
    return write(std::as_bytes(from), last...);
  }
  template <detail::other_sequence R, class... Last>
    requires detail::ends_a_wait<Last...>
  std::size_t write(const R& from, Last&&... last) {
    return write(detail::bytes_of(from), last...);
  }

  // Writes what is in the buffer. On error the part that was not written stays there: nothing is
  // lost or written twice if it is called again.
  template <class... Last>
    requires detail::ends_a_wait<Last...>
  void flush(Last&&... last) {
    write_out(detail::io_ending(last...));
  }

  std::size_t buffered() const noexcept { return end_ - begin_; }

 private:
  writer(detail::byte_sink sink, std::size_t buffer) noexcept : sink_(sink), size_(buffer) {}

  std::size_t pass_on(std::span<const std::byte> from, const context* ctx, std::error_code& error);
  void empty_buffer(const context* ctx, std::error_code& error);
  std::size_t put(std::span<const std::byte> from, const context* ctx, std::error_code& error);
  std::size_t accept(std::span<const std::byte> from, const detail::io_ending& last);
  void write_out(const detail::io_ending& last);

  detail::byte_sink sink_;
  std::size_t size_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::error_code error_;  // of the last write or flush
};

// Which end of a copy failed.
enum class copy_side : unsigned char { source, sink };

// The exception of the copies that throw.
class copy_error : public std::system_error {
 public:
  copy_error(const std::error_code& code, copy_side side, std::uint64_t bytes, std::string what);
  // Which side failed, and why.
  const char* what() const noexcept override { return what_.c_str(); }
  // Which of the two it was.
  copy_side side() const noexcept { return side_; }
  std::uint64_t bytes() const noexcept { return bytes_; }  // that had arrived

 private:
  copy_side side_;
  std::uint64_t bytes_;
  std::string what_;
};

// Copies until the end of `from`, and returns how many bytes arrived in `to`. Between two conns
// the kernel moves them, where it can (splice), and from a file to a conn (sendfile); a writer is not
// flushed. With an error_code it returns on error how many had arrived; what was taken from the source
// beyond that is lost. With two, the source's and the sink's, a source that failed and a sink that
// failed are told apart.
template <class To, class From, class... Last>
  requires writer_like<std::remove_reference_t<To>> && reader_like<std::remove_reference_t<From>> &&
           detail::ends_a_copy<Last&...>
std::uint64_t copy(To&& to, From&& from, Last&&... last) {
  const detail::copy_ending asked(last...);
  detail::copied c;
  if constexpr (std::same_as<std::remove_cvref_t<To>, net::conn> &&
                std::same_as<std::remove_cvref_t<From>, net::conn>) {
    detail::copy_conns(to, from, asked.ctx, c);
  } else if constexpr (std::same_as<std::remove_cvref_t<To>, net::conn> &&
                       std::same_as<std::remove_cvref_t<From>, file>) {
    detail::copy_file(to, from, asked.ctx, c);
  } else {
    detail::copy_bytes(detail::sink_of(to), detail::source_of(from), asked.ctx, c);
  }
  return detail::conclude_copy(c, asked);
}

// From where the file that this descriptor refers to stands, to its end; the kernel sends it, where
// it can (sendfile). The descriptor stays the caller's.
template <class... Last>
  requires detail::ends_a_copy<Last&...>
std::uint64_t copy(net::conn& to, int file, Last&&... last) {
  const detail::copy_ending asked(last...);
  detail::copied c;
  detail::copy_file(to, file, asked.ctx, c);
  return detail::conclude_copy(c, asked);
}

// Everything up to the end. More than `limit` bytes: errc::too_long. With an error_code it returns on
// error what came, at most `limit` bytes.
template <class From, class... Last>
  requires reader_like<std::remove_reference_t<From>> && detail::ends_a_wait<Last...>
[[nodiscard]] std::string read_all(From&& from, std::size_t limit, Last&&... last) {
  return detail::read_everything(detail::source_of(from), limit, detail::io_ending(last...));
}
template <class From, class... Last>
  requires reader_like<std::remove_reference_t<From>> && detail::ends_a_wait<Last...>
[[nodiscard]] std::string read_all(From&& from, Last&&... last) {
  return io::read_all(from, std::numeric_limits<std::size_t>::max(), last...);
}

// The program's own standard input, output and error as connections: a goroutine that reads or
// writes them parks. Terminals and pipes are opened anew, so that other users (printf, the shell) do
// not find them non-blocking; a socket cannot be opened anew, and is made non-blocking for as long
// as the connection lives. A regular file keeps its position. Closing one does not close
// descriptors 0, 1 and 2. What printf or std::cout still hold in their buffers is not in the stream
// yet: flush them first.
[[nodiscard]] net::conn standard_input();
[[nodiscard]] net::conn standard_input(std::error_code& error);
[[nodiscard]] net::conn standard_output();
[[nodiscard]] net::conn standard_output(std::error_code& error);
[[nodiscard]] net::conn standard_error();
[[nodiscard]] net::conn standard_error(std::error_code& error);

}  // namespace io
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
