// dial with a timeout waits for as long as the resolver takes.
//
//     goroutine                                    the thread that looks names up
//     dial("tcp", "host:80", {.timeout = 20ms})
//       asks, waits for the answer or for the      getaddrinfo: the server does not answer
//       context, which never ends
//       (20 ms are over)                           ...
//
// dial_options has a context always, and with a context the deadline was forgotten. The getaddrinfo
// of this program answers when it is told to.

#include <netdb.h>
#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>

#include "regress.h"

namespace {
std::atomic<int> asked{0};
std::atomic<bool> answers{false};
}  // namespace

extern "C" int getaddrinfo(const char*, const char*, const addrinfo*, addrinfo** found) {
  *found = nullptr;
  ++asked;
  // A wait that forgets its deadline ends with another error then, instead of never.
  for (int i = 0; i < 20'000 && !answers; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return EAI_NONAME;
}
extern "C" void freeaddrinfo(addrinfo*) noexcept {}

namespace {

using namespace std::chrono_literals;
using vole::context;

constexpr const char* kHost = "slow.invalid:80";

VOLE_AT_PROCS(DialWaitsForTheResolver, 1, 2);

std::error_code dialed(const vole::net::dial_options& o) {
  std::error_code error;
  EXPECT_FALSE(vole::net::dial("tcp", kHost, o, error));
  return error;
}

TEST_P(DialWaitsForTheResolver, NotLongerThanItsTimeout) {
  const int before = asked;
  run([] {
    answers = false;
    EXPECT_EQ(dialed({.timeout = 20ms}), vole::errc::deadline_exceeded);
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1h);
    EXPECT_EQ(dialed({.ctx = ctx, .timeout = 20ms}), vole::errc::deadline_exceeded);
    auto [soon, cancel_soon] = vole::with_timeout(context::background(), 20ms);
    EXPECT_EQ(dialed({.ctx = soon, .timeout = 1h}), vole::errc::deadline_exceeded);
    std::error_code error;
    EXPECT_FALSE(vole::net::dial("tcp", kHost, 20ms, error));
    EXPECT_EQ(error, vole::errc::deadline_exceeded);
    answers = true;  // the threads that look up end before the runtime's are counted
    EXPECT_TRUE(vole_test::eventually([] { return dialed({}) == vole::errc::no_such_host; }));
  });
  EXPECT_GT(asked, before);
}

TEST_P(DialWaitsForTheResolver, NorThanItsContext) {
  run([] {
    answers = false;
    auto scope = vole::with_cancel(context::background());
    const int seen = asked;
    auto dialing = vole::spawn([ctx = scope.ctx] { return dialed({.ctx = ctx, .timeout = 1h}); });
    while (asked == seen) vole::yield();
    scope.cancel();
    EXPECT_EQ(dialing.join(), vole::errc::canceled);
    answers = true;
  });
}

}  // namespace
