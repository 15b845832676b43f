#include "sched/report/cycles.h"

#include "base/fatal.h"
#include "base/system.h"

namespace vole::rt {
namespace {

using base::sentence;

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr int kMostShown = 8;

std::uintptr_t object_of(const captured& c) noexcept {
  return reinterpret_cast<std::uintptr_t>(c.object);
}

// Goroutines by a number, several of one number in a chain.
struct index {
  std::uint32_t* first;
  std::uint32_t* next;
  std::size_t mask;

  void add(std::uint64_t key, std::uint32_t i) noexcept {
    std::uint32_t& head = first[slot(key)];
    next[i] = head;
    head = i;
  }
  std::uint32_t begin(std::uint64_t key) const noexcept { return first[slot(key)]; }
  std::size_t slot(std::uint64_t key) const noexcept {
    return (key * 0x9e3779b97f4a7c15u >> 20) & mask;
  }
};

enum class mark : std::uint8_t { fresh, on_path, done };

class search {
 public:
  explicit search(const captured_set& c) noexcept : c_(c) {
    while (slots_ < 2 * c.size()) slots_ *= 2;
    words_ = 2 * slots_ + 4 * c.size();
    bytes_ = words_ * sizeof(std::uint32_t) + c.size();
    memory_ = static_cast<std::uint32_t*>(base::map_pages(bytes_));
  }
  ~search() {
    if (memory_ != nullptr) base::unmap_pages(memory_, bytes_);
  }
  search(const search&) = delete;
  search& operator=(const search&) = delete;

  void run(text_sink out, void* arg) noexcept {
    if (memory_ == nullptr) return;
    lay_out();
    for (std::uint32_t i = 0; i < c_.size() && shown_ < kMostShown; ++i)
      if (marks_[i] == mark::fresh) follow(i, out, arg);
  }

 private:
  void lay_out() noexcept {
    const std::size_t n = c_.size();
    ids_ = {memory_, memory_ + 2 * slots_, slots_ - 1};
    callables_ = {memory_ + slots_, memory_ + 2 * slots_ + n, slots_ - 1};
    path_ = memory_ + 2 * slots_ + 2 * n;
    edge_ = path_ + n;
    marks_ = reinterpret_cast<mark*>(memory_ + words_);
    for (std::size_t i = 0; i < 2 * slots_; ++i) memory_[i] = kNone;
    for (std::uint32_t i = 0; i < n; ++i) {
      ids_.add(c_.at(i).id, i);
      if (c_.at(i).callable != 0) callables_.add(c_.at(i).callable, i);
    }
  }

  // The goroutines that i waits for, one after the other; kNone: no more. `after`: the last one.
  std::uint32_t blocker(std::uint32_t i, std::uint32_t after) const noexcept {
    const captured& c = c_.at(i);
    if (c.status != g_status::waiting || c.object == nullptr) return kNone;
    if (waits_for_mutex(c)) return after == kNone ? with_id(c.holder) : kNone;
    if (c.why != wait_reason::wait_group) return kNone;
    // First whom it joins, then those that the group counts.
    if (after == kNone) {
      const std::uint32_t joined = counted(object_of(c) - kJoinedAt, kNone, i);
      return joined != kNone ? joined : counted(object_of(c), kNone, i);
    }
    return counted(c_.at(after).callable, after, i);
  }
  std::uint32_t with_id(std::uint64_t id) const noexcept {
    if (id == 0) return kNone;
    std::uint32_t i = ids_.begin(id);
    while (i != kNone && c_.at(i).id != id) i = ids_.next[i];
    return i;
  }
  std::uint32_t counted(std::uintptr_t by, std::uint32_t after, std::uint32_t me) const noexcept {
    std::uint32_t i = after == kNone ? callables_.begin(by) : callables_.next[after];
    while (i != kNone && (c_.at(i).callable != by || i == me || waits_with(i, me)))
      i = callables_.next[i];
    return i;
  }
  // For the same: it has the address for that reason.
  bool waits_with(std::uint32_t i, std::uint32_t me) const noexcept {
    return c_.at(i).object == c_.at(me).object;
  }

  // A walk in depth, without recursion: path_ is where we are, edge_ whom each was last followed to.
  void follow(std::uint32_t from, text_sink out, void* arg) noexcept {
    std::size_t depth = 0;
    const auto push = [&](std::uint32_t i) noexcept {
      path_[depth++] = i;
      edge_[i] = kNone;
      marks_[i] = mark::on_path;
    };
    push(from);
    while (depth != 0) {
      const std::uint32_t i = path_[depth - 1];
      const std::uint32_t next = blocker(i, edge_[i]);
      if (next == kNone) {
        marks_[i] = mark::done;
        --depth;
        continue;
      }
      edge_[i] = next;
      if (marks_[next] == mark::fresh) {
        push(next);
      } else if (marks_[next] == mark::on_path && shown_++ < kMostShown) {
        put(depth, next, out, arg);
      }
    }
  }

  void put_one(sentence& s, std::uint32_t i) const noexcept {
    const captured& c = c_.at(i);
    s << "goroutine " << c.id;
    put_name(s, c.name);
  }
  void put_edge(sentence& s, std::uint32_t i) const noexcept {
    const captured &c = c_.at(i), &next = c_.at(edge_[i]);
    if (waits_for_mutex(c)) {
      s << " waits for " << (c.why == wait_reason::mutex ? "mutex " : "shared mutex ");
      s.hex(object_of(c)) << (edge_[i] == i ? ", probably held by itself: " : ", probably held by ");
    } else if (next.callable == object_of(c)) {
      s << " waits for wait group ";
      s.hex(object_of(c)) << ", which counts ";
    } else {
      s << " joins ";
    }
  }
  // The path from `first` on, which is where it comes back to.
  void put(std::size_t depth, std::uint32_t first, text_sink out, void* arg) const noexcept {
    std::size_t at = depth;
    while (path_[at - 1] != first) --at;
    sentence begin;
    put_one(begin, first);
    out(begin.view(), arg);
    for (std::size_t i = at - 1; i < depth; ++i) {
      sentence s;
      if (i != at - 1) s << ", which";
      put_edge(s, path_[i]);
      put_one(s, edge_[path_[i]]);
      out(s.view(), arg);
    }
    out("\n", arg);
  }

  const captured_set& c_;
  std::size_t slots_ = 1024, words_ = 0, bytes_ = 0;
  std::uint32_t* memory_ = nullptr;
  index ids_{}, callables_{};
  std::uint32_t* path_ = nullptr;
  std::uint32_t* edge_ = nullptr;
  mark* marks_ = nullptr;
  int shown_ = 0;
};

}  // namespace

void put_cycles(const captured_set& c, text_sink out, void* arg) noexcept {
  bool worth_it = false;  // for a circle, somebody must wait for a mutex or a group
  for (std::size_t i = 0; i < c.size() && !worth_it; ++i)
    worth_it = c.at(i).why == wait_reason::wait_group || c.at(i).holder != 0;
  if (worth_it) search(c).run(out, arg);
}

}  // namespace vole::rt
