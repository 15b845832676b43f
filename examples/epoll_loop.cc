// Embedding: a program that has an event loop already gives its slow work to goroutines.
//
// Teaches: no run() is needed. The loop's thread starts goroutines with go(), which starts the
// runtime; a goroutine answers through a channel and rings an eventfd that the loop polls. The loop
// itself never blocks in vole: it uses try_recv(). shutdown() ends the runtime.

#include <vole/vole.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace {

using namespace std::chrono_literals;

// The way from goroutines to the loop: a channel with the answers, and an eventfd to wake it.
class answers {
 public:
  answers() : bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), texts_(64) {}
  ~answers() { close(bell_); }
  answers(const answers&) = delete;
  answers& operator=(const answers&) = delete;

  int bell() const { return bell_; }
  void post(std::string text) const {  // on any goroutine or thread
    texts_.send(std::move(text));
    const std::uint64_t one = 1;
    if (write(bell_, &one, sizeof(one)) < 0) std::perror("eventfd");
  }
  int take_all() const {  // on the loop's thread
    std::uint64_t rings = 0;
    if (read(bell_, &rings, sizeof(rings)) < 0) return 0;
    int taken = 0;
    for (; auto text = texts_.try_recv(); ++taken) std::printf("loop: %s\n", text->c_str());
    return taken;
  }

 private:
  int bell_;
  vole::chan<std::string> texts_;
};

}  // namespace

int main() {
  constexpr int kQuestions = 10;
  const answers from_goroutines;
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = from_goroutines.bell()}};
  if (loop < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, from_goroutines.bell(), &wanted) != 0) return 1;

  vole::wait_group questions;
  for (int i = 0; i < kQuestions; ++i)  // an ordinary loop would have to split this into callbacks
    questions.go([&, i] {
      vole::sleep_for(std::chrono::milliseconds(i));
      from_goroutines.post("answer " + std::to_string(i));
    });

  for (int seen = 0; seen < kQuestions;) {
    epoll_event ready[8];
    const int n = epoll_wait(loop, ready, 8, -1);
    for (int i = 0; i < n; ++i)
      if (ready[i].data.fd == from_goroutines.bell()) seen += from_goroutines.take_all();
  }
  questions.wait();  // all have answered; a moment later all have returned
  vole::shutdown();
  close(loop);
  std::printf("%d answers\n", kQuestions);
}
