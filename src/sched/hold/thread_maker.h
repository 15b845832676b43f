// The thread maker: the one thread that creates threads.
//
// Who    new_m_locked, deliver: any M in the runtime. start, stop: the api, in user
//        context.
// Law    runtime code never calls pthread_create (HACKING.md, law 7): it may need a lock that a
//        frozen thread holds. A request is a linked M record and a futex wake.
// Note   the thread limit [2] is checked when the record is made; past it the
//        program ends with "thread exhaustion", as Go's does. It does not if threads run without
//        a P: they will come back, and until then there is just one P less. The same holds when
//        the kernel refuses a thread.
#pragma once

#include "gmp/m.h"
#include "sched/state.h"

namespace vole::rt::thread_maker {

// A record, counted; under the scheduler lock. nullptr: the limit is reached, by evictions.
M* new_m_locked() noexcept VOLE_REQUIRES(sched.lock);
bool may_grow_locked() noexcept VOLE_REQUIRES(sched.lock);  // could there be one thread more?
void tell_limit() noexcept;       // says, once, that there cannot, and what follows from it
void deliver(M* m) noexcept;    // its thread will start in m_main
void arrived() noexcept;        // first thing in m_main
// Does pthread_create take unusually long, and does the thread maker sleep in it? Then somebody holds a
// lock that it needs. Or has a thread that was created not come to m_main? Code that runs before that,
// such as a sanitizer's start, may need a lock, too. sysmon asks.
bool is_held_up(std::int64_t now) noexcept;
int start() noexcept;           // 0 or errno; waits until it is there: a captured thread could hold it up
void stop() noexcept;           // after this no thread is made

}  // namespace vole::rt::thread_maker
