// wait_readable without memory leaves a descriptor open.
//
//     wait_readable duplicates the descriptor
//     new pollable: std::bad_alloc
//     the caller catches it; the duplicate stays open, and the peer never sees the end
//
// It duplicates nothing any more, and needs no memory: without any it waits as always.
//
// This program's operator new fails when it is told to.

#include <sys/socket.h>
#include <unistd.h>
#include <vole/vole.h>

#include <cstdlib>
#include <new>

#include "regress.h"

namespace {
constinit thread_local bool no_memory = false;  // for the next object of this thread

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (no_memory) {
    no_memory = false;
    throw std::bad_alloc();
  }
  void* p = nullptr;
  if (posix_memalign(&p, alignment < sizeof p ? sizeof p : alignment, bytes) == 0) return p;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t n) { return allocate(n, alignof(std::max_align_t)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return std::malloc(n); }
void* operator new(std::size_t n, std::align_val_t a) {
  return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

VOLE_AT_PROCS(NoMemoryLeaksADescriptor, 1, 2);

TEST_P(NoMemoryLeaksADescriptor, WaitReadable) {
  run([] {
    int fd[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    vole::lock_os_thread();  // the flag is the thread's
    const auto soon = [] { return vole::now() + std::chrono::milliseconds(1); };
    EXPECT_FALSE(vole::wait_readable(fd[0], soon()));  // the poller is there from now on
    const auto before = vole_test::open_files();
    for (int i = 0; i < 10; ++i) {
      no_memory = true;
      EXPECT_FALSE(vole::wait_readable(fd[0], soon()));
      no_memory = false;
    }
    EXPECT_EQ(vole_test::open_files(), before);
    vole::unlock_os_thread();
    close(fd[0]);
    close(fd[1]);
  });
}

}  // namespace
