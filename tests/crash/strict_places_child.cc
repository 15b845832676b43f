// Programs in strict mode whose goroutines are stopped in awkward places: holding other people's
// locks, with live registers, in the middle of a throw. Everybody gets through, and finds all as it
// was.

#include <dlfcn.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <mutex>
#include <stdexcept>

#include "strict.h"

namespace {

using namespace vole::crash_test;

// ── locks of others ──

int std_mutex() {
  static std::mutex m;
  static std::uint64_t count = 0;
  return hammer(8, 1000, [](int) {
    std::lock_guard hold(m);
    const std::uint64_t was = count;
    work(500);
    VOLE_MUST(count == was);
    ++count;
  });
}

int allocation() {
  return hammer(8, 1000, [](int i) {
    std::string* all[64];
    for (auto*& s : all) s = new std::string(static_cast<std::size_t>(i) * 40 + 100, 'x');
    for (auto* s : all) {
      VOLE_MUST(s->back() == 'x');
      delete s;
    }
  });
}

int stdio() {
  static std::FILE* const f = std::fopen("/dev/null", "w");
  return hammer(8, 1000, [](int i) {
    for (int k = 0; k < 100; ++k) VOLE_MUST(std::fprintf(f, "%d %s\n", i, "text") > 0);
  });
}

// exit() locks every stream: also those that somebody was stopped in. One each: who waits for
// another's sleeps, loses its P and is stopped no more.
int exit_amid_stdio() {
  return vole::run([] {
    for (int i = 0; i < 8; ++i)
      vole::go([] {
        std::FILE* const f = std::fopen("/dev/null", "w");
        for (;;) std::fprintf(f, "%d %s\n", 5, "text");
      });
    until_preemptions(5);
    std::exit(7);
    return 1;
  });
}

int loader() {
  return hammer(4, 500, [](int) {
    void* const h = dlopen("libanl.so.1", RTLD_NOW | RTLD_LOCAL);
    if (h == nullptr) return work(1000);
    VOLE_MUST(dlclose(h) == 0);
  });
}

[[gnu::noinline]] void thrower(int depth) {
  if (depth == 0) throw std::runtime_error("text");
  const std::string frame(40, 'y');
  thrower(depth - 1);
  work(static_cast<int>(frame.size()));
}

int exceptions() {
  return hammer(6, 1000, [](int) {
    bool caught = false;
    try {
      thrower(10);
    } catch (const std::runtime_error& e) {
      work(200);
      caught = std::strcmp(e.what(), "text") == 0;
      try {
        thrower(1);
      } catch (...) {
        work(200);
      }
    }
    VOLE_MUST(caught);
    VOLE_MUST(std::uncaught_exceptions() == 0);
  });
}

[[gnu::noinline]] void never_throws() noexcept { work(2000); }

int in_noexcept() {
  return hammer(4, 500, [](int) { never_throws(); });
}

int in_vdso() {
  return hammer(4, 500, [](int) {
    timespec a{}, b{};
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int k = 0; k < 1000; ++k) clock_gettime(CLOCK_MONOTONIC, &b);
    VOLE_MUST(b.tv_sec > a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec >= a.tv_nsec));
  });
}

int errno_stays() {
  return hammer(4, 500, [](int i) {
    errno = 1000 + i;
    work(2000);
    VOLE_MUST(errno == 1000 + i);
  });
}

// ── registers ──

#if defined(__x86_64__)

// Values in registers, a loop, the values again. What is put in must come out.
template <std::size_t Bytes>
struct held {
  alignas(64) unsigned char in[Bytes], out[Bytes];
  explicit held(int seed) {
    for (std::size_t i = 0; i < Bytes; ++i)
      in[i] = static_cast<unsigned char>(i * 7 + static_cast<std::size_t>(seed) * 13 + 1);
    std::memset(out, 0, Bytes);
  }
  bool same() const { return std::memcmp(in, out, Bytes) == 0; }
};

#define VOLE_HOLD(load, low, high)                                                       \
  __asm__ volatile(load " (%[in]), %%" low "\n\t" load " (%[in]), %%" high "\n\t"        \
                   "movl $20000, %%ecx\n1:\tdecl %%ecx\n\tjnz 1b\n\t"                    \
                   load " %%" low ", (%[out])\n\t" load " %%" high ", (%[out])"          \
                   ::[in] "r"(h.in), [out] "r"(h.out)                                    \
                   : "ecx", "memory", "cc", "xmm1", "xmm15")

[[gnu::noinline]] void in_red_zone() {
  std::uint64_t sum = 0;
  __asm__ volatile(
      "movq $11, -8(%%rsp)\n\tmovq $22, -64(%%rsp)\n\tmovq $33, -128(%%rsp)\n\t"
      "movl $20000, %%ecx\n1:\tdecl %%ecx\n\tjnz 1b\n\t"
      "movq -8(%%rsp), %0\n\taddq -64(%%rsp), %0\n\taddq -128(%%rsp), %0"
      : "=&r"(sum)::"ecx", "cc", "memory");
  VOLE_MUST(sum == 66);
}

void hold_control(int i) {
  const std::uint32_t mxcsr = 0x1f80u | (static_cast<std::uint32_t>(i % 4) << 13);
  const std::uint16_t x87 = static_cast<std::uint16_t>(0x037f | ((i % 4) << 10));
  std::uint32_t mxcsr_after = 0;
  std::uint16_t x87_after = 0;
  double st0 = 0;
  const double pi = 3.25 + i;
  __asm__ volatile(
      "ldmxcsr %[m]\n\tfldcw %[c]\n\tfldl %[pi]\n\t"
      "movl $20000, %%ecx\n1:\tdecl %%ecx\n\tjnz 1b\n\t"
      "fstpl %[st0]\n\tstmxcsr %[ma]\n\tfnstcw %[ca]"
      : [ma] "=m"(mxcsr_after), [ca] "=m"(x87_after), [st0] "=m"(st0)
      : [m] "m"(mxcsr), [c] "m"(x87), [pi] "m"(pi)
      : "ecx", "cc", "st");
  VOLE_MUST(mxcsr_after == mxcsr);
  VOLE_MUST(x87_after == x87);
  VOLE_MUST(st0 == pi);
  const std::uint32_t plain_mxcsr = 0x1f80;
  const std::uint16_t plain_x87 = 0x037f;
  __asm__ volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(plain_mxcsr), "m"(plain_x87));
}

int registers() {
  static const bool avx = __builtin_cpu_supports("avx"), wide = __builtin_cpu_supports("avx512f");
  return hammer(6, 1000, [](int i) {
    hold_control(i);
    in_red_zone();
    if (!avx) {
      held<16> h(i);
      VOLE_HOLD("movups", "xmm1", "xmm15");
      VOLE_MUST(h.same());
    }
    if (avx) {
      held<32> h(i);
      VOLE_HOLD("vmovups", "ymm1", "ymm15");
      __asm__ volatile("vzeroupper" ::: "xmm1", "xmm15");
      VOLE_MUST(h.same());
    }
    if (wide) {
      held<64> h(i);
      VOLE_HOLD("vmovups", "zmm1", "zmm15");
      __asm__ volatile("vzeroupper" ::: "xmm1", "xmm15");
      VOLE_MUST(h.same());
    }
  });
}

#else

int registers() {
  return hammer(6, 1000, [](int i) {
    double a = i + 0.25, b = 1;
    for (int k = 0; k < 20000; ++k) b += a;
    VOLE_MUST(b == 1 + a * 20000);
  });
}

#endif

constexpr scenario kAll[] = {
    {"mutex", std_mutex},
    {"malloc", allocation},
    {"stdio", stdio},
    {"exit_amid_stdio", exit_amid_stdio},
    {"loader", loader},
    {"exceptions", exceptions},
    {"noexcept", in_noexcept},
    {"vdso", in_vdso},
    {"errno", errno_stays},
    {"registers", registers},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
