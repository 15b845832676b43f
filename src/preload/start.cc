// libvole-preload.so: main of a program that knows nothing of vole becomes the main goroutine.
//
// Law    the goroutine's stack is as large as the limit for main's own would have let it grow, at
//        most 1 GiB; without a limit, 64 MiB.
// Law    programs that this one starts are not preloaded: its name is taken out of LD_PRELOAD.
// Note   the object that the loader started with calls __libc_start_main for us, so it is found here
//        before libc's.

#include <dlfcn.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include <vole/go.h>

namespace {

using main_function = int(int, char**, char**);
constinit main_function* program = nullptr;

std::size_t stack_of_main() {
  constexpr std::size_t kMiB = 1 << 20, kMost = 1024 * kMiB;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 64 * kMiB;
  const std::size_t wanted = limit.rlim_cur;
  return wanted < kMiB ? kMiB : wanted > kMost ? kMost : wanted;
}

bool is_ours(std::string_view path) {
  return path.substr(path.rfind('/') + 1) == "libvole-preload.so";
}

void leave_children_alone() {
  const char* const set = std::getenv("LD_PRELOAD");
  if (set == nullptr) return;
  std::string others;
  for (std::string_view rest = set; !rest.empty();) {
    const std::size_t end = rest.find_first_of(": ");
    const std::string_view one = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    if (one.empty() || is_ours(one)) continue;
    if (!others.empty()) others += ':';
    others += one;
  }
  if (others.empty()) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", others.c_str(), 1);
  }
}

int main_on_a_goroutine(int argc, char** argv, char** variables) {
  return vole::run([&] {
    vole::go_options options;
    options.name = "main";
    options.stack_size = stack_of_main();
    return vole::spawn(options, [&] { return program(argc, argv, variables); }).join();
  });
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int __libc_start_main(main_function* main, int argc,
                                                                char** argv, void (*init)(),
                                                                void (*fini)(),
                                                                void (*loader_fini)(),
                                                                void* stack_end) {
  using start_function =
      int(main_function*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  auto* const start = reinterpret_cast<start_function*>(dlsym(RTLD_NEXT, "__libc_start_main"));
  program = main;
  leave_children_alone();
  return start(main_on_a_goroutine, argc, argv, init, fini, loader_fini, stack_end);
}
