// A program that traces itself: the flight recorder keeps the last seconds at all times, and a request
// that was slow writes them to a file. Teaches: trace::record and snapshot; tasks, regions and log
// lines, which name in the trace what the program knows. `tracing FILE`, then `vole trace view FILE`:
// the requests behind the slow one wait for a mutex; click such a wait, and the page says who had it.

#include <vole/vole.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <string>

namespace {
using namespace std::chrono_literals;
constexpr auto kSlow = 40ms;

class server {
 public:
  explicit server(std::string file) : file_(std::move(file)) {}

  // One request. A task may span goroutines; a region is a part of what one goroutine does.
  void handle(int number) {
    const auto begin = vole::now();
    const vole::trace::task request("request " + std::to_string(number));
    {
      const vole::trace::region r("look up");
      look_up(number);
    }
    request.log("took", std::to_string((vole::now() - begin) / 1ms) + " ms");
    if (vole::now() - begin > kSlow) slow_.call([&] { keep_trace(number); });  // the first one only
  }

  bool was_slow() const { return is_kept_; }

 private:
  void look_up(int number) {
    const std::lock_guard hold(cache_);
    vole::sleep_for(number == 3 ? 60ms : 1ms);  // request 3 asks its question with the mutex locked
  }

  void keep_trace(int number) {
    std::error_code error;
    vole::trace::snapshot(file_, error);  // stops nobody; the recorder goes on
    is_kept_ = !error;
    std::printf("request %d was slow: %s\n", number,
                error ? error.message().c_str() : file_.c_str());
  }

  const std::string file_;
  vole::mutex cache_;
  vole::once slow_;
  bool is_kept_ = false;
};
}  // namespace

int main(int argc, char** argv) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string file =
      argc > 1 ? argv[1] : folder / ("slow-" + std::to_string(getpid()) + ".trace");
  vole::trace::record({.bytes = 4u << 20, .window = 5s});
  server s(file);
  vole::run([&] {
    vole::wait_group requests;
    for (int i = 1; i <= 8; ++i) {
      requests.go({.name = "request"}, [&s, i] { s.handle(i); });
      vole::sleep_for(2ms);
    }
    requests.wait();
  });
  vole::trace::stop_recording();
  if (argc < 2) std::filesystem::remove(file);
  return s.was_slow() ? 0 : 1;
}
