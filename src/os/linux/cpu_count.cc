#include "os/linux/cpu_count.h"

#include <bit>
#include <climits>
#include <cstdint>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/linux/line_reader.h"
#include "os/os.h"

namespace vole::os {
namespace processors {
namespace {

// A path put together in place; too long a one is marked and opens nothing.
class path {
 public:
  path& operator<<(std::string_view text) noexcept {
    for (const char c : text) push(c);
    return *this;
  }
  void push(char c) noexcept {
    if (size_ + 1 < sizeof text_) {
      text_[size_++] = c;
    } else {
      whole_ = false;
    }
  }
  void cut(std::size_t size) noexcept { size_ = size; }
  std::size_t size() const noexcept { return size_; }
  std::string_view view() const noexcept { return {text_, size_}; }
  const char* c_str() noexcept {
    text_[size_] = '\0';
    return whole_ ? text_ : "";
  }

 private:
  std::size_t size_ = 0;
  bool whole_ = true;
  char text_[4096];
};

bool has_token(std::string_view list, std::string_view token) noexcept {
  while (!list.empty()) {
    if (take_field(&list, ',') == token) return true;
  }
  return false;
}

// A whole decimal number; -1: it is none, or too large.
std::int64_t number(std::string_view text) noexcept {
  if (text.empty() || text.size() > 18) return -1;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

int whole_cpus(std::int64_t quota, std::int64_t period) noexcept {
  if (quota <= 0 || period <= 0) return 0;
  const std::int64_t n = (quota - 1) / period + 1;
  return n < INT_MAX ? static_cast<int>(n) : INT_MAX;
}

int smaller_limit(int a, int b) noexcept {
  if (a == 0 || b == 0) return a + b;
  return a < b ? a : b;
}

// The first line of dir/name, handed to fn; nothing happens if there is none.
template <class Fn>
void with_first_line(path& dir, std::string_view name, Fn&& fn) noexcept {
  const std::size_t size = dir.size();
  dir << "/" << name;
  line_reader file(dir.c_str());
  std::string_view line;
  if (file.next(&line)) fn(line);
  dir.cut(size);
}

int quota_v2(path& dir) noexcept {
  int cpus = 0;
  with_first_line(dir, "cpu.max", [&](std::string_view line) {
    const std::int64_t quota = number(take_field(&line, ' '));
    cpus = whole_cpus(quota, number(line));
  });
  return cpus;
}

int quota_v1(path& dir) noexcept {
  std::int64_t quota = -1;
  std::int64_t period = -1;
  with_first_line(dir, "cpu.cfs_quota_us", [&](std::string_view line) { quota = number(line); });
  with_first_line(dir, "cpu.cfs_period_us", [&](std::string_view line) { period = number(line); });
  return whole_cpus(quota, period);
}

// mountinfo writes blanks and backslashes in names as octal: \040.
void append_unescaped(path& to, std::string_view text) noexcept {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      to.push(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                (text[i + 3] - '0')));
      i += 3;
    } else {
      to.push(text[i]);
    }
  }
}

struct mount {
  std::string_view root, point, type, options;
};

// "36 35 0:28 /root /mount/point rw,relatime shared:1 - type source options"
mount parse_mount(std::string_view line) noexcept {
  mount m;
  for (int i = 0; i < 3; ++i) take_field(&line, ' ');
  m.root = take_field(&line, ' ');
  m.point = take_field(&line, ' ');
  while (!line.empty() && take_field(&line, ' ') != "-") {
  }
  m.type = take_field(&line, ' ');
  take_field(&line, ' ');
  m.options = take_field(&line, ' ');
  return m;
}

// Where the cgroup `own` lies below a mount of `mount_root`. False: it does not.
bool below(std::string_view own, std::string_view mount_root, std::string_view* rest) noexcept {
  *rest = {};
  if (own.starts_with("/..")) return mount_root == "/";  // outside our namespace: begin at its root
  if (mount_root != "/") {
    if (!own.starts_with(mount_root)) return false;
    own.remove_prefix(mount_root.size());
    if (!own.empty() && own.front() != '/') return false;
  }
  if (own != "/") *rest = own;
  return true;
}

struct hierarchy {
  bool v2 = false;
  path own;  // the process's cgroup in it
};

// Every directory from the process's own up to the mount point.
int climb(const char* root, const mount& m, const hierarchy& h) noexcept {
  path mount_root;
  append_unescaped(mount_root, m.root);
  std::string_view rest;
  if (!below(h.own.view(), mount_root.view(), &rest)) return 0;
  path dir;
  dir << root;
  append_unescaped(dir, m.point);
  const std::size_t top = dir.size();
  dir << rest;
  int cpus = 0;
  for (;;) {
    cpus = smaller_limit(cpus, h.v2 ? quota_v2(dir) : quota_v1(dir));
    if (dir.size() <= top) return cpus;
    dir.cut(top + dir.view().substr(top).rfind('/'));
  }
}

int limit_of(const char* root, const hierarchy& h) noexcept {
  path name;
  name << root << "/proc/self/mountinfo";
  line_reader mounts(name.c_str());
  std::string_view line;
  int cpus = 0;
  while (mounts.next(&line)) {
    const mount m = parse_mount(line);
    const bool fits =
        h.v2 ? m.type == "cgroup2" : m.type == "cgroup" && has_token(m.options, "cpu");
    if (fits) cpus = smaller_limit(cpus, climb(root, m, h));
  }
  return cpus;
}

}  // namespace

int in_cgroups(const char* root) noexcept {
  path name;
  name << root << "/proc/self/cgroup";
  line_reader groups(name.c_str());
  std::string_view line;
  int cpus = 0;
  while (groups.next(&line)) {  // "4:cpu,cpuacct:/own/path", "0::/own/path"
    const std::string_view id = take_field(&line, ':');
    const std::string_view controllers = take_field(&line, ':');
    hierarchy h;
    h.v2 = id == "0" && controllers.empty();
    if (!line.starts_with('/') || (!h.v2 && !has_token(controllers, "cpu"))) continue;
    h.own << line;
    cpus = smaller_limit(cpus, limit_of(root, h));
  }
  return cpus;
}

int in_affinity() noexcept {
  unsigned long mask[1024] = {};  // 65,536 processors: more than any kernel is built for
  const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
  int n = 0;
  for (long i = 0; i < bytes / static_cast<long>(sizeof mask[0]); ++i) n += std::popcount(mask[i]);
  return n > 0 ? n : 1;
}

}  // namespace processors

int cpu_count() noexcept {
  return processors::allowed(processors::in_affinity(), processors::in_cgroups(""));
}

}  // namespace vole::os
