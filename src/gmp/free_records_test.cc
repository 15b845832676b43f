// Free records: each is in one place, chains are whole, and a P keeps two of them at most.

#include "gmp/free_records.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace vole::rt {
namespace {

constexpr std::size_t kChain = free_records::kChain;

struct FreeRecords : testing::Test {
  std::vector<std::unique_ptr<G>> all;

  std::vector<G*> make(std::size_t n) {
    std::vector<G*> made;
    while (made.size() < n) made.push_back(all.emplace_back(std::make_unique<G>()).get());
    return made;
  }
};

std::size_t length(const runnable* r) {
  std::size_t n = 0;
  for (; r != nullptr; r = r->next) ++n;
  return n;
}

TEST_F(FreeRecords, TheLastPutIsTheFirstTaken) {
  free_records own;
  EXPECT_EQ(own.take_owner(), nullptr);
  const std::vector<G*> two = make(2);
  for (G* g : two) EXPECT_EQ(own.put_owner(g), nullptr);
  EXPECT_EQ(own.take_owner(), two[1]);
  EXPECT_EQ(two[1]->next, nullptr);
  EXPECT_EQ(own.take_owner(), two[0]);
  EXPECT_EQ(own.take_owner(), nullptr);
}

TEST_F(FreeRecords, The64thHas32GivenAway) {  // [31]
  free_records own;
  const std::vector<G*> some = make(64);
  for (std::size_t i = 0; i < 63; ++i) EXPECT_EQ(own.put_owner(some[i]), nullptr) << i;
  EXPECT_EQ(length(own.put_owner(some[63])), 32u);
}

TEST_F(FreeRecords, GivesAwayWholeChainsAndKeepsOne) {
  free_records own;
  record_pool pool;
  for (G* g : make(10 * kChain))
    if (G* const chain = own.put_owner(g)) {
      EXPECT_EQ(length(chain), kChain);
      pool.put_chain_locked(chain);
    }
  for (std::size_t i = 0; i < kChain; ++i) EXPECT_NE(own.take_owner(), nullptr);
  EXPECT_EQ(own.take_owner(), nullptr);
  std::size_t chains = 0;
  while (G* const chain = pool.take_chain_locked()) {
    EXPECT_EQ(chain->wait.g, nullptr);
    EXPECT_EQ(length(chain), kChain);
    ++chains;
  }
  EXPECT_EQ(chains, 9u);
}

TEST_F(FreeRecords, SingleOnesAreFewerThanAChain) {
  free_records own;
  record_pool pool;
  for (G* g : make(2 * kChain)) pool.put_locked(g);
  pool.take_some_locked(own);
  EXPECT_EQ(own.take_chain_owner(), nullptr);
  for (std::size_t i = 1; i < kChain; ++i) EXPECT_NE(own.take_owner(), nullptr);
  EXPECT_EQ(own.take_owner(), nullptr);
}

TEST_F(FreeRecords, SingleOnesComeFromChainsToo) {
  record_pool pool;
  EXPECT_EQ(pool.take_locked(), nullptr);
  free_records own;
  std::set<G*> seen;
  for (G* g : make(3 * kChain))
    if (G* const chain = own.put_owner(g)) pool.put_chain_locked(chain);
  while (G* const g = pool.take_locked()) EXPECT_TRUE(seen.insert(g).second);
  while (G* const g = own.take_owner()) EXPECT_TRUE(seen.insert(g).second);
  EXPECT_EQ(seen.size(), all.size());
}

// Two owners, a pool, guests: at the end everything is there once.
TEST_F(FreeRecords, NothingIsLostOrDoubled) {
  std::mt19937 dice(7);
  free_records own[2];
  record_pool pool;
  std::vector<G*> used = make(500);
  for (int step = 0; step < 100'000; ++step) {
    free_records& p = own[dice() % 2];
    if (dice() % 2 == 0 && !used.empty()) {
      G* const g = used.back();
      used.pop_back();
      if (dice() % 16 == 0) {
        pool.put_locked(g);
      } else if (G* const chain = p.put_owner(g)) {
        pool.put_chain_locked(chain);
      }
      continue;
    }
    G* g = dice() % 16 == 0 ? pool.take_locked() : p.take_owner();
    if (g == nullptr && (g = p.take_owner()) == nullptr) {
      G* const chain = pool.take_chain_locked();
      if (chain == nullptr) continue;
      p.load_owner(chain);
      g = p.take_owner();
    }
    used.push_back(g);
  }
  for (free_records& p : own)
    while (G* const g = p.take_owner()) used.push_back(g);
  while (G* const g = pool.take_locked()) used.push_back(g);
  EXPECT_EQ(used.size(), all.size());
  EXPECT_EQ(std::set<G*>(used.begin(), used.end()).size(), all.size());
}

}  // namespace
}  // namespace vole::rt
