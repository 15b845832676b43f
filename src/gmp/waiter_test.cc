// The queue of waiters: FIFO, and anybody may leave from the middle.

#include "gmp/waiter.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace vole::rt {
namespace {

struct list {
  waiter* first = nullptr;
  waiter* last = nullptr;
};

void fill(list& l, std::array<waiter, 3>& w) {
  for (waiter& each : w) {
    each.object = &l;
    wait_queue::push_back(l, &each);
  }
}

std::vector<waiter*> drained(list& l) {
  std::vector<waiter*> order;
  while (waiter* const w = wait_queue::pop_front(l)) order.push_back(w);
  return order;
}

TEST(Waiter, LeavesInOrder) {
  list l;
  std::array<waiter, 3> w;
  fill(l, w);
  EXPECT_EQ(drained(l), (std::vector<waiter*>{&w[0], &w[1], &w[2]}));
  EXPECT_EQ(l.first, nullptr);
  EXPECT_EQ(l.last, nullptr);
}

TEST(Waiter, MayLeaveFromAnywhere) {
  for (std::size_t gone = 0; gone < 3; ++gone) {
    list l;
    std::array<waiter, 3> w;
    fill(l, w);
    wait_queue::remove(l, &w[gone]);
    std::vector<waiter*> rest;
    for (std::size_t i = 0; i < 3; ++i)
      if (i != gone) rest.push_back(&w[i]);
    EXPECT_EQ(l.first, rest.front());
    EXPECT_EQ(l.last, rest.back());
    EXPECT_EQ(drained(l), rest);
  }
}

TEST(Waiter, RemovedStandsNowhere) {
  list l;
  std::array<waiter, 3> w;
  fill(l, w);
  wait_queue::remove(l, &w[1]);
  EXPECT_EQ(w[1].next, nullptr);
  EXPECT_EQ(w[1].prev, nullptr);
  EXPECT_EQ(w[1].object, nullptr) << "or the end of the runtime would unlink it again";
}

TEST(Waiter, MayQueueAgain) {
  list l;
  waiter w;
  for (int round = 0; round < 3; ++round) {
    wait_queue::push_back(l, &w);
    EXPECT_EQ(wait_queue::pop_front(l), &w);
    EXPECT_EQ(wait_queue::pop_front(l), nullptr);
  }
}

}  // namespace
}  // namespace vole::rt
