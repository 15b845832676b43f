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
  expect(length.join() == 6, "the result comes back");
  expect(!length.joinable(), "and only once");

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
  try {
    bad.join();
    expect(false, "join() rethrows");
  } catch (const std::out_of_range& e) {
    expect(std::string(e.what()) == "too deep", "join() rethrows what the goroutine threw");
  }
}

void early_exit() {
  bool rung = false;
  auto quitter = vole::spawn([&rung]() -> int {
    const bell at_the_end{&rung};
    vole::exit_goroutine();
  });
  try {
    quitter.join();
    expect(false, "a goroutine that exits has no result");
  } catch (const std::system_error& e) {
    expect(e.code() == vole::errc::goroutine_exited, "exit_goroutine() leaves no result");
  }
  expect(rung, "but its destructors have run");
}

void handles_wait() {
  bool done = false;
  {
    const auto handle = vole::spawn([&done] {
      for (int i = 0; i < 10; ++i) vole::yield();
      done = true;
    });
  }
  expect(done, "a handle that goes out of scope waits for its goroutine");
}

}  // namespace

int main() {
  vole::run([] {
    results();
    failures_travel();
    early_exit();
    handles_wait();
  });
  return failures == 0 ? 0 : 1;
}
