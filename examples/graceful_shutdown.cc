// Graceful shutdown: SIGTERM ends the intake; what was begun is finished; nothing is left behind.
//
// Teaches: signal_context() is a context that a signal cancels; a group waits for its goroutines, so
// their destructors run before run() returns. (A goroutine that is still there when run() returns is
// abandoned, as in Go: its destructors do not run.) This program sends itself the signal.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>

namespace {

using namespace std::chrono_literals;

std::atomic<int> begun{0}, finished{0}, closed{0};

struct log_file {  // stands for anything that must be flushed or given back
  ~log_file() { ++closed; }
};

void worker(const vole::context& ctx) {
  const log_file mine;
  while (!ctx.err()) {
    ++begun;
    vole::sleep_for(1ms);  // a piece of work: it is not interrupted
    ++finished;
    vole::select(vole::on_after(1ms), vole::on_done(ctx));  // a pause: it ends with the context
  }
}

}  // namespace

int main() {
  return vole::run([] {
    // Not auto [ctx, cancel]: clang before 16 cannot capture the names of a structured binding.
    vole::cancelable stop = vole::signal_context(vole::context::background(), {SIGINT, SIGTERM});
    vole::group workers(stop.ctx);
    for (int i = 0; i < 3; ++i) workers.go([&] { worker(workers.context()); });

    vole::after_func(20ms, [] { std::raise(SIGTERM); });  // the operator
    stop.ctx.done().recv();
    try {
      std::rethrow_exception(stop.ctx.cause());
    } catch (const vole::signal_received& s) {
      std::printf("signal %d: finishing\n", s.number());
    }
    stop.cancel();   // from here on a second signal ends the program at once
    workers.wait();  // every worker has returned, and its log_file is closed

    std::printf("%d pieces begun, %d finished, %d logs closed\n", begun.load(), finished.load(),
                closed.load());
    return begun == finished && closed == 3 ? 0 : 1;
  });
}
