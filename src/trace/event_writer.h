// Writes one event, with the definitions that it needs, into a thread's chunk.
//
// Who    emit.cc. One event_writer at a time for each `traced`.
// Law    the event is added to the chunk as a whole when the event_writer is destroyed: a process that
//        is killed leaves whole events. In a generation that is not kept, or when no chunk is left, an
//        event_writer writes nothing; the second case is counted, and the writer is asked for a cut.
#pragma once

#include <cstdint>
#include <string_view>

#include "arch/caller.h"
#include "gmp/m.h"
#include "trace/shared.h"
#include "trace/format.h"
#include "trace/dictionary.h"

namespace vole::rt::trace {

inline constexpr std::size_t kMostText = 4096;  // bytes of a string; more is cut

class event_writer {
 public:
  // in_call: whether the thread is in blocking(), in case it has written nothing in this session.
  event_writer(traced& t, const M* m, bool in_call = false) noexcept
      : t_(t), stamp_(shared.stamp.load(relaxed)) {
    if (is_discarded(stamp_) && t.stamp.load(relaxed) == stamp_) return;
    now_ = clock();
    if (t.stamp.load(relaxed) != stamp_) [[unlikely]] move_on(m, in_call);
    at_ = t.at;
    if (at_ == nullptr && !is_discarded(stamp_)) lose();
  }
  ~event_writer() {
    if (at_ != nullptr) commit();
  }
  event_writer(const event_writer&) = delete;
  event_writer& operator=(const event_writer&) = delete;
  explicit operator bool() const noexcept { return at_ != nullptr; }

  std::uint32_t stamp() const noexcept { return stamp_; }

  // ── an event ── its type and time; then its arguments, in their order
  void put(event e, std::size_t text = 0) noexcept {
    make_room(text);
    if (at_ == nullptr) return;
    *at_++ = static_cast<std::uint8_t>(e);
    at_ = put_varint(at_, now_ - t_.last_ticks);
    t_.last_ticks = now_;
    ++t_.events;
  }
  void number(std::uint64_t n) noexcept {
    if (at_ != nullptr) at_ = put_varint(at_, n);
  }
  void goroutine(std::uint64_t id) noexcept {
    if (at_ != nullptr) at_ = put_svarint(at_, static_cast<std::int64_t>(id - t_.last_g));
    t_.last_g = id;
  }
  void sequence(std::uint32_t seq) noexcept {
    if (at_ != nullptr) at_ = put_svarint(at_, std::int64_t{seq} - std::int64_t{t_.last_seq});
    t_.last_seq = seq;
  }
  void text(std::string_view s) noexcept;
  // For an event without a text.
  void make_room(std::size_t text = 0) noexcept {
    if (at_ != nullptr && static_cast<std::size_t>(t_.end - at_) < kRoom + text) [[unlikely]]
      next_chunk();
  }

  // ── definitions ── before the event that needs them
  std::uint32_t site(wait_reason why, std::uintptr_t pc) noexcept { return place(why, &pc, 1, false); }
  std::uint32_t function(std::uintptr_t pc) noexcept {
    return place(wait_reason::none, &pc, 1, true);
  }
  std::uint32_t site_of(const G& g, wait_reason why, const void* sp) noexcept;
  std::uint32_t site_outside(const G& g, arch::frame from) noexcept;
  std::uint32_t string(std::string_view s) noexcept;

  // The goroutine's next number; if it has none yet in this generation it is introduced as it is now.
  std::uint32_t next_number(G& g, g_state state, wait_reason why) noexcept {
    if (g.trace_stamp != stamp_) [[unlikely]] introduce(g, state, why);
    return ++g.trace_seq;
  }

  void woke(std::uint64_t id, std::uint32_t seq) noexcept {
    t_.woken_g = id;
    t_.woken_seq = seq;
  }
  bool was_woken_last(std::uint64_t id, std::uint32_t seq) const noexcept {
    return t_.woken_g == id && t_.woken_seq + 1 == seq;
  }

 private:
  static constexpr std::size_t kRoom = 8 * kMostVarint;

  // Never back: an event may have the time of the one before.
  std::uint64_t clock() const noexcept {
    const std::uint64_t now = scaled_ticks() + static_cast<std::uint64_t>(t_.skew);
    return now > t_.last_ticks ? now : t_.last_ticks;
  }
  void commit() noexcept {
    chunk_header* const h = t_.buffer.load(relaxed);
    t_.at = at_;
    h->events.store(t_.events, relaxed);
    h->bytes.store(static_cast<std::uint32_t>(at_ - h->payload()), release);
  }
  void move_on(const M* m, bool in_call) noexcept;
  void say_first(const M& m) noexcept;
  bool open_chunk() noexcept;
  void next_chunk() noexcept;
  void lose() noexcept;
  void introduce(G& g, g_state state, wait_reason why) noexcept;
  std::uint32_t place(wait_reason why, const std::uintptr_t* pcs, std::size_t n,
                      bool is_function) noexcept;
  std::uint32_t define_place(dictionary::entry& e, std::uint64_t key, wait_reason why,
                             const std::uintptr_t* pcs, std::size_t n, bool is_function) noexcept;

  traced& t_;
  const std::uint32_t stamp_;
  std::uint8_t* at_ = nullptr;
  std::uint64_t now_ = 0;
};

}  // namespace vole::rt::trace
