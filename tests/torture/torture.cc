// Everything at once, for as long as one likes: torture [SECONDS [PS...]]
//
// Phases with 1, 2, 3, 8 and 64 Ps (or those that are named) follow each other until the time is
// over. In each, runtimes start and end; in each of those all players play (torture.h), and what
// they do is checked throughout. After each phase memory, threads and open files are what they were
// before the first.
//
// VOLE_SEED=n repeats what the players do; the kernel's scheduling is not seeded. VOLE_DEBUG is as for
// every program: storm=100 takes Ps away all the while. VOLE_PICTURE=file draws what is left after each
// phase, as an SVG.
//
// Exit   0; 1: something did not hold, or a round did not end (with the seed and all goroutines);
//        2: usage.

#include "torture.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../api/fixture.h"

namespace torture {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using vole_test::kSanitized;

constexpr auto kRound = 700ms;
constexpr auto kPatience = 180s;       // for a round to end, on a machine with much else to do
constexpr long kHeap = 512 * 1024;     // more than at first is a leak
constexpr long kResident = 24 * 1024;  // KiB; what the allocator keeps differs
constexpr int kEach = 3;               // goroutines of each player; of breakers one

std::uint64_t seed;
std::atomic<clock::rep> round_ends{0};  // 0: none is on

std::uint64_t choose_seed() {
  const char* const set = std::getenv("VOLE_SEED");
  return set != nullptr ? std::strtoull(set, nullptr, 10) : std::random_device{}();
}

// A round that does not end is a bug, and who hangs is in the dump.
void watch() {
  for (;;) {
    std::this_thread::sleep_for(500ms);
    const clock::rep ends = round_ends;
    if (ends != 0 && clock::now().time_since_epoch().count() > ends)
      fail("a round does not end", __FILE__, __LINE__);
  }
}

struct needs {
  long heap, resident_kb;
  std::ptrdiff_t threads, files;
};

long resident_kb() {
  long pages = 0;
  if (std::FILE* const f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

needs measure() {
  malloc_trim(0);
  return {static_cast<long>(mallinfo2().uordblks), resident_kb(), vole_test::kernel_threads(),
          vole_test::open_files()};
}

// The kernel may list a joined thread for a moment.
void expect_no_more_than(const needs& at_first) {
  const bool gone =
      vole_test::eventually([&] { return vole_test::kernel_threads() <= at_first.threads; });
  const needs now = measure();
  if (!gone) fail(std::to_string(now.threads) + " threads are left", __FILE__, __LINE__);
  if (now.files != at_first.files)
    fail(std::to_string(now.files) + " files are open, not " + std::to_string(at_first.files),
         __FILE__, __LINE__);
  if (kSanitized) return;  // those keep memory of their own
  if (now.heap > at_first.heap + kHeap)
    fail("the heap has grown by " + std::to_string(now.heap - at_first.heap) + " bytes", __FILE__,
         __LINE__);
  if (now.resident_kb > at_first.resident_kb + kResident)
    fail("memory has grown by " + std::to_string(now.resident_kb - at_first.resident_kb) + " KiB",
         __FILE__, __LINE__);
}

struct role {
  player who;
  std::uint64_t turns = 0;  // its goroutine's
};

// As many goroutines as roles, each at its play; and some that are left behind when the runtime ends.
void play(int procs, dice& d, std::vector<role>& roles) {
  round_ends = (clock::now() + kRound + kPatience).time_since_epoch().count();
  vole::set_max_procs(procs);
  vole::run([&] {
    round now{procs};
    vole::wait_group all;
    for (role& s : roles)
      all.go(vole::go_options{.name = s.who.name}, [&, mine = d.fork()]() mutable {
        do {
          s.who.act(now, mine);
          ++s.turns;
        } while (!now.over);
      });
    vole::sleep_for(kRound);
    now.over = true;
    all.wait();
    if (!d.once_in(2)) return;
    for (int i = 0; i < 10; ++i) vole::go([] { vole::select(); });
    vole::go([] { vole::sleep_for(1h); });
    vole::yield();
  });
  MUST(vole::num_goroutines() == 0);
  round_ends = 0;
}

// A runtime that nobody has started begins with the first goroutine.
void without_run() {
  const vole::chan<int> c;
  auto sender = vole::spawn([c] { c.send(1); });
  MUST(c.recv() == 1);
  sender.join();
  vole::shutdown();
}

std::vector<role> all_roles() {
  std::vector<role> roles;
  for (const auto& list : {talkers(), waiters()})
    for (const player& p : list)
      for (int i = 0; i < kEach; ++i) roles.push_back({p});
  for (const player& p : breakers()) roles.push_back({p});
  return roles;
}

void phase(int procs, clock::duration length, dice& d) {
  std::vector<role> roles = all_roles();
  const auto from = clock::now();
  int rounds = 0;
  do {
    play(procs, d, roles);
    without_run();
    ++rounds;
  } while (clock::now() - from < length);
  std::uint64_t acts = 0;
  for (const role& s : roles) {
    MUST(s.turns > 0);
    acts += s.turns;
  }
  std::printf("%2d Ps: %3d rounds, %7" PRIu64 " acts in %.1f s", procs, rounds, acts,
              std::chrono::duration<double>(clock::now() - from).count());
}

int torment(double seconds, const std::vector<int>& procs) {
  mallopt(M_ARENA_MAX, 1);  // what many of them keep differs from run to run
  dice d(seed);
  std::thread(watch).detach();
  std::vector<role> once = all_roles();
  for (const int p : {1, 8}) play(p, d, once);  // what a process keeps for good is there now
  without_run();
  (void)vole_test::eventually([] { return vole_test::kernel_threads() <= 2; });
  const needs at_first = measure();
  std::vector<sample> samples;
  samples.reserve(100'000);  // does not grow meanwhile: the heap is measured
  const auto from = clock::now();
  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(
                                      std::chrono::duration<double>(seconds));
  const auto length =
      std::min<clock::duration>(5s, (end - clock::now()) / static_cast<clock::rep>(procs.size()));
  do {
    for (const int p : procs) {
      phase(p, length, d);
      expect_no_more_than(at_first);
      const needs now = measure();
      std::printf("; %ld KiB, %td threads, %td files\n", now.resident_kb, now.threads, now.files);
      std::fflush(stdout);
      samples.push_back({std::chrono::duration<double>(clock::now() - from).count(), p,
                         now.resident_kb, now.threads, now.files});
    }
  } while (clock::now() < end);
  const char* const picture = std::getenv("VOLE_PICTURE");
  if (picture != nullptr && !draw(picture, seed, samples)) fail("cannot draw", __FILE__, __LINE__);
  std::puts("everything held");
  return 0;
}

}  // namespace

void fail(const std::string& sentence, const char* file, int line) {
  static std::mutex once;
  once.lock();  // for good: the first one speaks
  std::fflush(stdout);
  std::fprintf(stderr, "\ntorture: %s (%s:%d)\nVOLE_SEED=%" PRIu64 "\n", sentence.c_str(), file,
               line, seed);
  vole::dump_goroutines(stderr);
  std::fflush(stderr);
  std::_Exit(1);
}
void fail(const char* sentence, const char* file, int line) {
  fail(std::string("this must hold: ") + sentence, file, line);
}

}  // namespace torture

int main(int argc, char** argv) {
  double seconds = 10;
  std::vector<int> procs;
  char* end = nullptr;
  for (int i = 1; i < argc; ++i) {
    const double n = std::strtod(argv[i], &end);
    if (*end != '\0' || n <= 0 || (i > 1 && n > 1024)) {
      std::fprintf(stderr, "usage: torture [SECONDS [PS...]]\n");
      return 2;
    }
    if (i == 1) {
      seconds = n;
    } else {
      procs.push_back(static_cast<int>(n));
    }
  }
  if (procs.empty()) procs = {1, 2, 3, 8, 64};
  torture::seed = torture::choose_seed();
  std::printf("VOLE_SEED=%" PRIu64 "\n", torture::seed);
  return torture::torment(seconds, procs);
}
