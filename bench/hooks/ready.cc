// What a hooked call costs that need not wait: ns per call over libc's own, interleaved, medians.
//
//     ready        on a goroutine: sockets, pipes; on a plain thread

#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <vole/vole.h>

namespace {

constexpr int kRuns = 401, kCalls = 200;

struct bare_calls {
  decltype(&::read) read = find<decltype(&::read)>("read");
  decltype(&::recv) recv = find<decltype(&::recv)>("recv");
  decltype(&::send) send = find<decltype(&::send)>("send");
  decltype(&::write) write = find<decltype(&::write)>("write");
  template <class F>
  static F find(const char* name) {
    return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
  }
} bare;

template <class Fill, class Call>
double ns(Fill fill, Call call) {
  fill();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - begin).count() / kCalls;
}

double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + static_cast<long>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

template <class Fill, class Hooked, class Bare>
void compare(const char* what, Fill fill, Hooked hooked, Bare bare_call) {
  std::vector<double> with, without, more;
  for (int i = 0; i < kRuns; ++i) {
    const bool first = i % 2 == 0;  // who comes second finds everything warm
    const double early = first ? ns(fill, hooked) : ns(fill, bare_call);
    const double late = first ? ns(fill, bare_call) : ns(fill, hooked);
    const double a = first ? early : late, b = first ? late : early;
    with.push_back(a);
    without.push_back(b);
    more.push_back(a - b);
  }
  std::printf("%-38s hooked %6.0f  bare %6.0f  more %6.1f ns\n", what, median(with),
              median(without), median(more));
}

void all(const char* where) {
  int s[2], p[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0 || pipe(p) != 0) return;
  static char data[1 << 16];
  char line[64];
  const auto fill = [](int fd) {
    return [fd] {
      for (int i = 0; i < kCalls * 8; i += 400) (void)!bare.write(fd, data, 400);
    };
  };
  const auto drain = [](int fd) {
    return [fd] {
      while (bare.recv(fd, data, sizeof(data), MSG_DONTWAIT) > 0) {
      }
    };
  };
  const auto name = [&](const char* what) {
    std::snprintf(line, sizeof(line), "%s: %s", where, what);
    return line;
  };
  compare(
      name("recv, socket"), fill(s[1]), [&] { (void)!recv(s[0], data, 8, 0); },
      [&] { (void)!bare.recv(s[0], data, 8, 0); });
  compare(
      name("read, socket"), fill(s[1]), [&] { (void)!read(s[0], data, 8); },
      [&] { (void)!bare.read(s[0], data, 8); });
  compare(
      name("send, socket"), drain(s[1]), [&] { (void)!send(s[0], data, 8, 0); },
      [&] { (void)!bare.send(s[0], data, 8, 0); });
  compare(
      name("read, pipe"), fill(p[1]), [&] { (void)!read(p[0], data, 8); },
      [&] { (void)!bare.read(p[0], data, 8); });
}

// A call that the kernel refuses at once: what the hook itself adds.
void plain() {
  compare(
      "plain thread: read of no file", [] {}, [] { (void)!read(-1, nullptr, 0); },
      [] { (void)!bare.read(-1, nullptr, 0); });
}

}  // namespace

int main() {
  plain();
  all("plain thread");
  return vole::run([] { all("goroutine"); });
}
