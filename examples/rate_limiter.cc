// Rate limiter: a bucket of tokens. Each request takes one; a ticker puts one back every 2 ms.
//
// Teaches: a buffered channel of nothing (chan<>) counts; try_send drops what has no room, so the
// bucket never overflows; a ticker in a select with the end of a context.

#include <vole/vole.h>

#include <chrono>
#include <cstddef>
#include <cstdio>

namespace {

using namespace std::chrono_literals;

class rate_limiter {
 public:
  rate_limiter(std::size_t burst, vole::duration every) : tokens_(burst) {
    for (std::size_t i = 0; i < burst; ++i) tokens_.send();
    refill_.go([tokens = tokens_, every, ctx = refill_.context()] {
      const vole::ticker tick(every);
      while (vole::select(vole::on_recv(tick.channel()), vole::on_done(ctx)) == 0)
        (void)tokens.try_send();  // a full bucket stays full
    });
  }

  // Waits for a token. False: the context was cancelled first.
  bool wait(const vole::context& ctx) const { return static_cast<bool>(tokens_.recv(ctx)); }

 private:
  vole::chan<> tokens_;
  vole::group refill_;  // destroyed first: cancels its context and waits
};

}  // namespace

int main() {
  return vole::run([] {
    constexpr int kBurst = 5, kRequests = 20;
    const auto start = vole::now();
    const rate_limiter limit(kBurst, 2ms);
    vole::group requests;
    for (int i = 0; i < kRequests; ++i) requests.go([&] { (void)limit.wait(requests.context()); });
    requests.wait();
    const auto took = vole::now() - start;
    std::printf("%d requests, a burst of %d, then one every 2 ms: %.0f ms\n", kRequests, kBurst,
                std::chrono::duration<double, std::milli>(took).count());
    return took >= (kRequests - kBurst) * 2ms ? 0 : 1;  // never faster than the limit
  });
}
