// Files on disk: vole::file. Included by vole/io.h.
//
//     vole::file f = vole::file::open("notes.txt", "r");
//     std::string text = vole::io::read_all(f);
//
// A read that the page cache can answer is made on the spot; what has to wait for the disk waits in
// blocking(), so that no file, however slow, holds up a P. Such a wait cannot be interrupted: the
// kernel ends it when the disk answers. Pipes, terminals and sockets wait better as a net::conn,
// which parks (io::standard_input has one for the program's own).
//
// Any goroutine or thread may use a file at any time. It has one position, so read, write and seek
// queue behind each other; read_at and write_at have none, and run at the same time. After close()
// every call answers errc::closed, as an empty file does. A call that is inside the kernel then
// finishes; it cannot be woken, and the last one out closes the descriptor. Moving or destroying the
// object itself while others use it is a race.
//
// A call that fails throws std::system_error, whose what() is like "open notes.txt: no such file or
// directory". Each has a twin with a last std::error_code& that does not throw it: cleared on
// success; on error the result is empty, or how much was done.
//
// Bytes are any contiguous range of char, unsigned char or std::byte, as for a net::conn.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <vole/detail/net_bytes.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

class file_state;                         // src/file/state.h
struct file_copy;                         // vole/io.h
void close_file(file_state* f) noexcept;  // and frees it; null: nothing

// What may follow a file's bytes: nothing, or an error_code&.
template <class... Last>
inline constexpr bool is_file_error = sizeof...(Last) == 0;
template <class A>
inline constexpr bool is_file_error<A> = std::is_same_v<A, std::error_code&>;

}  // namespace detail

// The properties of a file, as fstat(2) gives them.
struct file_info {
  std::uint64_t size = 0;  // in bytes
  ::mode_t mode = 0;  // kind and permissions: S_ISDIR(info.mode), info.mode & 0777
  std::chrono::system_clock::time_point modified;
  std::uint64_t device = 0, inode = 0;  // the same two: the same file
};

// What a position counts from.
enum class seek_from : unsigned char { start, here, end };

// Movable; closes when it is destroyed.
class file {
 public:
  file() noexcept = default;  // empty
  // Adopts fd. On error it remains the caller's.
  explicit file(int fd);
  file(int fd, std::error_code& error);
  file(file&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  file& operator=(file&& other) noexcept {
    if (this != &other)
      detail::close_file(std::exchange(state_, std::exchange(other.state_, nullptr)));
    return *this;
  }
  ~file() { detail::close_file(state_); }

  // mode, as fopen's: "r" reads; "w" writes, and makes the file, or empties it; "a" writes at the
  // end, and makes the file. A "+" behind it: reads and writes. An "x" behind "w" or "a": the file
  // must not exist yet. "b" changes nothing. Any other mode is std::errc::invalid_argument. A file
  // that is made gets `permissions` less the umask. Not inherited by programs that are started.
  [[nodiscard]] static file open(const std::string& path, std::string_view mode = "r",
                                 ::mode_t permissions = 0666);
  [[nodiscard]] static file open(const std::string& path, std::string_view mode,
                                 std::error_code& error);
  [[nodiscard]] static file open(const std::string& path, std::string_view mode,
                                 ::mode_t permissions, std::error_code& error);

  explicit operator bool() const noexcept;  // neither empty nor closed

  // ── from the position on ──

  // Some bytes, at least one; 0: the end (or room for nothing).
  [[nodiscard]] std::size_t read(std::span<std::byte> to);
  [[nodiscard]] std::size_t read(std::span<std::byte> to, std::error_code& error) noexcept;
  template <class... Last>
    requires detail::is_file_error<Last...>
  [[nodiscard]] std::size_t read(std::span<char> to, Last&&... last) {
    return read(std::as_writable_bytes(to), last...);
  }
  template <class... Last>
    requires detail::is_file_error<Last...>
  [[nodiscard]] std::size_t read(std::span<unsigned char> to, Last&&... last) {
    return read(std::as_writable_bytes(to), last...);
  }
  template <detail::other_buffer R, class... Last>
    requires detail::is_file_error<Last...>
  [[nodiscard]] std::size_t read(R&& to, Last&&... last) {
    return read(detail::buffer_of(to), last...);
  }

  template <detail::no_buffer R, class... Rest>
  std::size_t read(R&&, Rest&&...) = delete;  // read: into a range of bytes that is not const

  // All of it, in one piece between other writes; on error, how much.
  std::size_t write(std::span<const std::byte> from);
  std::size_t write(std::span<const std::byte> from, std::error_code& error) noexcept;
  template <class... Last>
    requires detail::is_file_error<Last...>
  std::size_t write(std::string_view from, Last&&... last) {
    return write(std::as_bytes(std::span(from)), last...);
  }
  template <class... Last>
    requires detail::is_file_error<Last...>
  std::size_t write(std::span<const unsigned char> from, Last&&... last) {
    return write(std::as_bytes(from), last...);
  }
  template <detail::other_sequence R, class... Last>
    requires detail::is_file_error<Last...>
  std::size_t write(const R& from, Last&&... last) {
    return write(detail::bytes_of(from), last...);
  }

  template <detail::no_sequence R, class... Rest>
  std::size_t write(R&&, Rest&&...) = delete;  // write: text, or a range of char or std::byte

  // Moves the position; returns where it is now.
  std::uint64_t seek(std::int64_t to, seek_from from = seek_from::start);
  std::uint64_t seek(std::int64_t to, seek_from from, std::error_code& error) noexcept;

  // ── anywhere; the position stays ──

  // Fills `to` from `offset` on; fewer only at the end or, in the twin, on error.
  [[nodiscard]] std::size_t read_at(std::span<std::byte> to, std::uint64_t offset);
  [[nodiscard]] std::size_t read_at(std::span<std::byte> to, std::uint64_t offset,
                                    std::error_code& error) noexcept;
  template <class... Last>
    requires detail::is_file_error<Last...>
  [[nodiscard]] std::size_t read_at(std::span<char> to, std::uint64_t offset, Last&&... last) {
    return read_at(std::as_writable_bytes(to), offset, last...);
  }
  template <class... Last>
    requires detail::is_file_error<Last...>
  [[nodiscard]] std::size_t read_at(std::span<unsigned char> to, std::uint64_t offset,
                                    Last&&... last) {
    return read_at(std::as_writable_bytes(to), offset, last...);
  }
  template <detail::other_buffer R, class... Last>
    requires detail::is_file_error<Last...>
  [[nodiscard]] std::size_t read_at(R&& to, std::uint64_t offset, Last&&... last) {
    return read_at(detail::buffer_of(to), offset, last...);
  }

  // All of it; on error, how much. A file that was opened for appending refuses it
  // (std::errc::invalid_argument): the kernel would append all the same.
  std::size_t write_at(std::span<const std::byte> from, std::uint64_t offset);
  std::size_t write_at(std::span<const std::byte> from, std::uint64_t offset,
                       std::error_code& error) noexcept;
  template <class... Last>
    requires detail::is_file_error<Last...>
  std::size_t write_at(std::string_view from, std::uint64_t offset, Last&&... last) {
    return write_at(std::as_bytes(std::span(from)), offset, last...);
  }
  template <class... Last>
    requires detail::is_file_error<Last...>
  std::size_t write_at(std::span<const unsigned char> from, std::uint64_t offset, Last&&... last) {
    return write_at(std::as_bytes(from), offset, last...);
  }
  template <detail::other_sequence R, class... Last>
    requires detail::is_file_error<Last...>
  std::size_t write_at(const R& from, std::uint64_t offset, Last&&... last) {
    return write_at(detail::bytes_of(from), offset, last...);
  }

  // ── the file itself ──

  void sync();  // until the disk has it (fsync)
  void sync(std::error_code& error) noexcept;
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] std::uint64_t size(std::error_code& error) const noexcept;
  void resize(std::uint64_t bytes);  // cuts it off, or appends zeros
  void resize(std::uint64_t bytes, std::error_code& error) noexcept;
  [[nodiscard]] file_info stat() const;
  [[nodiscard]] file_info stat(std::error_code& error) const noexcept;

  // Some file systems report only here that a write has failed (not if others are still inside).
  // Closing a closed or empty one does nothing.
  void close();
  void close(std::error_code& error) noexcept;

  int native_handle() const noexcept;  // -1: empty or closed
  // As close(), but the descriptor stays open and is the caller's; -1: there is none.
  [[nodiscard]] int release() noexcept;

 private:
  friend struct detail::file_copy;
  detail::file_state* state_ = nullptr;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
