// include/vole/file.h.

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <string>

#include <vole/detail/left_behind.h>
#include <vole/errors.h>
#include <vole/io.h>

#include "file/mode.h"
#include "file/ops.h"
#include "net/errors.h"
#include "net/transfer.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace {

using detail::failure;
using detail::file_state;
using detail::owned_fd;
namespace ops = detail::file_ops;

constexpr std::uint64_t kLastOffset = INT64_MAX;

std::error_code invalid() noexcept { return std::make_error_code(std::errc::invalid_argument); }

// Before anything is held: a goroutine that was left behind keeps what it has.
file_state* enter(file_state* f) noexcept {
  detail::end_if_left_behind();
  return f;
}

// The position's lock, or a reference, for as long as the block or the runtime lasts. False:
// closed, and `error` says so.
struct at_position : rt::belonging<detail::turn> {
  at_position(file_state* f, std::error_code& error) noexcept
      : belonging(enter(f), detail::way::in, error) {}
  explicit operator bool() noexcept { return static_cast<bool>(**this); }
};
struct inside : rt::belonging<detail::using_file> {
  inside(file_state* f, std::error_code& error) noexcept : belonging(enter(f)) {
    error = **this ? std::error_code() : std::error_code(errc::closed);
  }
  explicit operator bool() noexcept { return static_cast<bool>(**this); }
};

// fd stays the caller's on error.
file_state* adopt(int fd, std::error_code& error) {
  error.clear();
  const struct ::stat is = ops::look(fd, error);
  if (error) return nullptr;
  const auto flags = os::file::flags(fd).value;
  return new file_state(fd, S_ISREG(is.st_mode), (flags & O_APPEND) != 0);
}

file_state* open_file(const std::string& path, std::string_view mode, mode_t permissions,
                      failure& f) {
  detail::end_if_left_behind();
  const int flags = detail::flags_of_mode(mode);
  if (flags < 0) {
    f = {invalid(), detail::about_mode(mode), {}};
  } else if (path.find('\0') != std::string::npos) {
    f = {invalid(), "the path contains a NUL character", {}};
  }
  if (f) return nullptr;
  rt::belonging<owned_fd> mine(-1);
  ops::open(path.c_str(), flags, permissions, *mine, f.code);
  if (f) return nullptr;
  file_state* const made = adopt(mine->get(), f.code);
  if (made != nullptr) mine->take();
  return made;
}

// Throws for `what` if there was an error.
template <class Result>
Result checked(Result result, const char* what, const std::error_code& error) {
  if (error) detail::throw_net(what, error);
  return result;
}

std::size_t write_rest(file_state& f, std::span<const std::byte> from, std::int64_t offset,
                       std::error_code& error) noexcept {
  std::size_t done = 0;
  while (done < from.size() && !error) {
    const auto at = offset < 0 ? offset : offset + static_cast<std::int64_t>(done);
    const std::size_t n = ops::write(f, from.subspan(done), at, error);
    if (n == 0 && !error) error = std::make_error_code(std::errc::io_error);
    done += n;
  }
  return done;
}

bool fits(std::uint64_t offset, std::size_t bytes) noexcept {
  return offset <= kLastOffset && bytes <= kLastOffset - offset;
}

int whence_of(seek_from from) noexcept {
  return from == seek_from::start ? SEEK_SET : from == seek_from::here ? SEEK_CUR : SEEK_END;
}

}  // namespace

namespace detail {

// The position is the copy's until it is over.
bool file_copy::to_conn(net::conn& to, file& from, const context* ctx, copied& c) {
  at_position mine(from.state_, c.read_error);
  if (!mine) return true;
  return kernel_copy::send_file(to, from.state_->fd(), ctx, c);
}

void close_file(file_state* f) noexcept {
  if (f == nullptr) return;
  std::error_code nobody_hears;
  file_ops::close(*f, nobody_hears);
  f->drop();
}

}  // namespace detail

file::file(int fd, std::error_code& error) : state_(adopt(fd, error)) {}
file::file(int fd) {
  std::error_code error;
  state_ = adopt(fd, error);
  if (error) detail::throw_net("adopt a file descriptor", error);
}

file file::open(const std::string& path, std::string_view mode, mode_t permissions,
                std::error_code& error) {
  failure f;
  file made;
  made.state_ = open_file(path, mode, permissions, f);
  error = f.code;
  return made;
}
file file::open(const std::string& path, std::string_view mode, std::error_code& error) {
  return open(path, mode, 0666, error);
}
file file::open(const std::string& path, std::string_view mode, mode_t permissions) {
  failure f;
  file made;
  made.state_ = open_file(path, mode, permissions, f);
  if (f) detail::throw_net(std::string("open ") + path.c_str(), f);
  return made;
}

file::operator bool() const noexcept { return state_ != nullptr && !state_->closed(); }
int file::native_handle() const noexcept { return *this ? state_->fd() : -1; }

std::size_t file::read(std::span<std::byte> to, std::error_code& error) noexcept {
  at_position mine(state_, error);
  return mine && !to.empty() ? ops::read(*state_, to, -1, error) : 0;
}
std::size_t file::write(std::span<const std::byte> from, std::error_code& error) noexcept {
  at_position mine(state_, error);
  return mine ? write_rest(*state_, from, -1, error) : 0;
}
std::uint64_t file::seek(std::int64_t to, seek_from from, std::error_code& error) noexcept {
  at_position mine(state_, error);
  return mine ? ops::seek(*state_, to, whence_of(from), error) : 0;
}

std::size_t file::read_at(std::span<std::byte> to, std::uint64_t offset,
                          std::error_code& error) noexcept {
  inside mine(state_, error);
  if (!mine) return 0;
  if (!fits(offset, to.size())) return error = invalid(), 0;
  std::size_t done = 0;
  while (done < to.size()) {
    const std::size_t n = ops::read(*state_, to.subspan(done),
                                    static_cast<std::int64_t>(offset + done), error);
    if (n == 0) break;
    done += n;
  }
  return done;
}
std::size_t file::write_at(std::span<const std::byte> from, std::uint64_t offset,
                           std::error_code& error) noexcept {
  inside mine(state_, error);
  if (!mine) return 0;
  if (state_->appends || !fits(offset, from.size())) return error = invalid(), 0;
  return write_rest(*state_, from, static_cast<std::int64_t>(offset), error);
}

void file::sync(std::error_code& error) noexcept {
  inside mine(state_, error);
  if (mine) ops::sync(*state_, error);
}
void file::resize(std::uint64_t bytes, std::error_code& error) noexcept {
  inside mine(state_, error);
  if (mine && bytes > kLastOffset) error = invalid();
  if (mine && !error) ops::resize(*state_, bytes, error);
}
file_info file::stat(std::error_code& error) const noexcept {
  inside mine(state_, error);
  if (!mine) return {};
  const struct ::stat is = ops::look(state_->fd(), error);
  if (error) return {};
  const auto changed = std::chrono::seconds(is.st_mtim.tv_sec) +
                       std::chrono::nanoseconds(is.st_mtim.tv_nsec);
  return {static_cast<std::uint64_t>(is.st_size), is.st_mode,
          std::chrono::system_clock::time_point(
              std::chrono::duration_cast<std::chrono::system_clock::duration>(changed)),
          is.st_dev, is.st_ino};
}
std::uint64_t file::size(std::error_code& error) const noexcept { return stat(error).size; }

void file::close(std::error_code& error) noexcept {
  detail::end_if_left_behind();
  error.clear();
  if (state_ != nullptr) ops::close(*state_, error);
}
int file::release() noexcept { return state_ != nullptr && state_->close(true) ? state_->fd() : -1; }

// ── the ones that throw ──

std::size_t file::read(std::span<std::byte> to) {
  std::error_code error;
  const std::size_t n = read(to, error);
  return checked(n, "read", error);
}
std::size_t file::write(std::span<const std::byte> from) {
  std::error_code error;
  const std::size_t n = write(from, error);
  return checked(n, "write", error);
}
std::uint64_t file::seek(std::int64_t to, seek_from from) {
  std::error_code error;
  const std::uint64_t at = seek(to, from, error);
  return checked(at, "seek", error);
}
std::size_t file::read_at(std::span<std::byte> to, std::uint64_t offset) {
  std::error_code error;
  const std::size_t n = read_at(to, offset, error);
  return checked(n, "read_at", error);
}
std::size_t file::write_at(std::span<const std::byte> from, std::uint64_t offset) {
  std::error_code error;
  const std::size_t n = write_at(from, offset, error);
  if (error == invalid() && state_->appends)
    detail::throw_net("write_at", {error, "the file was opened for appending, and every write "
                                          "goes to its end: open it with \"r+\" or \"w\"", {}});
  return checked(n, "write_at", error);
}
void file::sync() {
  std::error_code error;
  sync(error);
  checked(0, "sync", error);
}
void file::resize(std::uint64_t bytes) {
  std::error_code error;
  resize(bytes, error);
  checked(0, "resize", error);
}
file_info file::stat() const {
  std::error_code error;
  const file_info is = stat(error);
  return checked(is, "stat", error);
}
std::uint64_t file::size() const {
  std::error_code error;
  const std::uint64_t bytes = size(error);
  return checked(bytes, "size", error);
}
void file::close() {
  std::error_code error;
  close(error);
  checked(0, "close", error);
}

}  // namespace v0
}  // namespace vole
