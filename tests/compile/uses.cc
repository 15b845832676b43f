// Every kind of template of the library, instantiated once: a user's compiler takes it, with its
// sanitizers too. Some of those accept fewer constant expressions.
#include <vole/vole.h>

#include <memory>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct throws_when_moved {
  throws_when_moved() = default;
  throws_when_moved(throws_when_moved&&) noexcept(false) {}
};

template <class T>
void every_operation(T value, T other) {
  const vole::chan<T> c(1);
  c.send(std::move(value));
  (void)c.recv();
  (void)c.try_send(std::move(other));
  (void)c.try_recv();
  (void)c.send_for(T(), 1ms);
  (void)c.recv_for(1ms);
  const vole::context ctx = vole::context::background();
  (void)c.send(T(), ctx);
  (void)c.recv(ctx);
  const vole::send_chan<T> to = c;
  const vole::recv_chan<T> from = c;
  std::optional<T> v;
  vole::select(vole::on_recv(from, v), vole::on_default());
  vole::select(vole::on_send(to, T(), [] {}), vole::on_after(1ms));
  std::vector<vole::select_case> cases;
  cases.emplace_back(vole::on_recv(from, [](std::optional<T>) {}));
  cases.emplace_back(vole::on_recv(from, [](T) {}));
  cases.emplace_back(vole::on_send(to, T()));
  vole::select(cases);
  to.close();
  for ([[maybe_unused]] auto each : from) {
  }
}

void channels() {
  every_operation<char>('a', 'b');
  every_operation<int>(1, 2);
  every_operation<double>(1, 2);
  every_operation<std::monostate>({}, {});
  every_operation<std::string>("a", "b");
  every_operation<std::unique_ptr<int>>(nullptr, nullptr);
  every_operation<throws_when_moved>({}, {});
}

void synchronisation() {
  vole::mutex m;
  vole::shared_mutex s;
  vole::condition_variable changed;
  std::unique_lock lock(m);
  changed.wait_for(lock, 1ms, [] { return true; });
  std::shared_lock shared(s);
  vole::semaphore some(1);
  some.acquire();
  vole::once first;
  first.call([] {});
  vole::wait_group all;
  all.go([] {});
  all.wait();
  vole::pool<std::string> strings([] { return std::string("x"); });
  strings.put(strings.get());
  static vole::local<std::string> mine;
  mine->clear();
}

void containers() {
  vole::concurrent_map<std::string, std::shared_ptr<int>> m;
  m.store("a", nullptr);
  m.update("a", [](std::optional<std::shared_ptr<int>>& v) { v.reset(); });
  m.for_each([](const std::string&, const std::shared_ptr<int>&) {});
  vole::singleflight<int, std::string> s;
  (void)s.call(1, [] { return "x"; });
  vole::singleflight<std::string, void> nothing;
  nothing.call("x", [] {});
}

void the_rest() {
  {
    static constexpr vole::context_key<std::string> kKey{"key"};
    auto made = vole::with_timeout(vole::context::background(), 1h);
    const vole::context ctx = vole::with_value(made.ctx, kKey, "value");
    (void)ctx.value(kKey);
    vole::select(vole::on_done(ctx), vole::on_default());
    vole::group g(ctx);
    g.go([] {});
    g.wait();
    vole::after_func(ctx, [] {}).stop();
  }
  (void)vole::spawn([](std::string text) { return text; }, "x").join();
  vole::after_func(1h, [] {}).stop();
  (void)vole::blocking([] { return std::string("x"); });
}

}  // namespace

int main() {
  return vole::run([] {
    channels();
    synchronisation();
    containers();
    the_rest();
  });
}
