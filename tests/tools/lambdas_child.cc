// Goroutines that wait in functions without a linker's name, once they are optimised: lambdas in
// lambdas, generic ones, functions of this file alone. It prints its own dump, then READY.
#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace app {

vole::chan<int> never;
std::atomic<int> behind{0};  // so that no call is the last thing that a function does

void use(int n) { behind += n; }
int receive() { return never.recv().value_or(0) + behind; }

namespace {
struct shelf {
  template <class F>
  int through(F f) {
    return f(1) + behind;
  }
};
int hidden(int n) {
  const auto add = [](int m) { return receive() + m; };
  return add(n) + behind;
}
}  // namespace

}  // namespace app

int main() {
  vole::run([] {
    vole::go({.name = "plain"}, [] { app::use(app::receive()); });
    vole::go({.name = "nested"}, [] {
      const auto outer = [] {
        const auto inner = [](int n) { return app::receive() + n; };
        return inner(1) + app::behind;
      };
      app::use(outer());
    });
    const auto of_two = [](int n) { return app::receive() + n; };
    vole::go({.name = "second"}, [of_two] { app::use(of_two(2)); });
    vole::go({.name = "generic"},
             [] { app::use(app::shelf().through([](auto n) { return app::receive() + n; })); });
    vole::go({.name = "hidden"}, [] { app::use(app::hidden(3)); });
    std::thread([] {
      for (std::size_t waiting = 0; waiting < 6;) {
        waiting = 0;
        for (const auto& g : vole::goroutines()) waiting += g.status == "waiting" ? 1u : 0u;
      }
      const bool is_json = std::getenv("OUTSIDE_JSON") != nullptr;
      vole::dump_goroutines(stdout, is_json ? vole::dump_format::json : vole::dump_format::text);
      std::puts("READY");
      std::fflush(stdout);
    }).detach();
    vole::sleep_for(std::chrono::hours(1));
  });
}
