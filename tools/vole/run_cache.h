// Where `vole run` keeps the programs that it has built.
//
// Law    an entry is used only if its key is the same to the letter, and every file that the
//        compiler read is as it was then. So a hash that two programs share costs a build, no more.
// Note   an entry is two files: the program, and a list with the key and the state of those files.
//        A build holds the entry's lock, a third; finding a fresh list needs no lock, since both
//        are put in place by rename, the list last.
// Proof  tests/tools/run_test.py
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vole_command {

using file_time = std::int64_t;  // nanoseconds, as the file system counts them

// Waits a few milliseconds: what was written before has an earlier time than the result, what is
// written afterwards has that or a later one.
file_time next_file_tick();

// A lock on a file, until its end.
class held_lock {
 public:
  explicit held_lock(const std::string& file);
  ~held_lock();
  held_lock(const held_lock&) = delete;
  held_lock& operator=(const held_lock&) = delete;

 private:
  int file_;
};

class cache_entry {
 public:
  cache_entry(const std::string& name, std::string key);

  bool fresh() const;
  held_lock lock() const { return held_lock(base_ + ".lock"); }
  const std::string& program() const { return base_; }

  // While the lock is held. What is made is not in place until `finish`.
  std::string unfinished() const { return base_ + ".new"; }
  std::string dependencies() const { return base_ + ".d"; }
  void drop_unfinished() const;
  void finish(const std::vector<std::string>& inputs, file_time started) const;

 private:
  std::string list() const { return base_ + ".list"; }

  std::string key_;
  std::string base_;  // the program's path
};

}  // namespace vole_command
