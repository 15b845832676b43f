// lookup_srv and lookup_addr: answers as they come, broken ones, and a server of the test's own.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <arpa/inet.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/rand.h"
#include "os/net.h"
#include "net/dns_answer.h"

namespace {

using namespace std::chrono_literals;
using vole::errc;
using vole::net::srv;

using text = std::vector<unsigned char>;

void put(text& to, unsigned n) {
  to.push_back(static_cast<unsigned char>(n >> 8));
  to.push_back(static_cast<unsigned char>(n));
}
void put_name(text& to, const std::string& name) {
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    to.push_back(static_cast<unsigned char>(dot - at));
    to.insert(to.end(), name.begin() + static_cast<std::ptrdiff_t>(at),
              name.begin() + static_cast<std::ptrdiff_t>(dot));
    at = dot + 1;
  }
  to.push_back(0);
}

// The record's name is a pointer to the question's, as servers write it.
void put_srv(text& to, const srv& s) {
  put(to, 0xc00c);
  put(to, 33);
  put(to, 1);
  put(to, 0);
  put(to, 60);
  text data;
  put(data, s.priority);
  put(data, s.weight);
  put(data, s.port);
  put_name(data, s.target);
  put(to, static_cast<unsigned>(data.size()));
  to.insert(to.end(), data.begin(), data.end());
}
text answer_of(unsigned id, const text& question, const std::vector<srv>& records,
               unsigned flags = 0x8180) {
  text t;
  put(t, id);
  put(t, flags);
  put(t, 1);
  put(t, static_cast<unsigned>(records.size()));
  put(t, 0);
  put(t, 0);
  t.insert(t.end(), question.begin(), question.end());
  for (const srv& s : records) put_srv(t, s);
  return t;
}
text question_of(const std::string& name) {
  text q;
  put_name(q, name);
  put(q, 33);
  put(q, 1);
  return q;
}

const std::vector<srv> kTwo{{"a.example.test", 80, 10, 5}, {"b.example.test", 8080, 20, 0}};

TEST(Srv, AnAnswerIsRead) {
  std::vector<srv> found;
  EXPECT_TRUE(vole::detail::parse_srv(answer_of(1, question_of("_x._tcp.example.test"), kTwo), found));
  EXPECT_EQ(found, kTwo);
}

TEST(Srv, ATargetThatIsADotIsNone) {
  std::vector<srv> found;
  EXPECT_TRUE(vole::detail::parse_srv(answer_of(1, question_of("x"), {{"", 0, 0, 0}}), found));
  EXPECT_TRUE(found.empty());
}

// ASan sees what is read outside.
TEST(Srv, NoBytesAreTooBad) {
  const text good = answer_of(1, question_of("_x._tcp.example.test"), kTwo);
  for (std::size_t n = 0; n < good.size(); ++n) {
    std::vector<srv> found;
    const text cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_FALSE(vole::detail::parse_srv(cut, found)) << n;
  }
  vole::base::rand_state dice{1};
  for (int round = 0; round < 20'000; ++round) {
    text bad = good;
    for (std::uint32_t i = dice.below(8) + 1; i > 0; --i)
      bad[dice.below(static_cast<std::uint32_t>(bad.size()))] =
          static_cast<unsigned char>(dice.next());
    std::vector<srv> found;
    (void)vole::detail::parse_srv(bad, found);
  }
}

TEST(Srv, PointersInACircleEnd) {
  text t = answer_of(1, question_of("x"), {});
  t[7] = 1;
  put(t, 0xc000 | static_cast<unsigned>(t.size()));
  std::vector<srv> found;
  EXPECT_FALSE(vole::detail::parse_srv(t, found));
}

TEST(Srv, OrderIsByPriorityThenWeight) {
  vole::base::rand_state dice{7};
  int heavy_first = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<srv> all{{"last", 1, 9, 9}, {"light", 1, 1, 1}, {"heavy", 1, 1, 9}, {"never", 1, 1, 0}};
    vole::detail::order_srv(all, [&](std::uint32_t n) { return dice.below(n); });
    EXPECT_EQ(all[3].target, "last");
    heavy_first += all[0].target == "heavy" ? 1 : 0;
  }
  EXPECT_GT(heavy_first, 700);
  EXPECT_LT(heavy_first, 950);
}

// Answers one kind of question after the other until it is closed.
class name_server {
 public:
  explicit name_server(unsigned flags, std::vector<srv> records)
      : socket_(vole::net::listen_packet("udp4", "127.0.0.1:0")),
        serving_(vole::spawn([this, flags, records] { serve(flags, records); })) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(socket_.local_address().port());
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    vole::os::net::set_dns_server(&at);
  }
  ~name_server() {
    vole::os::net::set_dns_server(nullptr);
    socket_.close();
    serving_.join();
  }

 private:
  void serve(unsigned flags, const std::vector<srv>& records) {
    text asked(1500);
    std::error_code error;
    for (;;) {
      const auto [n, who] = socket_.read_from(asked, error);
      if (error) return;
      std::size_t end = 12;
      while (end < n && asked[end] != 0) end += asked[end] + 1u;
      const text question(asked.begin() + 12, asked.begin() + static_cast<std::ptrdiff_t>(end) + 5);
      socket_.write_to(answer_of(asked[0] * 256u + asked[1], question, records, flags), who, error);
    }
  }
  vole::net::packet_conn socket_;
  vole::join_handle<void> serving_;
};

TEST(LookupSrv, AsksAServer) {
  vole::run([] {
    const name_server server(0x8180, kTwo);
    EXPECT_EQ(vole::net::lookup_srv("x", "tcp", "example.test"), kTwo);
    std::error_code error;
    EXPECT_EQ(vole::net::lookup_srv("", "", "_x._tcp.example.test", error), kTwo);
    EXPECT_FALSE(error);
  });
}

TEST(LookupSrv, NobodyIsAnError) {
  vole::run([] {
    const name_server server(0x8183, {});  // NXDOMAIN
    std::error_code error;
    EXPECT_TRUE(vole::net::lookup_srv("x", "tcp", "example.test.", error).empty());
    EXPECT_EQ(error, errc::no_such_host);
    try {
      (void)vole::net::lookup_srv("x", "tcp", "example.test.");
      ADD_FAILURE();
    } catch (const std::system_error& e) {
      EXPECT_STREQ(e.what(), "lookup_srv: lookup _x._tcp.example.test.: no such host");
    }
    EXPECT_TRUE(vole::net::lookup_srv("x", "tcp", "", error).empty());
    EXPECT_EQ(error, std::errc::invalid_argument);
  });
}

TEST(LookupAddr, LoopbackHasAName) {
  vole::run([] {
    std::error_code error;
    const auto names = vole::net::lookup_addr("127.0.0.1", error);
    if (error) GTEST_SKIP() << "this machine's has none: " << error.message();
    EXPECT_FALSE(names.at(0).empty());
    EXPECT_EQ(names, vole::net::lookup_addr("127.0.0.1"));
  });
}

TEST(LookupAddr, WhatIsNoAddressIsRefused) {
  vole::run([] {
    std::error_code error;
    EXPECT_TRUE(vole::net::lookup_addr("localhost", error).empty());
    EXPECT_EQ(error, std::errc::invalid_argument);
    EXPECT_THROW((void)vole::net::lookup_addr("1.2.3"), std::system_error);
    auto [ctx, cancel] = vole::with_cancel(vole::context::background());
    cancel();
    EXPECT_TRUE(vole::net::lookup_addr("127.0.0.1", ctx, error).empty());
    EXPECT_EQ(error, errc::canceled);
    EXPECT_TRUE(vole::net::lookup_srv("x", "tcp", "example.test", ctx, error).empty());
    EXPECT_EQ(error, errc::canceled);
  });
}

}  // namespace
