// Records of goroutines that are over [31]: a P's own, and everybody's.
//
// They change hands in chains of 32 that are linked already, so that a batch costs what one record
// does and touches only its first. A P keeps a chain that it takes from and puts to, and a full
// one beside it, so that goroutines that start and end in turn do not need the pool each time.
//
// Who    free_records: the P's owner. record_pool: under sched.records.
// Law    a chain has exactly kChain records, by `next`. In the pool the first one's wait.g is
//        the next chain: nobody waits in a free record.
#pragma once

#include <cstddef>
#include <utility>

#include "base/likely.h"
#include "base/list.h"
#include "gmp/g.h"

namespace vole::rt {

class free_records {
 public:
  static constexpr std::size_t kChain = 32;

  // nullptr: none left.
  G* take_owner() noexcept {
    if (first_ == nullptr) {
      if (full_ == nullptr) return nullptr;
      load_owner(std::exchange(full_, nullptr));
    }
    return take_first_owner();
  }
  // nullptr: take_owner() may have one.
  G* take_first_owner() noexcept {
    G* const g = first_;
    if (!likely(g != nullptr)) return nullptr;
    first_ = static_cast<G*>(g->next);
    g->next = nullptr;
    --n_;
    return g;
  }

  // Returns a chain that is one too many, for the pool; or nullptr.
  [[nodiscard]] G* put_owner(G* g) noexcept {
    g->next = first_;
    first_ = g;
    if (++n_ < kChain) return nullptr;
    n_ = 0;
    return std::exchange(full_, std::exchange(first_, nullptr));
  }

  std::size_t size() const noexcept { return n_ + (full_ != nullptr ? kChain : 0); }

  // A full one, if there is; nullptr: take them one by one.
  G* take_chain_owner() noexcept { return std::exchange(full_, nullptr); }

  // There is none left.
  void load_owner(G* chain) noexcept {
    first_ = chain;
    n_ = kChain;
  }

 private:
  G* first_ = nullptr;
  std::size_t n_ = 0;
  G* full_ = nullptr;
};

class record_pool {
 public:
  void put_chain_locked(G* chain) noexcept {
    chain->wait.g = chains_;
    chains_ = chain;
  }

  // nullptr: there may be single ones.
  G* take_chain_locked() noexcept {
    G* const chain = chains_;
    if (chain != nullptr) chains_ = std::exchange(chain->wait.g, nullptr);
    return chain;
  }

  void put_locked(G* g) noexcept { single_.push(g); }

  // Single ones, for a P that has none: fewer than a chain.
  void take_some_locked(free_records& to) noexcept {
    for (std::size_t i = 1; i < free_records::kChain && !single_.empty(); ++i)
      (void)to.put_owner(static_cast<G*>(single_.pop()));
  }

  // nullptr: none at all.
  G* take_locked() noexcept {
    if (single_.empty())
      for (runnable* r = take_chain_locked(); r != nullptr;)
        single_.push(std::exchange(r, r->next));
    return static_cast<G*>(single_.pop());
  }

 private:
  G* chains_ = nullptr;
  base::lifo<runnable, &runnable::next> single_;
};

}  // namespace vole::rt
