// io::copy, where the kernel moves the bytes: splice through a pipe, and sendfile.
//
// Law    the pipe is empty whenever the source is asked: so "would block" is about the source.
// Law    each call takes its turn for itself: a copy that waits for the sink holds nothing of the
//        source, which may be closed meanwhile.

#include <cerrno>
#include <new>

#include <vole/blocking.h>
#include <vole/detail/io_stream.h>

#include "net/endpoint.h"
#include "net/transfer.h"
#include "net/transit.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t kPipeSize = 256 * 1024;
constexpr std::size_t kMostAtOnce = 1 << 30;

// The kernel knows no such transfer for these files.
bool is_refusal(const std::error_code& error) noexcept {
  if (error.category() != std::system_category()) return false;
  const int e = error.value();
  return e == EINVAL || e == ENOSYS || e == EOPNOTSUPP || e == ESPIPE || e == EOVERFLOW;
}

std::size_t draw(endpoint& from, const transit_pipes::pipe& p, const context* ctx,
                 std::error_code& error) noexcept {
  const turn mine(&from, way::in, ctx, error);
  if (!mine) return 0;
  from.has_given(0, 0);  // a read that follows must ask the kernel
  return static_cast<std::size_t>(
      until_done(from, way::in, error, [&](int fd) { return os::net::splice(fd, p.in, kPipeSize); },
                 false, ctx));
}

std::size_t pour(endpoint& to, const transit_pipes::pipe& p, std::size_t n, const context* ctx,
                 std::error_code& error) noexcept {
  const turn mine(&to, way::out, ctx, error);
  if (!mine) return 0;
  return static_cast<std::size_t>(
      until_done(to, way::out, error, [&](int fd) { return os::net::splice(p.out, fd, n); }, false,
                 ctx));
}

// The sink takes nothing from a pipe: n bytes by hand.
void pour_by_hand(net::conn& to, const transit_pipes::pipe& p, std::size_t n, const context* ctx,
                  copied& c) noexcept {
  std::byte buffer[4096];
  while (n != 0 && !c.write_error) {
    const os::result r = os::net::read(p.out, buffer, n < sizeof(buffer) ? n : sizeof(buffer));
    if (!r.ok()) c.write_error = system_error_code(r.error);
    const auto got = static_cast<std::size_t>(r.value);
    if (got == 0) return;
    const std::span<const std::byte> part(buffer, got);
    c.bytes += ctx != nullptr ? to.write(part, *ctx, c.write_error) : to.write(part, c.write_error);
    n -= got;
  }
}

// True: go on with splice.
bool pour_all(net::conn& to, endpoint& sink, const transit_pipes::pipe& p, std::size_t n,
              const context* ctx, copied& c) noexcept {
  while (n != 0) {
    const std::size_t now = pour(sink, p, n, ctx, c.write_error);
    if (is_refusal(c.write_error)) {
      c.write_error.clear();
      pour_by_hand(to, p, n, ctx, c);
      return false;
    }
    if (now == 0) return true;
    c.bytes += now;
    n -= now;
  }
  return true;
}

// sendfile's error: the file's, not the sink's.
bool is_files(const std::error_code& error) noexcept {
  if (error.category() != std::system_category()) return false;
  return error.value() == EBADF || error.value() == EIO || error.value() == EISDIR;
}

}  // namespace

transit_pipes::~transit_pipes() {
  for (pipe* p = first_.load(acquire); p != nullptr;) {
    pipe* const next = p->next;
    if (p->used.load(acquire)) close(p);
    delete p;
    p = next;
  }
}

transit_pipes::pipe* transit_pipes::take_record() noexcept {
  for (pipe* p = first_.load(acquire); p != nullptr; p = p->next) {
    bool used = false;
    if (p->used.compare_exchange_strong(used, true, acquire, relaxed)) return p;
  }
  auto* const made = new (std::nothrow) pipe;
  if (made == nullptr) return nullptr;
  made->next = first_.load(relaxed);
  while (!first_.compare_exchange_strong(made->next, made, release, relaxed)) {
  }
  return made;
}

transit_pipes::pipe* transit_pipes::open() noexcept {
  pipe* const p = take_record();
  if (p == nullptr) return nullptr;
  int ends[2];
  if (os::net::pipe(ends, kPipeSize).ok()) {
    p->out = ends[0];
    p->in = ends[1];
    return p;
  }
  p->used.store(false, release);
  return nullptr;
}

void transit_pipes::close(pipe* p) noexcept {
  if (p->out >= 0) os::net::close(p->out);
  if (p->in >= 0) os::net::close(p->in);
  p->out = p->in = -1;
  p->used.store(false, release);
}

bool kernel_copy::splice(net::conn& to, net::conn& from, const context* ctx,
                         copied& c) noexcept {
  endpoint* const source = from.end_;
  endpoint* const sink = to.end_;
  if (source == nullptr || sink == nullptr) return false;
  if (!source->kind.is_stream || !sink->kind.is_stream) return false;
  transit_pipes::pipe* const p = source->transit.open();
  if (p == nullptr) return false;
  bool by_splice = true;
  while (by_splice && !c.write_error) {
    const std::size_t n = draw(*source, *p, ctx, c.read_error);
    if (is_refusal(c.read_error)) {
      c.read_error.clear();
      by_splice = false;
    } else if (n == 0) {
      break;
    } else {
      by_splice = pour_all(to, *sink, *p, n, ctx, c);
    }
  }
  transit_pipes::close(p);
  return by_splice || c.failed();
}

bool kernel_copy::send_file(net::conn& to, int file, const context* ctx, copied& c) noexcept {
  for (;;) {
    std::error_code error;
    const turn mine(to.end_, way::out, ctx, error);
    const auto call = [&](int fd) { return os::net::send_file(fd, file, nullptr, kMostAtOnce); };
    const std::int64_t n =
        !mine ? 0 : until_done(*to.end_, way::out, error, call, false, ctx);
    if (is_refusal(error)) return false;
    (is_files(error) ? c.read_error : c.write_error) = error;
    if (n == 0) return true;
    c.bytes += static_cast<std::uint64_t>(n);
  }
}

std::size_t read_descriptor(int file, std::span<std::byte> to, const context* ctx,
                            std::error_code& error) {
  for (;;) {
    (void)(ctx != nullptr ? wait_readable(file, *ctx, error) : wait_readable(file, error));
    if (error) return 0;
    const os::result r = blocking([&] { return os::net::read(file, to.data(), to.size()); });
    if (r.error == EAGAIN) continue;
    if (!r.ok()) error = system_error_code(r.error);
    return static_cast<std::size_t>(r.value);
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
