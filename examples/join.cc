// Joining: results, move-only results, exceptions, and goroutines that leave early.

#include <vole/vole.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

int failures = 0;

void expect(bool ok, const char* what) {
  std::printf("%s %s\n", ok ? "yes:" : "NO: ", what);
  failures += ok ? 0 : 1;
}

struct bell {
  bool* rung;
  ~bell() { *rung = true; }
};

void results() {
  auto length = vole::spawn([](const std::string& s) { return s.size(); }, std::string("burrow"));
  expect(length.join() == 6 && !length.joinable(), "the result comes back, once");
  auto box = vole::spawn([] { return std::make_unique<int>(42); });
  expect(*box.join() == 42, "a result may be move-only");
  std::vector<vole::join_handle<int>> many;
  for (int i = 0; i < 100; ++i) many.push_back(vole::spawn([i] { return i; }));
  int sum = 0;
  for (auto& handle : many) sum += handle.join();
  expect(sum == 4950, "handles live in containers");
}

void failures_travel() {
  auto bad = vole::spawn([] { throw std::out_of_range("too deep"); });
  std::string what;
  try {
    bad.join();
  } catch (const std::out_of_range& e) {
    what = e.what();
  }
  expect(what == "too deep", "join() rethrows what the goroutine threw");
}

void early_exit() {
  bool rung = false;
  auto quitter = vole::spawn([&rung]() -> int {
    const bell at_the_end{&rung};
    vole::exit_goroutine();
  });
  std::error_code code;
  try {
    quitter.join();
  } catch (const std::system_error& e) {
    code = e.code();
  }
  expect(code == vole::errc::goroutine_exited, "exit_goroutine() leaves no result");
  expect(rung, "but its destructors have run");
}

void handles_wait() {
  bool done = false;
  {
    const auto handle = vole::spawn([&done] { vole::yield(), done = true; });
  }
  expect(done, "a handle that goes out of scope waits for its goroutine");
}

}  // namespace

int main() {
  vole::run([] { results(), failures_travel(), early_exit(), handles_wait(); });
  return failures == 0 ? 0 : 1;
}
