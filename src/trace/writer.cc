#include "trace/writer.h"

#include <new>

#include "base/fatal.h"
#include "base/note.h"
#include "os/os.h"
#include "trace/emit.h"
#include "trace/names.h"
#include "trace/recording.h"
#include "trace/shared.h"

namespace vole::rt::trace::writer {
namespace {

constexpr std::uint32_t kNotWorthASleep = 4;  // full chunks

struct writer_state {
  plan now;
  os::thread thread;
  note begun, done;
  atomic<std::uint32_t> order{0};
  const char* path = nullptr;  // of an order
  int result = 0;              // of an order
};
constinit writer_state own;

// What it comes to is own.result. True: that was the last order.
bool serve(recording& r, order what) {
  switch (what) {
    case order::none: break;
    case order::cut:
      r.cut();
      own.result = 0;
      break;
    case order::names: own.result = r.write_names(); break;
    case order::snapshot: own.result = r.write_snapshot(own.path); break;
    case order::end: own.result = r.finish(); return true;
  }
  return false;
}

void sleep(std::uint32_t seen_word, std::int64_t most) noexcept {
  shared.asleep.store(1, seq_cst);
  if (shared.full.load(seq_cst) < kNotWorthASleep)
    futex_wait_for(&shared.wake_word, seen_word, most);
  shared.asleep.store(0, seq_cst);
}

void serve_orders(recording& r) {
  for (;;) {
    const std::uint32_t seen_word = shared.wake_word.load(acquire);
    const auto what = static_cast<order>(own.order.exchange(0, seq_cst));
    if (what != order::none) {
      const bool last = serve(r, what);
      own.done.wake();
      if (last) return;
      continue;
    }
    r.look();
    sleep(seen_word, r.until_next());
  }
}

void writer_main(void*) noexcept {
  os::sharpen_timeouts();
  try {
    if (own.now.fd < 0) names::warm_up();
    recording r(own.now.fd, own.now.window, measure_ticks());
    r.begin();
    own.begun.wake();
    serve_orders(r);
  } catch (const std::bad_alloc&) {
    fatal("out of memory: no room for the trace's own records. A higher memory limit would help");
  }
}

}  // namespace

int start(const plan& p) noexcept {
  own.now = p;
  own.begun.clear();
  own.done.clear();
  own.order.store(0, relaxed);
  os::thread_spec spec;
  spec.main = &writer_main;
  spec.name = "vole-trace";
  spec.block_signals = true;
  if (const int error = os::create_thread(&own.thread, spec)) return error;
  own.begun.sleep();
  return 0;
}

int run(order what, const char* path) noexcept {
  own.path = path;
  own.result = 0;
  own.order.store(static_cast<std::uint32_t>(what), seq_cst);
  wake_writer();
  own.done.sleep();
  own.done.clear();
  return own.result;
}

void join() noexcept { os::join_thread(own.thread); }

void in_forked_child() noexcept {
  now_on.store(0, relaxed);
  shared.stamp.store(((shared.stamp.load(relaxed) >> 1) + 1) << 1 | 1, relaxed);
}

}  // namespace vole::rt::trace::writer
