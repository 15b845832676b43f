#include "base/list.h"

#include <gtest/gtest.h>

namespace vole::base {
namespace {

struct item {
  int value = 0;
  item* next = nullptr;
};
using queue = fifo<item, &item::next>;
using pile = lifo<item, &item::next>;

TEST(Fifo, PushBackThenPopKeepsOrder) {
  item a{1}, b{2}, c{3};
  queue q;
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.pop_front(), nullptr);
  q.push_back(&a);
  q.push_back(&b);
  q.push_front(&c);
  EXPECT_EQ(q.size(), 3u);
  EXPECT_TRUE(q.is_valid());
  EXPECT_EQ(q.front(), &c);
  EXPECT_EQ(q.back(), &b);
  EXPECT_EQ(q.pop_front(), &c);
  EXPECT_EQ(c.next, nullptr);
  EXPECT_EQ(q.pop_front(), &a);
  EXPECT_EQ(q.pop_front(), &b);
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.back(), nullptr);
}

TEST(Fifo, PushFrontIntoEmptyIsAlsoTheBack) {
  item a, b;
  queue q;
  q.push_front(&a);
  q.push_back(&b);
  EXPECT_EQ(q.pop_front(), &a);
  EXPECT_EQ(q.pop_front(), &b);
  EXPECT_TRUE(q.is_valid());
}

TEST(Fifo, AppendMovesEverythingAndEmptiesTheOther) {
  item a, b, c;
  queue q, other;
  q.append(other);
  EXPECT_TRUE(q.empty());
  other.push_back(&a);
  q.append(other);
  EXPECT_TRUE(other.empty());
  other.push_back(&b);
  other.push_back(&c);
  q.append(other);
  EXPECT_EQ(q.size(), 3u);
  EXPECT_TRUE(q.is_valid());
  q.append(q);
  EXPECT_EQ(q.size(), 3u);
  EXPECT_EQ(q.pop_front(), &a);
  EXPECT_EQ(q.pop_front(), &b);
  EXPECT_EQ(q.pop_front(), &c);
}

TEST(Fifo, AppendChainTakesALinkedRun) {
  item a, b, c;
  a.next = &b;
  b.next = &c;
  queue q;
  q.append_chain(&a, &b, 2);
  EXPECT_EQ(q.size(), 2u);
  EXPECT_TRUE(q.is_valid());
  q.append_chain(nullptr, nullptr, 0);
  EXPECT_EQ(q.pop_front(), &a);
  EXPECT_EQ(q.pop_front(), &b);
  EXPECT_EQ(q.pop_front(), nullptr);
}

TEST(Lifo, NewestComesFirst) {
  item a, b;
  pile p;
  EXPECT_EQ(p.pop(), nullptr);
  p.push(&a);
  p.push(&b);
  EXPECT_EQ(p.size(), 2u);
  EXPECT_EQ(p.top(), &b);
  EXPECT_EQ(p.pop(), &b);
  EXPECT_EQ(b.next, nullptr);
  EXPECT_EQ(p.pop(), &a);
  EXPECT_TRUE(p.empty());
}

TEST(DoubleLifo, ElementsLeaveFromAnywhere) {
  struct member {
    member *next = nullptr, *above = nullptr;
  };
  member a, b, c, d;
  double_lifo<member, &member::next, &member::above> p;
  EXPECT_EQ(p.pop(), nullptr);
  for (member* m : {&a, &b, &c, &d}) p.push(m);
  p.remove(&b);
  EXPECT_EQ(b.next, nullptr);
  EXPECT_EQ(b.above, nullptr);
  p.remove(&d);
  EXPECT_EQ(p.top(), &c);
  EXPECT_EQ(p.size(), 2u);
  p.push(&b);
  p.remove(&a);
  EXPECT_EQ(p.pop(), &b);
  EXPECT_EQ(p.pop(), &c);
  EXPECT_TRUE(p.empty());
}

}  // namespace
}  // namespace vole::base
