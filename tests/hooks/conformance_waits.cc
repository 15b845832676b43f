#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>
#include <ctime>
#include <vector>

#include "conformance.h"

using namespace conformance;

namespace {

struct pair {
  pair() { (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, fd); }
  ~pair() {
    close(fd[0]);
    if (fd[1] >= 0) close(fd[1]);
  }
  int fd[2];
};

}  // namespace

SCENARIO(poll_one_and_many) {
  std::vector<pair> pairs(150);
  std::vector<pollfd> all;
  for (const pair& p : pairs) all.push_back({p.fd[0], POLLIN, 0});
  show("nothing yet", poll(all.data(), all.size(), 0));
  const stopwatch w;
  show("times out", poll(all.data(), all.size(), 30));
  w.show_waited("time", 30);
  const beside writer([&] {
    pause_ms(20);
    (void)!write(pairs[77].fd[1], "x", 1);
  });
  show("one is ready", poll(all.data(), all.size(), -1));
  show("which", all[77].revents);
  show("level-triggered", poll(all.data(), all.size(), 1000));
  char to[4];
  show("read", read(pairs[77].fd[0], to, 4));
  show("no more", poll(all.data(), all.size(), 10));
}

SCENARIO(poll_tells_of) {
  pair p;
  pollfd f[4] = {
      {p.fd[0], POLLIN | POLLOUT, 0}, {-1, POLLIN, 9}, {987, POLLIN, 0}, {p.fd[0], 0, 0}};
  show("count", poll(f, 4, -1));
  for (const pollfd& each : f) show("revents", each.revents);
  const beside closer([&] {
    pause_ms(20);
    close(p.fd[1]);
    p.fd[1] = -1;
  });
  f[0].events = POLLIN | POLLRDHUP;
  show("hang-up", poll(f, 1, -1));
  show("revents", f[0].revents);
  f[0].events = 0;
  show("nobody asked", poll(f, 1, -1));
  show("revents", f[0].revents);
  show("no descriptors", poll(nullptr, 0, 20));
  show("the same twice", [&] {
    pollfd two[2] = {{p.fd[0], POLLIN, 0}, {p.fd[0], POLLOUT, 0}};
    return poll(two, 2, 1000);
  }());
}

SCENARIO(ppoll_and_its_times) {
  pair p;
  pollfd f{p.fd[0], POLLIN, 0};
  const timespec wrong{0, 1'000'000'000}, negative{-1, 0}, soon{0, 20'000'000};
  show("wrong", ppoll(&f, 1, &wrong, nullptr));
  show("negative", ppoll(&f, 1, &negative, nullptr));
  const stopwatch w;
  show("times out", ppoll(&f, 1, &soon, nullptr));
  w.show_waited("time", 20);
  show("it is left alone", soon.tv_nsec);
  sigset_t none;
  sigemptyset(&none);
  show("with a mask", ppoll(&f, 1, &soon, &none));
}

SCENARIO(select_and_pselect) {
  pair p, q;
  fd_set in, out;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_SET(p.fd[0], &in);
  FD_SET(q.fd[0], &in);
  const int n = std::max(p.fd[0], q.fd[0]) + 1;
  timeval t{0, 30'000};
  const stopwatch w;
  show("times out", select(n, &in, nullptr, nullptr, &t));
  w.show_waited("time", 30);
  show("nothing is left", t.tv_sec * 1'000'000 + t.tv_usec);
  show("the set is empty", FD_ISSET(p.fd[0], &in));
  FD_SET(p.fd[0], &in);
  FD_SET(q.fd[0], &in);
  const beside writer([&] {
    pause_ms(20);
    (void)!write(q.fd[1], "x", 1);
  });
  t = {10, 0};
  show("one is ready", select(n, &in, nullptr, nullptr, &t));
  show("which", FD_ISSET(q.fd[0], &in));
  show("time is left", t.tv_sec >= 5);
  FD_SET(p.fd[0], &in);
  FD_SET(p.fd[0], &out);
  show("for both", select(n, &in, &out, nullptr, nullptr));
  const timespec soon{0, 10'000'000};
  FD_ZERO(&in);
  FD_SET(p.fd[0], &in);
  show("pselect", pselect(n, &in, nullptr, nullptr, &soon, nullptr));
  FD_ZERO(&in);
  const int closed = dup(p.fd[0]);
  close(closed);
  FD_SET(closed, &in);
  show("a closed one", select(closed + 1, &in, nullptr, nullptr, nullptr));
  t = {-1, 0};
  show("negative", select(0, nullptr, nullptr, nullptr, &t));
  t = {0, 20'000};
  show("only time", select(0, nullptr, nullptr, nullptr, &t));
  show("too few", select(-1, nullptr, nullptr, nullptr, &t));
}

SCENARIO(epoll) {
  pair p;
  const int set = epoll_create1(0);
  epoll_event e{}, found[4];
  e.events = EPOLLIN;
  e.data.fd = 5;
  show("add", epoll_ctl(set, EPOLL_CTL_ADD, p.fd[0], &e));
  show("now", epoll_wait(set, found, 4, 0));
  const stopwatch w;
  show("times out", epoll_wait(set, found, 4, 30));
  w.show_waited("time", 30);
  const beside writer([&] {
    pause_ms(20);
    (void)!write(p.fd[1], "x", 1);
  });
  show("ready", epoll_wait(set, found, 4, -1));
  show("which", found[0].data.fd);
  show("level-triggered", epoll_pwait(set, found, 4, 1000, nullptr));
  e.events = EPOLLIN | EPOLLET;
  show("edge-triggered", epoll_ctl(set, EPOLL_CTL_MOD, p.fd[0], &e));
  show("once", epoll_wait(set, found, 4, 1000));
  show("not twice", epoll_wait(set, found, 4, 10));
  show("room for none", epoll_wait(set, found, 0, 10));
  show("not a set", epoll_wait(p.fd[0], found, 4, 10));
  show("closed", epoll_wait(987, found, 4, 10));
  close(set);
}

SCENARIO(sleeps) {
  const stopwatch w;
  show("usleep", usleep(20'000));
  const timespec t{0, 20'000'000}, wrong{0, -1};
  timespec left{7, 7};
  show("nanosleep", nanosleep(&t, &left));
  show("left is left alone", left.tv_sec);
  show("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &t, nullptr));
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  show("until the past", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr));
  clock_gettime(CLOCK_REALTIME, &until);
  show("on the wall", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr));
  w.show_waited("time", 60);
  show("wrong", nanosleep(&wrong, nullptr));
  show("wrong, by number", clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, nullptr));
  show("no such clock", clock_nanosleep(77, 0, &t, nullptr));
  show("sleep of nothing", sleep(0));
}

SCENARIO(names) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = AF_INET;
  show("number", getaddrinfo("127.0.0.1", "80", &hints, &list));
  char host[64] = {}, service[16] = {};
  show("back", getnameinfo(list->ai_addr, list->ai_addrlen, host, 64, service, 16,
                           NI_NUMERICHOST | NI_NUMERICSERV));
  show("host", std::string(host));
  freeaddrinfo(list);
  show("localhost", getaddrinfo("localhost", nullptr, &hints, &list));
  freeaddrinfo(list);
  hints.ai_flags = AI_NUMERICHOST;
  show("not a number", std::to_string(getaddrinfo("no number", nullptr, &hints, &list)));
  show("by name", gethostbyname("127.0.0.1") != nullptr);
}

SCENARIO(children) {
  const auto start = [](int ms, int status) {
    const pid_t child = fork();
    if (child == 0) {
      usleep(static_cast<useconds_t>(ms) * 1000);
      _exit(status);
    }
    return child;
  };
  int status = 0, hold[2];
  (void)!pipe(hold);
  pid_t child = fork();
  if (child == 0) {
    char c;
    close(hold[1]);
    (void)!read(hold[0], &c, 1);
    usleep(30'000);
    _exit(3);
  }
  show("not yet", waitpid(child, &status, WNOHANG));
  for (const int end : hold) close(end);
  show("this one", waitpid(child, &status, 0) == child);
  show("status", WEXITSTATUS(status));
  show("gone", waitpid(child, &status, 0));
  child = start(10, 4);
  show("any", wait(&status) == child);
  show("status", WEXITSTATUS(status));
  child = start(10, 5);
  rusage used{};
  show("wait4", wait4(child, nullptr, 0, &used) == child);
  child = start(10, 6);
  siginfo_t about{};
  show("waitid", waitid(P_PID, static_cast<id_t>(child), &about, WEXITED | WNOWAIT));
  show("status", about.si_status);
  show("still there", waitid(P_PID, static_cast<id_t>(child), nullptr, WEXITED));
  child = start(10'000, 0);
  kill(child, SIGTERM);
  show("killed", waitpid(child, &status, 0) == child && WIFSIGNALED(status));
  show("no child", waitpid(1, &status, 0));
}

SCENARIO(calls_in_a_forked_child) {
  pair p;
  const pid_t child = fork();
  if (child == 0) {
    char to[10];
    pollfd f{p.fd[1], POLLIN, 0};
    bool right = poll(&f, 1, -1) == 1 && read(p.fd[1], to, 10) == 5;
    right = right && usleep(1000) == 0 && write(p.fd[1], "fine", 4) == 4;
    _exit(right ? 0 : 1);
  }
  pause_ms(10);
  show("write", write(p.fd[0], "hello", 5));
  char to[10] = {};
  show("read", read(p.fd[0], to, 10));
  int status = -1;
  show("ended", waitpid(child, &status, 0) == child);
  show("status", status);
}

SCENARIO(fork_and_exec) {
  int ends[2];
  (void)!pipe(ends);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close_range(3, ~0u, 0);
    execl("/bin/sh", "sh", "-c", "sleep 0.02; echo from sh; exit 7", nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char to[100];
  for (ssize_t n = 0; (n = read(ends[0], to, sizeof(to))) > 0;)
    text.append(to, static_cast<std::size_t>(n));
  show("text", text);
  int status = 0;
  waitpid(child, &status, 0);
  show("status", WEXITSTATUS(status));
  close(ends[0]);
}

namespace {

int in_handler[2];
volatile int handled = 0;

// What waits for a moment, and what does not wait, in a handler.
extern "C" void on_usr1(int) {
  const int error = errno;
  pollfd f{in_handler[0], POLLIN, 0};
  char to[4];
  const bool empty = poll(&f, 1, 5) == 0;
  const bool wrote = write(in_handler[1], "abc", 3) == 3;
  handled = empty && wrote && read(in_handler[0], to, 4) == 3 ? 1 : 2;
  errno = error;
}

// ThreadSanitizer keeps a signal for the thread that it came to until that makes a call that TSan knows:
// a thread of vole's that sleeps makes none.
void to_any_thread() {
#if defined(VOLE_SANITIZE_THREAD)
  raise(SIGUSR1);
#else
  kill(getpid(), SIGUSR1);
#endif
}

}  // namespace

SCENARIO(signal_handlers) {
  (void)!pipe(in_handler);
  struct sigaction how {};
  how.sa_handler = on_usr1;
  how.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &how, nullptr);
  errno = 77;
  raise(SIGUSR1);
  show("handled", handled);
  show("errno", errno);
  pair p;
  const beside other([&] {
    pause_ms(20);
    handled = 0;
    to_any_thread();
    while (handled == 0) pause_ms(1);
    (void)!write(p.fd[1], "after", 5);
  });
  char to[10];
  show("read goes on", read(p.fd[0], to, 10));
  show("handled", handled);
  close(in_handler[0]);
  close(in_handler[1]);
}
