// io::standard_input, standard_output, standard_error.
//
// Law    descriptors 0, 1 and 2 stay as they are and open. O_NONBLOCK belongs to the open file, which
//        stdin, stdout and the shell may share, so the connection gets an open file of its own
//        where the system can make one.

#include <fcntl.h>
#include <sys/stat.h>

#include <vole/io.h>

#include "file/ops.h"
#include "net/errors.h"
#include "os/net.h"
#include "os/program.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace io {
namespace {

using detail::owned_fd;

// Holds nothing: it cannot be had.
void open_anew(int fd, int flags, owned_fd& into) noexcept {
  char path[os::kMostPathOfDescriptor];
  os::path_of_descriptor(fd, path);
  std::error_code refused;
  detail::file_ops::open(path, flags | O_NOCTTY | O_NONBLOCK, 0, into, refused);
}

net::conn open_standard(int fd, int flags, std::error_code& error) {
  error.clear();
  const struct ::stat is = detail::file_ops::look(fd, error);
  if (error) return {};
  rt::belonging<owned_fd> mine(-1);
  if (S_ISFIFO(is.st_mode) || S_ISCHR(is.st_mode)) open_anew(fd, flags, *mine);
  if (mine->get() < 0) {
    const auto copy = os::net::duplicate(fd);
    error = detail::system_error_code(copy.error);
    if (error) return {};
    mine->hold(static_cast<int>(copy.value));
  }
  net::conn made(mine->get(), error);
  if (!error) mine->take();
  return made;
}

net::conn must_open(int fd, int flags, const char* what) {
  std::error_code error;
  net::conn made = open_standard(fd, flags, error);
  if (error) detail::throw_net(what, error);
  return made;
}

}  // namespace

net::conn standard_input(std::error_code& error) { return open_standard(0, O_RDONLY, error); }
net::conn standard_output(std::error_code& error) { return open_standard(1, O_WRONLY, error); }
net::conn standard_error(std::error_code& error) { return open_standard(2, O_WRONLY, error); }
net::conn standard_input() { return must_open(0, O_RDONLY, "standard input"); }
net::conn standard_output() { return must_open(1, O_WRONLY, "standard output"); }
net::conn standard_error() { return must_open(2, O_WRONLY, "standard error"); }

}  // namespace io
}  // namespace v0
}  // namespace vole
