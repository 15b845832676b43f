// One reading of a target: what picture.cc makes its picture of.
#pragma once

#include <map>
#include <vector>

#include "picture.h"

namespace vole_command::outside {

inline constexpr std::uint64_t kPage = 4096;

struct sweep {
  std::int64_t coarse_now = 0;  // read before the records
  record_set gs, ms;
  scheduler_copy scheduler;
  arena stacks;
  // For each G: which request is its stack's. kNone: has none; kKept: that of the first sweep holds.
  static constexpr int kNone = -1, kKept = -2;
  std::vector<int> stack_of, name_of;
  std::vector<request> stack_reads, name_reads, page_reads;
  std::vector<int> thread_of;  // for each G: the thread that it is on, or -1

  std::map<std::uint64_t, lock_copy> locks;

  void make_ready_like(const sweep& earlier);
  void read_records(const target& t, const found_root& root);
  void read_names(const target& t, const found_root& root);
  // And names. `threads`: of those that stand still. `earlier`: the unpaused sweep, or null.
  void read_stacks(const target& t, const found_root& root,
                   const std::vector<thread_registers>& threads, const sweep* earlier);

  // Of the mutexes that goroutines wait for: as many as dumps conclude about.
  void read_locks(const target& t, const found_root& root);

 private:
  void find_runners(const found_root& root, const std::vector<thread_registers>& threads);
  void find_handlers(const found_root& root, const std::vector<thread_registers>& threads);
  std::uint64_t used_stack(const vole::root::g_places& at, std::size_t i,
                           const std::vector<thread_registers>& threads, std::uint64_t* from) const;
  std::uint64_t share(const vole::root::g_places& at,
                      const std::vector<thread_registers>& threads) const;
  void want_stack(const vole::root::g_places& at, std::size_t i,
                  const std::vector<thread_registers>& threads, std::uint64_t most);
  void want_name(const vole::root::g_places& at, std::size_t i);
  std::vector<bool> in_handler_;
};

bool has_not_moved(const vole::root::g_places& at, const sweep& earlier, std::size_t i,
                   const char* now);

inline bool is_alive(const vole::root::g_places& at, const char* record) {
  const auto status = field<std::uint8_t>(record, at.status);
  return status != kIdle && status != kDead;
}
inline bool has_stack(const vole::root::g_places& at, const char* record) {
  return is_alive(at, record) && (field<std::uint8_t>(record, at.flags) & at.started_flag) != 0;
}

// The thread numbers of all Ms, as we know them. `numbers`: proc.h; read anew if somebody is new.
std::vector<int> threads_of_ms(const target& t, const found_root& root,
                               std::map<int, int>* numbers);

}  // namespace vole_command::outside
