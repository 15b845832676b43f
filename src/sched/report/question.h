// The stack of a goroutine that runs. Its registers are in a processor, so its thread is asked by a
// signal, whose handler walks the goroutine's stack from the interrupted registers and leaves the
// return addresses in a slot.
//
//     the asker                                 the thread, in the handler
//     slot: free -> being filled -> asked
//     M::question = the slot's ticket
//     the signal                                M::question -> 0: a ticket?
//                                               asked -> answering; walks; answering -> answered
//     waits, for a limited time: answered?
//       no: asked -> free                       (a handler that comes later finds another ticket)
//       no: answering -> left                   left -> free, by the handler when it is done
//
// Who    dumps, stall reports, last words; any thread, in user context or on a dying one. Several may
//        ask at the same time. on_question: the handler.
// Where  no lock, no malloc: slots are static and never freed, so a handler that comes late writes
//        to nothing that is gone.
// Law    nobody waits for longer than kAnswerWithin in all, whatever the threads do: the signal may be
//        blocked, the thread stopped, over, or another one by now.
// Law    a thread that sleeps in the kernel is not asked: the signal would end its call with EINTR
//        where SA_RESTART does not help (nanosleep, poll). One that falls asleep between our look
//        and the signal may see that, as with every signal that a program gets.
// Note   a thread that has no processor takes the signal before its next instruction. So the stack is
//        that of the moment when the signal was sent, also if that was long ago; and the asker may
//        send while the world is stopped and wait when it runs again.
// Note   the handler may interrupt anything: malloc, the loader, the runtime with its locks held. It
//        only reads M, the G that the M runs, that G's stack and the code's tables, and takes no lock.
//        In the middle of a switch M::curg and the stack pointer do not fit each other: then the
//        answer is "elsewhere".
// Note   the record of an M that ends stays until the runtime ends, which waits for guests and stops
//        the world first. Its thread's id may be another thread's by then, which has no question.
//        In a forked child the threads are gone, and it may not dump. ThreadSanitizer delays signal
//        handlers: in its builds nobody is asked.
// Proof  tests/api/running_test.cc, tests/stress/report_stress_test.cc
#pragma once

#include <cstddef>
#include <cstdint>

#include "gmp/m.h"
#include "sched/report/capture.h"

namespace vole::rt {

class questions {
 public:
  static constexpr std::size_t kMost = 128;

  questions() noexcept = default;
  ~questions() { give_up(); }
  questions(const questions&) = delete;
  questions& operator=(const questions&) = delete;

  enum class sent : std::uint8_t {
    yes,
    asleep,  // in the kernel
    no,      // the system, another asker, or too many
  };
  // m runs g, as far as the caller knows. `tag` comes back with the answer.
  sent ask(M& m, const G& g, std::size_t tag) noexcept;

  // fn(tag, frames, n, sp) for each that answered. Those that have not by now are given up.
  template <class Fn>
  void collect(Fn&& fn) noexcept;
  // Until all have answered, but not for long.
  void wait() noexcept;

 private:
  struct pending {
    M* m;
    std::uint32_t ticket;
    std::size_t tag;
  };
  struct answer {
    const std::uintptr_t* frames;
    std::size_t n;
    std::uintptr_t sp;
  };
  // False: there is none.
  static bool answer_to(const pending& p, answer* a) noexcept;
  static void drop(const pending& p) noexcept;
  void give_up() noexcept;

  pending asked_[kMost];
  std::size_t n_ = 0;
};

template <class Fn>
void questions::collect(Fn&& fn) noexcept {
  for (std::size_t i = 0; i < n_; ++i)
    if (answer a; answer_to(asked_[i], &a)) fn(asked_[i].tag, a.frames, a.n, a.sp);
  give_up();
}

// os::question_hook.
void on_question(const void* context) noexcept;

// From the registers of code that a signal has interrupted, g's. Returns how many; 0: it is
// elsewhere, not on g's stack.
std::size_t walk_interrupted(const G& g, const void* context, std::uintptr_t* out, std::size_t most,
                             std::uintptr_t* sp) noexcept;

// The M that runs g, as far as can be told. Null: none.
M* thread_of(const G& g) noexcept;

}  // namespace vole::rt
