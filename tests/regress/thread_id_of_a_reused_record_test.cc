// sysmon asks for the CPU time of a thread that has ended: a race on the record's thread id.
//
//     sysmon                                 M (its goroutine ends while locked [25])
//     m = p->m                               end_m: hands the P off, record to the free list
//                                            thread maker: the record is renewed for another thread
//     cpu_ns_of(m->tid)                      m_main: m->tid = thread_id()
//
// The id is atomic now. A wrong one costs a wrong guess: the P is taken only if it is
// still that M's. Only ThreadSanitizer can see it; without it this test walks the path.
// [27]

#include <vole/vole.h>

#include "regress.h"

namespace {

VOLE_AT_PROCS(ThreadIdOfAReusedRecord, 1, 2, 4);

TEST_P(ThreadIdOfAReusedRecord, ThreadsEndWhileTheyAreLookedAt) {
  vole::run([] {
    for (vole_test::rounds r(500); r.next();) {
      vole::wait_group gone;
      for (int i = 0; i < 6; ++i)
        gone.go([i] {
          vole::lock_os_thread();
          vole_test::compute_for(std::chrono::microseconds(100 * i));
        });
      gone.wait();
    }
  });
}

}  // namespace
