// A file as it is shipped (src/net/pollable.cc, wait.cc) on the checker: plain threads take
// turns, wait for events, set deadlines, close and let go.
//
// Law    one at a time each way; nobody sleeps for ever once it is closed; the fd is closed once,
//        after the last one has left and before close() returns; the record is freed once.
// Note   the goroutine's half differs in how it sleeps and in being abandoned: tests/stress has
//        that.
#include "net/interrupt.cc"
#include "net/pollable.cc"
#include "net/wait.cc"

#include <utility>

#include "mutants.h"

namespace {

using vole::detail::pollable;
using vole::rt::poll::way;
using namespace vole::base;

// What the kernel has, in the execution that is running.
struct kernel {
  vole::rt::poll::descriptor d{};
  atomic<int> bytes{0};
  atomic<int> closed{0};
  model::var<int> used;  // the file, by whoever has the turn; and by its end

  void use_file() { used = used.get() + 1; }
};
kernel* now = nullptr;

}  // namespace

namespace vole::os {
std::int64_t now_ns() noexcept { return 5; }
void park_forever() noexcept { base::fatal("os: parked for ever"); }
}  // namespace vole::os

namespace vole::rt::poll {
int open(int, descriptor** out) noexcept {
  *out = &now->d;
  return 0;
}
void close(descriptor*) noexcept {}
}  // namespace vole::rt::poll

namespace vole::os::net {
result close(int) noexcept {
  now->use_file();
  model::require(now->closed.exchange(1, seq_cst) == 0, "closed twice");
  return {};
}
result make_nonblocking(int, bool) noexcept { return {}; }
}  // namespace vole::os::net

namespace {

enum class fault { none, torn, no_futex, closes_anyhow };

struct scene {
  kernel k;
  pollable* file;
  atomic<int> left;  // threads that still use the handle

  explicit scene(int threads, fault f) : left(threads) {
    now = &k;
    file = new pollable(7);
    file->attach();
    const int word = model::atomic_in(*file);
    model::name(word, "word");
    if (f == fault::torn) model::tear(word);
    if (f == fault::no_futex) model::drop(model::call::futex_wake);
  }
  // The handle's owner joins its users, then destroys it.
  void done() {
    if (left.fetch_sub(1, acq_rel) == 1) file->drop();
  }
  void finish() {
    model::require(k.closed.load(relaxed) == 1, "never closed");
    model::require(left.load(relaxed) == 0, "somebody is still there");
  }
};

// Two take turns; one closes in the middle.
struct turns : scene {
  turns(int users, fault f) : scene(users + 1, f) {
    static constexpr const char* kNames[] = {"one", "two", "three"};
    for (int i = 0; i < users; ++i)
      model::spawn(kNames[i], [this] {
        if (file->acquire(way::in)) {
          k.use_file();
          file->release(way::in);
        }
        done();
      });
    model::spawn("closer", [this, f] {
      if (f == fault::closes_anyhow) vole::os::net::close(7);
      file->close();
      model::require(k.closed.load(relaxed) == 1, "close() returned before the file was closed");
      done();
    });
  }
};

// A reader that has to wait, an event or none, a deadline or none, and the end.
struct reading : scene {
  reading(bool event, bool deadline, fault f) : scene(2 + (event ? 1 : 0) + (deadline ? 1 : 0), f) {
    model::spawn("reader", [this] {
      if (file->acquire(way::in)) {
        while (file->state(way::in) == pollable::outcome::go_on && k.bytes.load(relaxed) == 0)
          file->wait(way::in);
        k.use_file();
        file->release(way::in);
      }
      done();
    });
    if (event)
      model::spawn("poller", [this] {
        k.bytes.store(1, relaxed);
        if (auto* const w = vole::rt::poll::unblock(k.d, way::in, true))
          vole::rt::wake(nullptr, w, 0);
        done();
      });
    if (deadline)
      model::spawn("deadline", [this] {
        file->set_deadline(way::in, 1);
        done();
      });
    model::spawn("closer", [this] {
      file->close();
      done();
    });
  }
};

// A context with one wait at a time, as time/interrupt.cc has many.
class context_of_one final : public vole::rt::interrupter {
 public:
  explicit context_of_one(bool forgets_to_wake) : forgets_(forgets_to_wake) {}
  bool arm(vole::rt::interrupt& i) noexcept override {
    lock_.acquire_next_of_kind();
    const bool live = !done_;
    if (live) linked_ = &i;
    if (live) i.linked = true;
    lock_.release();
    return live;
  }
  bool disarm(vole::rt::interrupt& i) noexcept override {
    holding hold(lock_);
    if (!i.linked) return false;
    i.linked = false;
    linked_ = nullptr;
    return true;
  }
  void cancel() noexcept {
    lock_.acquire();
    done_ = true;
    vole::rt::interrupt* i = std::exchange(linked_, nullptr);
    if (i != nullptr) i->linked = false;
    if (i != nullptr && !i->claim(*i, nullptr)) i = nullptr;
    lock_.release();
    if (i != nullptr && !forgets_) i->fire(*i, nullptr);
  }

 private:
  vole::base::lock<lock_rank::object> lock_;
  vole::rt::interrupt* linked_ = nullptr;
  bool done_ = false;
  const bool forgets_;
};

// Nobody closes before all are out: a wait that the context does not end never does.
struct canceled : scene {
  canceled(int threads, bool forgets) : scene(threads, fault::none), ctx(forgets) {}
  void leave() {
    if (left.fetch_sub(1, acq_rel) != 1) return;
    file->close();
    file->drop();
  }
  void cancel() {
    model::spawn("context", [this] {
      ctx.cancel();
      leave();
    });
  }
  context_of_one ctx;
};

// A reader waits for an event that comes or not.
struct canceled_read : canceled {
  canceled_read(bool event, bool forgets) : canceled(event ? 3 : 2, forgets) {
    model::spawn("reader", [this] {
      auto o = file->acquire(way::in, &ctx);
      if (o == pollable::outcome::go_on) {
        while (o == pollable::outcome::go_on && k.bytes.load(relaxed) == 0)
          o = file->wait(way::in, &ctx);
        k.use_file();
        file->release(way::in);
      }
      leave();
    });
    cancel();
    if (event)
      model::spawn("poller", [this] {
        k.bytes.store(1, relaxed);
        if (auto* const w = vole::rt::poll::unblock(k.d, way::in, true))
          vole::rt::wake(nullptr, w, 0);
        leave();
      });
  }
};

// A reader queues behind another one, and behind nobody's fault.
struct canceled_turn : canceled {
  canceled_turn(int patient, bool forgets) : canceled(patient + 2, forgets) {
    static constexpr const char* kNames[] = {"one", "two"};
    for (int i = 0; i < patient; ++i)
      model::spawn(kNames[i], [this] {
        model::require(file->acquire(way::in), "it is open");
        k.use_file();
        file->release(way::in);
        leave();
      });
    model::spawn("reader", [this] {
      if (file->acquire(way::in, &ctx) == pollable::outcome::go_on) {
        k.use_file();
        file->release(way::in);
      }
      leave();
    });
    cancel();
  }
};

TEST(PollableModel, AContextEndsAWait) {
  model::holds<canceled_read>("read, cancel", {.preemptions = 3, .seconds = 2}, false, false);
  model::holds<canceled_read>("read, event, cancel", {.preemptions = 2, .seconds = 2}, true, false);
}
TEST(PollableModel, AContextEndsAPlaceInTheQueue) {
  model::holds<canceled_turn>("one before, cancel", {.preemptions = 3, .seconds = 2}, 1, false);
  model::holds<canceled_turn>("two beside, cancel", {.preemptions = 2, .seconds = 2}, 2, false);
}
TEST(PollableModel, AContextThatForgetsToWakeIsCaught) {
  model::catches<canceled_read>("said, and nobody woken", {}, false, true);
  model::catches<canceled_turn>("claimed, and nobody woken", {}, 1, true);
}

TEST(PollableModel, TurnsAndAClose) {
  model::holds<turns>("one turn, close", {}, 1, fault::none);
  model::holds<turns>("two turns, close", {.preemptions = 2, .seconds = 2}, 2, fault::none);
}
TEST(PollableModel, AReaderThatWaits) {
  model::holds<reading>("read, close", {}, false, false, fault::none);
  model::holds<reading>("read, event, close", {.preemptions = 2, .seconds = 2}, true, false,
                        fault::none);
  model::holds<reading>("read, deadline, close", {.preemptions = 2, .seconds = 2}, false, true,
                        fault::none);
}
TEST(PollableModel, MutantsAreCaught) {
  model::catches<turns>("the word is torn", {}, 2, fault::torn);
  model::catches<turns>("no wake-ups", {}, 2, fault::no_futex);
  model::catches<turns>("closes under its users", {}, 1, fault::closes_anyhow);
  model::catches<reading>("a torn word under a reader", {}, false, true, fault::torn);
}

}  // namespace
