#include "conformance.h"

#include <csignal>
#include <map>
#include <mutex>

namespace conformance {
namespace {

scenario* first = nullptr;
scenario** last = &first;

std::mutex lock;
std::map<unsigned long, std::string*> sides;

unsigned long who() {
#ifdef VOLE_CONFORMANCE_HOOKED
  return vole::goroutine_id();
#else
  return static_cast<unsigned long>(gettid());
#endif
}

int run_all(const char* only) {
  signal(SIGPIPE, SIG_IGN);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  for (const scenario* s = first; s != nullptr; s = s->next) {
    if (only != nullptr && std::strcmp(only, s->name) != 0) continue;
    std::printf("%s\n", s->name);
    std::fflush(stdout);
    s->run();
  }
  std::puts("end");
  return 0;
}

}  // namespace

std::string* notes_here() {
  const unsigned long me = who();
  const std::lock_guard hold(lock);
  const auto found = sides.find(me);
  return found != sides.end() ? found->second : nullptr;
}
void begin_notes(std::string* to) {
  const unsigned long me = who();
  const std::lock_guard hold(lock);
  sides[me] = to;
}
void end_notes() {
  const unsigned long me = who();
  const std::lock_guard hold(lock);
  sides.erase(me);
}

scenario::scenario(const char* n, void (*r)()) : name(n), run(r) {
  *last = this;
  last = &next;
}

}  // namespace conformance

int main(int argc, char** argv) {
  const char* const only = argc > 1 ? argv[1] : nullptr;
#ifdef VOLE_CONFORMANCE_HOOKED
  return vole::run([=] { return conformance::run_all(only); });
#else
  return conformance::run_all(only);
#endif
}
