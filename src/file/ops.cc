#include "file/ops.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include <vole/blocking.h>

#include "net/errors.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace file_ops {
namespace {

using os::result;

constexpr std::size_t kMostAtOnce = 1 << 30;

// An answer that a call which waits would have given as well. False: ask that one. Kernels 5.9 and
// 5.10 say 0 where they mean "not at once", so that 0 is not believed.
bool counts(const result& r, atomic<bool>& at_once) noexcept {
  if (r.ok()) return r.value > 0;
  if (r.error == EOPNOTSUPP || r.error == ENOSYS) at_once.store(false, relaxed);
  return r.error != EAGAIN && r.error != EOPNOTSUPP && r.error != ENOSYS;
}

std::size_t told(const result& r, std::error_code& error) noexcept {
  if (!r.ok()) error = system_error_code(r.error);
  return static_cast<std::size_t>(r.value);
}

}  // namespace

std::size_t read(file_state& f, std::span<std::byte> to, std::int64_t offset,
                 std::error_code& error) noexcept {
  const std::size_t most = std::min(to.size(), kMostAtOnce);
  if (f.is_regular && f.reads_at_once.load(relaxed)) {
    const result r = os::file::read_now(f.fd(), to.data(), most, offset);
    if (counts(r, f.reads_at_once)) return told(r, error);
  }
  return told(blocking([&] { return os::file::read(f.fd(), to.data(), most, offset); }), error);
}

std::size_t write(file_state& f, std::span<const std::byte> from, std::int64_t offset,
                  std::error_code& error) noexcept {
  const std::size_t most = std::min(from.size(), kMostAtOnce);
  if (f.is_regular && f.writes_at_once.load(relaxed)) {
    const result r = os::file::write_now(f.fd(), from.data(), most, offset);
    if (counts(r, f.writes_at_once)) return told(r, error);
  }
  return told(blocking([&] {
                if (f.is_regular || offset >= 0)
                  return os::file::write(f.fd(), from.data(), most, offset);
                const iovec part{const_cast<std::byte*>(from.data()), most};
                return os::net::write(f.fd(), &part, 1);  // a pipe: without SIGPIPE
              }),
              error);
}

std::uint64_t seek(file_state& f, std::int64_t to, int whence, std::error_code& error) noexcept {
  return told(blocking([&] { return os::file::seek(f.fd(), to, whence); }), error);
}
void sync(file_state& f, std::error_code& error) noexcept {
  told(blocking([&] { return os::file::sync(f.fd()); }), error);
}
void resize(file_state& f, std::uint64_t bytes, std::error_code& error) noexcept {
  told(blocking([&] { return os::file::resize(f.fd(), static_cast<std::int64_t>(bytes)); }),
       error);
}
struct ::stat look(int fd, std::error_code& error) noexcept {
  struct ::stat is {};
  told(blocking([&] { return os::file::look(fd, is); }), error);
  return is;
}
void open(const char* path, int flags, mode_t permissions, owned_fd& into,
          std::error_code& error) noexcept {
  told(blocking([&] {
         const result r = os::file::open(path, flags, permissions);
         if (r.ok()) into.hold(static_cast<int>(r.value));
         return r;
       }),
       error);
}
void close(file_state& f, std::error_code& error) noexcept {
  int refused = 0;
  blocking([&] { f.close(false, &refused); });
  if (refused != 0 && refused != EINTR) error = system_error_code(refused);  // it is closed
}

}  // namespace file_ops
}  // namespace detail
}  // namespace v0
}  // namespace vole
