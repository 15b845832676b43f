// Where `vole run` keeps the programs that it has built.
#include "run_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "commands.h"

namespace vole_command {
namespace {

namespace fs = std::filesystem;

constexpr file_time kSecond = 1'000'000'000;

[[noreturn]] void refuse(const std::string& what) {
  throw refusal(what + ": " + std::strerror(errno));
}

// Programs are run from here, so it must be ours alone.
fs::path folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  fs::path where;
  if (cache != nullptr && *cache == '/') {
    where = fs::path(cache) / "vole";
  } else if (home != nullptr && *home == '/') {
    where = fs::path(home) / ".cache/vole";
  } else {
    throw refusal("nowhere to keep the program: neither $XDG_CACHE_HOME nor $HOME is set");
  }
  std::error_code error;
  fs::create_directories(where.parent_path(), error);
  if (::mkdir(where.c_str(), 0700) != 0 && errno != EEXIST) refuse("cannot make " + where.string());
  struct stat what = {};
  if (::stat(where.c_str(), &what) != 0) refuse("cannot use " + where.string());
  if (what.st_uid != ::geteuid() || (what.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw refusal(where.string() +
                  " belongs to others or may be written by them; "
                  "$XDG_CACHE_HOME names another place");
  }
  return where;
}

std::uint64_t hash_of(const std::string& text) {  // FNV-1a
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

file_time nanoseconds(const timespec& t) { return t.tv_sec * kSecond + t.tv_nsec; }

file_time now(clockid_t clock) {
  timespec t = {};
  ::clock_gettime(clock, &t);
  return nanoseconds(t);
}

// A line that changes when the file does; empty if it is not there.
std::string state_of(const std::string& file) {
  struct stat is = {};
  if (::stat(file.c_str(), &is) != 0) return "";
  char line[128];
  std::snprintf(
      line, sizeof line, "%llu %llu %lld %lld ", static_cast<unsigned long long>(is.st_ino),
      static_cast<unsigned long long>(is.st_size), static_cast<long long>(nanoseconds(is.st_mtim)),
      static_cast<long long>(nanoseconds(is.st_ctim)));
  return line + file;
}

file_time changed_at(const std::string& file) {
  struct stat is = {};
  if (::stat(file.c_str(), &is) != 0) return 0;
  return std::max(nanoseconds(is.st_mtim), nanoseconds(is.st_ctim));
}

// Removes entries that nobody has run for a month.
void drop_old(const fs::path& where) {
  constexpr file_time kMonth = 30 * 24 * 3600 * kSecond;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(where, error)) {
    const fs::path list = file.path();
    if (list.extension() != ".list" || now(CLOCK_REALTIME) - changed_at(list) < kMonth) continue;
    ::unlink(list.c_str());
    ::unlink((where / list.stem()).c_str());
  }
}

}  // namespace

// Files are stamped with the coarse clock, which moves every few milliseconds and late, or, on
// newer kernels, sometimes with the exact one.
file_time next_file_tick() {
  const file_time before = now(CLOCK_REALTIME);
  for (int i = 0; i < 100; ++i) {  // unless somebody sets the clock back
    if (now(CLOCK_REALTIME_COARSE) > before) break;
    ::usleep(1000);
  }
  return now(CLOCK_REALTIME_COARSE);
}

held_lock::held_lock(const std::string& file)
    : file_(::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
  if (file_ < 0) refuse("cannot open " + file);
  while (::flock(file_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    ::close(file_);
    refuse("cannot lock " + file);
  }
}

held_lock::~held_lock() { ::close(file_); }

cache_entry::cache_entry(const std::string& name, std::string key) : key_(std::move(key)) {
  char hash[20];
  std::snprintf(hash, sizeof hash, "-%016llx", static_cast<unsigned long long>(hash_of(key_)));
  base_ = folder() / (name + hash);
}

// The list: how long the key is, the key, and a line per file.
bool cache_entry::fresh() const {
  std::ifstream in(list(), std::ios::binary);
  std::size_t length = 0;
  if (!(in >> length) || length != key_.size() || in.get() != '\n') return false;
  std::string key(length, '\0');
  if (!in.read(key.data(), static_cast<std::streamsize>(length)) || key != key_) return false;
  for (std::string line; std::getline(in, line);) {
    std::size_t path = 0;
    for (int i = 0; i < 4 && path != std::string::npos; ++i) path = line.find(' ', path) + 1;
    if (state_of(line.substr(path)) != line) return false;
  }
  ::utimensat(AT_FDCWD, list().c_str(), nullptr, 0);  // used today
  return ::access(base_.c_str(), X_OK) == 0;
}

void cache_entry::drop_unfinished() const {
  ::unlink(unfinished().c_str());
  ::unlink(dependencies().c_str());
}

void cache_entry::finish(const std::vector<std::string>& inputs, file_time started) const {
  std::string text = std::to_string(key_.size()) + '\n' + key_;
  bool settled = true;
  for (const std::string& file : inputs) {
    const std::string state = state_of(file);
    // One that changed while the compiler ran may have been read before or after.
    if (state.empty() || changed_at(file) >= started) settled = false;
    text += state + '\n';
  }
  ::unlink(list().c_str());
  if (::rename(unfinished().c_str(), base_.c_str()) != 0) refuse("cannot make " + base_);
  ::unlink(dependencies().c_str());
  if (!settled) return;
  const std::string next = list() + ".new";
  std::ofstream(next, std::ios::binary) << text;
  if (::rename(next.c_str(), list().c_str()) != 0) refuse("cannot make " + list());
  drop_old(fs::path(base_).parent_path());
}

}  // namespace vole_command
