// Is there an order of these channel operations, one after the other, that explains
// what each of them returned?
//
// The model is a channel by the law of src/chan/core.h, with its waiters. An operation takes
// effect in one step, somewhere between its call and its return. That step either
// ends it or puts it into a queue; from there the step of another one ends it, or its
// own deadline takes it out again. A rendezvous is thus one step of whoever comes
// second. would_block is allowed only if nobody waits at that instant.
//
// The search is Wing and Gong's: try as the next step each operation that has been
// called, unless another had returned before the call and is not explained yet. States
// seen before are not searched again.
//
// Who    chan_linear_test.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace linear {

enum class verb : std::uint8_t { send, recv, try_send, try_recv, send_for, recv_for, close, size };
enum class result : std::uint8_t { ok, closed, would_block, timeout };

struct operation {
  verb what;
  result how = result::ok;
  int value = 0;  // sent, received, or the size
  std::uint64_t called = 0, returned = 0;
};
using history = std::vector<operation>;

inline constexpr std::size_t kMost = 40;  // operations in a history
inline constexpr std::size_t kSmall = 8;  // capacity, or parties that wait

class checker {
 public:
  checker(const history& h, std::size_t capacity) : ops_(h), capacity_(capacity) {}
  bool explains() { return search(state{}); }

 private:
  template <class T>
  struct few {  // unused places stay zero, so that equal states are equal bytes
    std::array<T, kSmall> items{};
    std::uint8_t count = 0;
    void push(T v) { items[count++] = v; }
    T pop() { return remove(0); }
    T remove(std::size_t i) {
      const T v = items[i];
      std::copy(items.begin() + static_cast<std::ptrdiff_t>(i) + 1, items.begin() + count,
                items.begin() + static_cast<std::ptrdiff_t>(i));
      items[--count] = T{};
      return v;
    }
  };
  enum phase : std::uint8_t { unstarted, waits, explained };
  struct state {
    std::array<phase, kMost> at{};
    few<std::uint8_t> values, receivers, senders;  // the last two: numbers of operations
    bool closed = false;
  };
  static_assert(std::has_unique_object_representations_v<state>);

  // Ends operation i in this way. False: that is not what it returned.
  bool end(state& s, std::size_t i, result how, int value) const {
    s.at[i] = explained;
    return ops_[i].how == how && (how != result::ok || ops_[i].value == value);
  }
  bool wait(state& s, std::size_t i, few<std::uint8_t>& queue) const {
    const verb w = ops_[i].what;
    if (w == verb::try_send || w == verb::try_recv) return end(s, i, result::would_block, 0);
    s.at[i] = waits;
    queue.push(static_cast<std::uint8_t>(i));
    return true;
  }

  bool send(state& s, std::size_t i) const {
    const int v = ops_[i].value;
    if (s.closed) return end(s, i, result::closed, v);
    if (s.receivers.count > 0)
      return end(s, s.receivers.pop(), result::ok, v) && end(s, i, result::ok, v);
    if (s.values.count == capacity_) return wait(s, i, s.senders);
    s.values.push(static_cast<std::uint8_t>(v));
    return end(s, i, result::ok, v);
  }
  bool recv(state& s, std::size_t i) const {
    const bool buffered = s.values.count > 0;
    if (!buffered && s.closed) return end(s, i, result::closed, 0);
    if (!buffered && s.senders.count == 0) return wait(s, i, s.receivers);
    if (s.senders.count > 0) {
      const std::size_t sender = s.senders.pop();
      s.values.push(static_cast<std::uint8_t>(ops_[sender].value));
      if (!end(s, sender, result::ok, ops_[sender].value)) return false;
    }
    return end(s, i, result::ok, s.values.pop());
  }
  bool close(state& s, std::size_t i) const {
    if (s.closed) return end(s, i, result::closed, 0);
    s.closed = true;
    while (s.receivers.count > 0)
      if (!end(s, s.receivers.pop(), result::closed, 0)) return false;
    while (s.senders.count > 0)
      if (!end(s, s.senders.pop(), result::closed, 0)) return false;
    return end(s, i, result::ok, 0);
  }
  bool step(state& s, std::size_t i) const {
    switch (ops_[i].what) {
      case verb::send:
      case verb::try_send:
      case verb::send_for: return send(s, i);
      case verb::recv:
      case verb::try_recv:
      case verb::recv_for: return recv(s, i);
      case verb::close: return close(s, i);
      case verb::size: return end(s, i, result::ok, s.values.count);
    }
    return false;
  }
  bool expire(state& s, std::size_t i) const {
    auto& queue = ops_[i].what == verb::recv_for ? s.receivers : s.senders;
    for (std::size_t k = 0; k < queue.count; ++k)
      if (queue.items[k] == i) {
        queue.remove(k);
        break;
      }
    return end(s, i, result::timeout, 0);
  }

  bool search(const state& s) {
    std::uint64_t first_return = UINT64_MAX;  // of what is not explained
    for (std::size_t i = 0; i < ops_.size(); ++i)
      if (s.at[i] != explained) first_return = std::min(first_return, ops_[i].returned);
    if (first_return == UINT64_MAX) return true;
    if (!seen_.emplace(reinterpret_cast<const char*>(&s), sizeof s).second) return false;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      state next = s;
      if (s.at[i] == unstarted && ops_[i].called < first_return) {
        if (step(next, i) && search(next)) return true;
      } else if (s.at[i] == waits && ops_[i].how == result::timeout) {
        if (expire(next, i) && search(next)) return true;
      }
    }
    return false;
  }

  const history& ops_;
  const std::size_t capacity_;
  std::unordered_set<std::string> seen_;
};

inline std::string to_text(const history& h, std::size_t capacity) {
  static constexpr const char* kVerbs[] = {"send",     "recv",     "try_send", "try_recv",
                                           "send_for", "recv_for", "close",    "size"};
  static constexpr const char* kResults[] = {"ok", "closed", "would_block", "timeout"};
  std::string text = "capacity " + std::to_string(capacity) + "\n";
  history sorted = h;
  std::sort(sorted.begin(), sorted.end(),
            [](const operation& a, const operation& b) { return a.called < b.called; });
  for (const operation& o : sorted)
    text += "  " + std::to_string(o.called) + ".." + std::to_string(o.returned) + "  " +
            kVerbs[static_cast<int>(o.what)] + " " + std::to_string(o.value) + ": " +
            kResults[static_cast<int>(o.how)] + "\n";
  return text;
}

}  // namespace linear
