// Stack overflows and other faults, on goroutines and on plain threads.

#include <csignal>
#include <cstdint>
#include <cstdlib>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scenario.h"

namespace {

using namespace vole::crash_test;

volatile int never = -1;

// Frames smaller than a page: none steps over the guard.
[[gnu::noinline]] int dig(int depth) {
  volatile char room[256];
  room[0] = static_cast<char>(depth);
  if (depth == never) return 0;
  return dig(depth + 1) + room[0];
}

// Address 64: never mapped, and unlike null nothing that UBSan reports first.
void read_nowhere() {
  volatile std::uintptr_t nowhere = 64;
  static_cast<void>(*reinterpret_cast<volatile int*>(static_cast<std::uintptr_t>(nowhere)));
}

template <class F>
int on_goroutine(const vole::go_options& options, F fn) {
  return vole::run([&] {
    vole::wait_group done;
    done.add(1);
    vole::go(options, [&] {
      fn();
      done.done();
    });
    done.wait();
    return kAlive;
  });
}

// A thread of the program's own, while a runtime runs. Joined in user code: the goroutine's
// thread blocks.
int on_thread(void* (*body)(void*), std::size_t stack = 0) {
  return vole::run([&] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack != 0) pthread_attr_setstacksize(&attributes, stack);
    pthread_t t;
    if (pthread_create(&t, &attributes, body, nullptr) != 0) return 1;
    pthread_join(t, nullptr);
    return kAlive;
  });
}

int overflow() {
  return on_goroutine({}, [] { dig(0); });
}
int overflow_small() {
  return on_goroutine({.stack_size = 64 * 1024}, [] { dig(0); });
}
int overflow_named() {
  return on_goroutine({.name = "digger"}, [] {
    until_dump_has("(main) [waiting, wait group");
    dig(0);
  });
}
int overflow_main() {
  return vole::run([] { return dig(0); });
}

// One who has changed threads and stacks before: the handler finds the goroutine that runs now.
int overflow_late() {
  return on_goroutine({.name = "late", .stack_size = 128 * 1024}, [] {
    for (int i = 0; i < 100; ++i) vole::yield();
    dig(0);
  });
}

[[gnu::noinline]] void call_nowhere() {
  volatile std::uintptr_t nowhere = 64;
  reinterpret_cast<void (*)()>(static_cast<std::uintptr_t>(nowhere))();
  never = -2;  // not a tail call
}
// Called by a function of the library in which malloc is.
int compare_nowhere(const void*, const void*) { return read_nowhere(), 0; }
int nowhere_below_libc() {
  return on_goroutine({}, [] {
    int two[2] = {};
    std::qsort(two, 2, sizeof(int), compare_nowhere);
  });
}
int nowhere_called() { return on_goroutine({}, call_nowhere); }
int nowhere_goroutine() { return on_goroutine({}, read_nowhere); }
int nowhere_named() { return on_goroutine({.name = "lost"}, read_nowhere); }

// A page of a file that has become shorter.
int beyond_the_file() {
  return on_goroutine({}, [] {
    const int file = memfd_create("short", 0);
    if (ftruncate(file, 4096) != 0) return;
    const auto* const page = static_cast<volatile char*>(
        mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0));
    if (ftruncate(file, 0) == 0) static_cast<void>(*page);
  });
}

// Not for UBSan, which would be first.
__attribute__((no_sanitize("undefined"))) void divide_by_zero() {
  volatile int zero = 0;
  volatile int one = 1, result = one / zero;
  static_cast<void>(result);
}
int division() { return on_goroutine({}, divide_by_zero); }
int illegal() {
  return on_goroutine({}, [] { __builtin_trap(); });
}
int division_thread() {
  return on_thread([](void*) -> void* {
    divide_by_zero();
    return nullptr;
  });
}
int nowhere_thread() {
  return on_thread([](void*) -> void* {
    read_nowhere();
    return nullptr;
  });
}
int nowhere_after_run() {
  vole::run([] {});
  read_nowhere();
  return kAlive;
}
int sent() {
  return on_goroutine({}, [] { raise(SIGSEGV); });
}

int thread_overflow() {
  return on_thread([](void*) -> void* { return dig(0), nullptr; }, 128 * 1024);
}

// With an alternate stack of its own, so that our handler does run, and must say nothing.
int thread_overflow_heard() {
  return on_thread(
      [](void*) -> void* {
        static char memory[64 * 1024];
        const stack_t alternate{memory, 0, sizeof memory};
        sigaltstack(&alternate, nullptr);
        return dig(0), nullptr;
      },
      128 * 1024);
}

void put(const char* text) {
  if (write(STDOUT_FILENO, text, std::strlen(text)) < 0) _exit(1);
}

void users_handler(int) {
  put("the user's handler\n");
  _exit(42);
}

void users_siginfo_handler(int number, siginfo_t* info, void* context) {
  const bool whole = number == SIGSEGV && context != nullptr &&
                     reinterpret_cast<std::uintptr_t>(info->si_addr) == 64;
  put(whole ? "the user's handler\n" : "the user's handler, misinformed\n");
  _exit(42);
}

void install_plain() {
  struct sigaction a {};
  a.sa_handler = users_handler;
  sigaction(SIGSEGV, &a, nullptr);
}

void install_siginfo() {
  struct sigaction a {};
  a.sa_sigaction = users_siginfo_handler;
  a.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &a, nullptr);
}

template <void (*Install)(), int (*Then)()>
int with_handler() {
  Install();
  return Then();
}

constexpr scenario kAll[] = {
    {"overflow", overflow},
    {"overflow_small", overflow_small},
    {"overflow_named", overflow_named},
    {"overflow_main", overflow_main},
    {"overflow_late", overflow_late},
    {"overflow_handled", with_handler<install_plain, overflow>},
    {"nowhere_goroutine", nowhere_goroutine},
    {"nowhere_named", nowhere_named},
    {"nowhere_called", nowhere_called},
    {"nowhere_below_libc", nowhere_below_libc},
    {"beyond_the_file", beyond_the_file},
    {"division", division},
    {"illegal", illegal},
    {"division_thread", division_thread},
    {"nowhere_thread", nowhere_thread},
    {"nowhere_after_run", nowhere_after_run},
    {"sent", sent},
    {"thread_overflow", thread_overflow},
    {"thread_overflow_heard", thread_overflow_heard},
    {"handled_goroutine", with_handler<install_plain, nowhere_goroutine>},
    {"handled_goroutine_siginfo", with_handler<install_siginfo, nowhere_goroutine>},
    {"handled_thread", with_handler<install_siginfo, nowhere_thread>},
    {"handled_after_run", with_handler<install_siginfo, nowhere_after_run>},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
