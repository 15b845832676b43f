// The memory of a target: a live process or a core file. Read, never written.
//
// Who    everything in outside/; live_memory and core_file implement it.
// Law    a range that cannot be read whole is reported as such, never guessed at.
#pragma once

#include <cstdint>
#include <span>

namespace vole_command::outside {

struct request {
  std::uint64_t from;
  std::uint64_t bytes;
  char* to;
  bool ok = false;
};

class memory {
 public:
  virtual ~memory() = default;
  virtual void read(std::span<request> wanted) const = 0;

  bool read(std::uint64_t from, void* to, std::uint64_t bytes) const {
    request one{from, bytes, static_cast<char*>(to)};
    read({&one, 1});
    return one.ok;
  }
  template <class T>
  bool get(std::uint64_t from, T* to) const {
    return read(from, to, sizeof(T));
  }
};

// Of a process, by process_vm_readv: needs the permission to trace it.
class live_memory : public memory {
 public:
  explicit live_memory(int pid) : pid_(pid) {}
  using memory::read;
  void read(std::span<request> wanted) const override;

 private:
  int pid_;
};

}  // namespace vole_command::outside
