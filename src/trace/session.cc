#include "trace/session.h"

#include <cstdlib>

#include "base/lock.h"
#include "base/system.h"
#include "os/os.h"
#include "trace/shared.h"
#include "trace/house.h"
#include "trace/dictionary.h"
#include "trace/pool.h"
#include "trace/writer.h"

namespace vole::rt::trace {
namespace {

constexpr std::uint32_t kFileSlots = 4096;  // 64 MiB of address space, touched as needed

struct session_state {
  base::lock<lock_rank::trace> lock;
  atomic<kind> now{kind::none};        // written under lock
  bool of_environment VOLE_GUARDED_BY(lock) = false;
  bool begun_by_environment VOLE_GUARDED_BY(lock) = false;
  bool watches_exit VOLE_GUARDED_BY(lock) = false;
  std::byte* memory VOLE_GUARDED_BY(lock) = nullptr;
  std::size_t bytes VOLE_GUARDED_BY(lock) = 0;
};
constinit session_state room;

std::error_code from(int error) noexcept { return {error, std::system_category()}; }

std::error_code no_session() noexcept { return make_error_code(std::errc::no_such_process); }

void at_exit() noexcept {
  if (the_house.is_forked()) return;
  finish();
}

std::error_code may_start_locked() noexcept VOLE_REQUIRES(room.lock) {
  if (the_house.is_forked()) return make_error_code(std::errc::operation_not_permitted);
  if (room.now.load(relaxed) != kind::none)
    return make_error_code(std::errc::device_or_resource_busy);
  if (!os::membarrier_register()) return make_error_code(std::errc::function_not_supported);
  learn_own_code();
  return {};
}

void release_locked() noexcept VOLE_REQUIRES(room.lock) {
  pool::close();
  unmap_pages(room.memory, room.bytes);
  room.memory = nullptr;
}

std::error_code start_locked(std::byte* slots, std::size_t n, const writer::plan& p,
                             kind what) noexcept VOLE_REQUIRES(room.lock) {
  int error = pool::open(slots, static_cast<std::uint32_t>(n));
  if (error == 0 && (error = writer::start(p)) != 0) release_locked();
  if (error != 0) return from(error);
  room.now.store(what, seq_cst);
  if (!room.watches_exit) room.watches_exit = std::atexit(&at_exit) == 0;
  return {};
}

std::error_code start_on_locked(int fd) noexcept VOLE_REQUIRES(room.lock) {
  std::error_code error = may_start_locked();
  if (!error) {
    room.bytes = std::size_t{kFileSlots} * pool::kSlotBytes;
    room.memory = static_cast<std::byte*>(map_pages(room.bytes));
    error = room.memory == nullptr ? make_error_code(std::errc::not_enough_memory)
                                   : start_locked(room.memory, kFileSlots, {fd, 0}, kind::file);
  }
  if (error) os::close_file(fd);
  return error;
}

std::error_code start_file_locked(const char* path) noexcept VOLE_REQUIRES(room.lock) {
  if (const std::error_code error = may_start_locked()) return error;
  int fd = -1;
  if (const int error = os::create_file(path, &fd)) return from(error);
  return start_on_locked(fd);
}

std::error_code end_locked(kind what) noexcept VOLE_REQUIRES(room.lock) {
  if (room.now.load(relaxed) != what) return no_session();
  const int error = writer::run(writer::order::end);
  writer::join();
  room.now.store(kind::none, seq_cst);
  room.of_environment = false;
  release_locked();
  return from(error);
}

void write_ring_header(std::byte* at, std::uint32_t slots) noexcept {
  auto* const h = new (at) file_header{};
  for (std::size_t i = 0; i < sizeof kRingMagic; ++i) h->magic[i] = kRingMagic[i];
  h->slot_bytes = pool::kSlotBytes;
  h->slots = slots;
}

}  // namespace

std::error_code start_on(int fd) noexcept {
  holding hold(room.lock);
  return start_on_locked(fd);
}

std::error_code start_file(const char* path) noexcept {
  holding hold(room.lock);
  return start_file_locked(path);
}

std::error_code finish() noexcept {
  holding hold(room.lock);
  return end_locked(kind::file);
}

std::error_code start_recorder(const recorder& r) noexcept {
  holding hold(room.lock);
  if (const std::error_code error = may_start_locked()) return error;
  const std::size_t slots = r.bytes / pool::kSlotBytes;
  room.bytes = kRingSlots + slots * pool::kSlotBytes;
  if (r.ring != nullptr) {
    if (const int error = os::map_new_file(r.ring, room.bytes, &room.memory)) return from(error);
  } else {
    room.memory = static_cast<std::byte*>(map_pages(room.bytes));
  }
  if (room.memory == nullptr) return make_error_code(std::errc::not_enough_memory);
  write_ring_header(room.memory, static_cast<std::uint32_t>(slots));
  return start_locked(room.memory + kRingSlots, slots, {-1, r.window_ns}, kind::ring);
}

std::error_code finish_recorder() noexcept {
  holding hold(room.lock);
  return end_locked(kind::ring);
}

std::error_code write_snapshot(const char* path) noexcept {
  holding hold(room.lock);
  if (room.now.load(relaxed) != kind::ring) return no_session();
  return from(writer::run(writer::order::snapshot, path));
}

kind running() noexcept { return room.now.load(relaxed); }

void runtime_begins() noexcept {
  if (running() == kind::none) return;
  holding hold(room.lock);
  if (room.now.load(relaxed) != kind::none) writer::run(writer::order::cut);
}

void runtime_ended() noexcept {
  if (running() == kind::none) return;
  holding hold(room.lock);
  if (room.of_environment) writer::run(writer::order::names);
}

int start_from_environment(const char* path) noexcept {
  holding hold(room.lock);
  if (room.begun_by_environment || room.now.load(relaxed) != kind::none) return 0;
  room.begun_by_environment = true;
  const std::error_code error = start_file_locked(path);
  room.of_environment = !error;
  return error.value();
}

void in_forked_child() noexcept VOLE_UNCHECKED {  // one thread, and the lock may be the parent's
  if (running() == kind::none) return;
  room.lock.word()->store(0, relaxed);
  room.now.store(kind::none, relaxed);
  room.of_environment = false;
  writer::in_forked_child();
  forget_thread0();
  pool::forget();
  reset_dictionaries_lock();
}

void ask_for_stacks(std::uint32_t frames) noexcept { shared.frames.store(frames, relaxed); }

void tell_writer() noexcept {
  if (shared.full.load(relaxed) != 0) wake_writer_if_asleep();
}

}  // namespace vole::rt::trace
