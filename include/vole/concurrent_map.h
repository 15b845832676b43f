// concurrent_map: a hash map that any number of goroutines and threads use at once.
//
//     vole::concurrent_map<std::string, int> seen;
//     seen.store("a", 1);
//     if (auto n = seen.load("a")) use(*n);
//     seen.update("a", [](std::optional<int>& n) { n = n.value_or(0) + 1; });
//
// Go's sync.Map, in shards: a key belongs to one of them, and each has its own lock, so that callers
// with different keys seldom meet.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <vole/mutex.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// Values come and go as copies: keep a std::shared_ptr where copying is dear. Each call but for_each,
// size, empty and clear is atomic. A value's or key's copy, comparison and destruction may wait, but
// not use the same map: it would wait for itself. An exception of theirs leaves the map as it was.
// Not movable; nobody may use it while it is destroyed.
template <class K, class V, class Hash = std::hash<K>, class Equal = std::equal_to<K>>
class concurrent_map {
  static_assert(std::is_object_v<K> && std::is_copy_constructible_v<K>,
                "vole::concurrent_map<K, V>: K must be copyable");
  static_assert(std::is_object_v<V> && std::is_copy_constructible_v<V>,
                "vole::concurrent_map<K, V>: V must be copyable, since values are given out as copies; "
                "use a std::shared_ptr for one that is not");
  static_assert(std::swappable<V>, "vole::concurrent_map<K, V>: V must be assignable");
  static_assert(std::is_invocable_r_v<std::size_t, const Hash&, const K&>,
                "vole::concurrent_map<K, V>: there is no std::hash<K>; give a hash as third argument");

 public:
  using key_type = K;
  using mapped_type = V;

  concurrent_map() = default;
  explicit concurrent_map(const Hash& hash, const Equal& equal = {}) : hash_(hash) {
    for (shard& s : shards_) s.entries = entries_type(0, hash, equal);
  }
  concurrent_map(const concurrent_map&) = delete;
  concurrent_map& operator=(const concurrent_map&) = delete;

  [[nodiscard]] std::optional<V> load(const K& key) const {
    const access a(*this, key);
    const auto at = a->find(key);
    return at != a->end() ? std::optional<V>(at->second) : std::nullopt;
  }
  // Is there a value for the key?
  [[nodiscard]] bool contains(const K& key) const {
    const access a(*this, key);
    return a->find(key) != a->end();
  }

  void store(const K& key, V value) { (void)swap(key, std::move(value)); }

  // Returns what was there before.
  std::optional<V> swap(const K& key, V value) {
    std::optional<V> old(std::move(value));
    const access a(*this, key);
    const auto at = a->find(key);
    if (at != a->end()) {
      std::ranges::swap(at->second, *old);
    } else {
      a->emplace(key, *std::move(old));
      old.reset();
    }
    return old;
  }

  // The value that is there now, and whether it had been there before; if not, it is `value`.
  std::pair<V, bool> load_or_store(const K& key, V value) {
    const access a(*this, key);
    const auto at = a->find(key);
    if (at != a->end()) return {at->second, true};
    std::pair<V, bool> stored(value, false);
    a->emplace(key, std::move(value));
    return stored;
  }

  // Returns the value that was there; empty if there was none.
  std::optional<V> load_and_delete(const K& key) {
    node taken = take(key, [](const V&) { return true; });
    return taken.empty() ? std::nullopt : std::optional<V>(std::move(taken.mapped()));
  }
  bool erase(const K& key) {  // true: it was there
    return !take(key, [](const V&) { return true; }).empty();
  }

  // Only if the value there equals `expected`. True: it did.
  bool compare_and_swap(const K& key, const V& expected, V value)
    requires std::equality_comparable<V>
  {
    const access a(*this, key);
    const auto at = a->find(key);
    if (at == a->end() || !(at->second == expected)) return false;
    std::ranges::swap(at->second, value);
    return true;
  }
  bool compare_and_delete(const K& key, const V& expected)
    requires std::equality_comparable<V>
  {
    return !take(key, [&](const V& is) { return is == expected; }).empty();
  }

  // fn(std::optional<V>&) changes a copy of what is there (empty: nothing is), and that is put in its
  // place; emptied, the entry is erased. Nobody else uses the key meanwhile. fn must not use this map.
  // If it throws, nothing has changed.
  template <class F>
    requires std::invocable<F, std::optional<V>&>
  void update(const K& key, F&& fn) {
    node gone;
    std::optional<V> value;
    const access a(*this, key);
    const auto at = a->find(key);
    if (at != a->end()) value.emplace(at->second);
    std::invoke(std::forward<F>(fn), value);
    if (at == a->end()) {
      if (value) a->emplace(key, *std::move(value));
    } else if (value) {
      std::ranges::swap(at->second, *value);
    } else {
      gone = a->extract(at);
    }
  }

  // fn(key, value) for each, in no particular order, with nothing locked: fn may use the map. Each
  // entry that is there all the time comes once; of others, some. An fn that returns a bool ends it
  // by false.
  template <class F>
    requires std::invocable<F&, const K&, const V&>
  void for_each(F&& fn) const {
    for (const shard& s : shards_) {
      for (const auto& [key, value] : s.copy()) {
        if constexpr (std::same_as<std::invoke_result_t<F&, const K&, const V&>, bool>) {
          if (!std::invoke(fn, key, value)) return;
        } else {
          std::invoke(fn, key, value);
        }
      }
    }
  }

  // The sum of what each shard had when it was asked.
  [[nodiscard]] std::size_t size() const {
    std::size_t n = 0;
    for (const shard& s : shards_) {
      const std::lock_guard lock(s.guard);
      n += s.entries.size();
    }
    return n;
  }
  [[nodiscard]] bool empty() const { return size() == 0; }
  void clear() {  // one shard after the other
    for (shard& s : shards_) {
      entries_type gone(0, s.entries.hash_function(), s.entries.key_eq());
      const std::lock_guard lock(s.guard);
      s.entries.swap(gone);
    }
  }

 private:
  static constexpr unsigned kShardBits = 5;

  using entries_type = std::unordered_map<K, V, Hash, Equal>;
  using node = typename entries_type::node_type;

  struct alignas(64) shard {
    mutable mutex guard;
    entries_type entries;

    std::vector<std::pair<K, V>> copy() const {
      std::vector<std::pair<K, V>> all;
      const std::lock_guard lock(guard);
      all.reserve(entries.size());
      for (const auto& [key, value] : entries) all.emplace_back(key, value);
      return all;
    }
  };

  // The key's shard, locked.
  class access {
   public:
    access(const concurrent_map& m, const K& key) : shard_(m.shard_of(key)), lock_(shard_.guard) {}
    entries_type* operator->() const noexcept { return &shard_.entries; }

   private:
    shard& shard_;
    std::lock_guard<mutex> lock_;
  };

  // The upper bits of the product depend on all bits of the hash; std::hash of an int is the int.
  shard& shard_of(const K& key) const {
    const auto hash = static_cast<std::uint64_t>(std::invoke(hash_, key));
    return shards_[(hash * 0x9e3779b97f4a7c15u) >> (64 - kShardBits)];
  }

  // Taken out if pred(value) holds, to be destroyed by the caller, when the lock is free.
  template <class Pred>
  node take(const K& key, Pred pred) {
    const access a(*this, key);
    const auto at = a->find(key);
    return at != a->end() && pred(std::as_const(at->second)) ? a->extract(at) : node();
  }

  Hash hash_{};
  mutable std::array<shard, 1u << kShardBits> shards_;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
