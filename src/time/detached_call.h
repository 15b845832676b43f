// A goroutine that does one thing for a counted record and then drops its reference.
//
// Who    src/time, which keeps users' functions until their time has come.
// Law    the goroutine takes over one reference. Does has
//          static void work(Record&)              on the goroutine
//          static void drop(Record*) noexcept     lets go; user context
//          static void forget(Record*) noexcept   lets go after the runtime has ended:
//                                                 runs no user code, destructors neither
// Note   a goroutine that a dead runtime left on a zombie keeps its reference for ever.
#pragma once

#include "base/race.h"
#include "sched/life/spawn.h"
#include "sched/wait/place.h"

namespace vole {
inline namespace v0 {
namespace detail {

template <class Record, class Does = Record>
struct detached_call {
  // Called before another thread may learn of the record and start it: the goroutine comes after this.
  static void before(const Record* r) noexcept { base::race::release(r); }
  // Any thread, user context.
  static void start(Record* r, void* created_at) noexcept {
    rt::spawn_trivial(kBirth, created_at, &r, sizeof(r));
  }
  // Inside: a timer's M, or null for a guest.
  static void start_from_timer(rt::M* m, Record* r, void* created_at) noexcept {
    rt::spawn_from_timer(m, kBirth, created_at, &r, sizeof(r));
  }

 private:
  static void invoke(void* callable) {
    struct let_go {
      Record*& mine;
      ~let_go() {
        Record* const r = mine;
        mine = nullptr;
        Does::drop(r);
      }
    } const at_the_end{*static_cast<Record**>(callable)};
    base::race::acquire(at_the_end.mine);
    Does::work(*at_the_end.mine);
  }
  static void abandon(void* callable, bool running) noexcept {
    Record* const r = *static_cast<Record**>(callable);
    if (!running && r != nullptr) Does::forget(r);
  }
  static constexpr rt::birth kBirth{&invoke, &abandon};
};

// Calls f(M*) inside the runtime, which is started first if none runs; M is null for a guest.
template <class F>
void inside_started(F&& f) noexcept {
  rt::M* const m = rt::enter_either_started();
  f(m);
  rt::leave_either(m);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
