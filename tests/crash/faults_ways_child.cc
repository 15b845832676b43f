// One part of the library that not every program uses, while the N-th system call of one kind fails:
// `faults_ways_child WAY:CALL:ERRNO:N`. The last line that it prints says how many such calls there were.
// `faults_ways_child WAY:files:N`: while the process may have N files open, from the start.

#include <fcntl.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <csignal>
#include <exception>
#include <string>
#include <thread>

#include "injector.h"
#include "scenario.h"

namespace {

using namespace vole::crash_test;
using namespace std::chrono_literals;

std::string path_of(const char* what) {
  return "/tmp/vole_faults_" + std::string(what) + "." + std::to_string(getpid());
}

// Errors are told; what was not told must be right.
void expect(bool right) {
  if (!right) std::_Exit(kLost);
}

void processes() {
  const auto most = [] { return vole::with_timeout(vole::context::background(), 10s); };
  attempt([&] {
    const vole::cancelable k = most();
    const auto r = vole::process::run({"echo", "text"}, k.ctx);
    if (r.status.success()) expect(r.output == "text\n");
  });
  attempt([&] {  // whoever cannot write to it takes it for one who reads no more
    const vole::cancelable k = most();
    const std::string text(100'000, 'x');
    const auto r = vole::process::run({"cat"}, {.input = text, .own_group = true}, k.ctx);
    expect(text.starts_with(r.output));
  });
  attempt([&] {  // who cannot be killed is waited for
    const vole::cancelable k = vole::with_timeout(vole::context::background(), 2ms);
    (void)vole::process::run({"sleep", "3"}, k.ctx);
  });
  attempt([&] {
    vole::process::child c = vole::process::start({"cat"});
    c.out().set_deadline(vole::now() + 5s);
    c.in().write("text");
    c.in().close();
    char text[4];
    if (c.out().read_full(text) == sizeof text) expect(std::string_view(text, 4) == "text");
    c.kill();
    (void)c.wait();
  });
}

void computing() {
  const auto until = std::chrono::steady_clock::now() + 40ms;
  vole::wait_group all;
  for (int i = 0; i < 3; ++i)
    all.go([until] {
      while (std::chrono::steady_clock::now() < until) {
      }
    });
  for (int i = 0; i < 20; ++i) vole::sleep_for(500us);
  vole::blocking([] { usleep(3000); });
  all.wait();
}

void tracing() {
  const std::string file = path_of("trace"), ring = path_of("ring");
  const auto busy = [] {
    vole::wait_group all;
    for (int i = 0; i < 8; ++i) all.go([] { vole::yield(); });
    all.wait();
  };
  std::error_code told;  // what went wrong while it was written is told at its end
  attempt([&] { vole::trace::start(file); });
  busy();
  vole::trace::stop(told);
  attempt([&] { vole::trace::record({.bytes = 1u << 20, .ring = ring}); });
  busy();
  vole::trace::snapshot(file, told);
  vole::trace::stop_recording(told);
  unlink(file.c_str());
  unlink(ring.c_str());
}

void datagrams() {
  attempt([] {
    vole::net::packet_conn a = vole::net::listen_packet("udp", "127.0.0.1:0");
    vole::net::packet_conn b = vole::net::listen_packet("udp", "127.0.0.1:0");
    b.set_deadline(vole::now() + 200ms);
    a.write_to("text", b.local_address());
    char got[8];
    expect(b.read_from(std::span<char>(got)).first == 4);
  });
}

// A file into a connection, and that into another.
void copies() {
  const std::string path = path_of("copy");
  constexpr std::size_t kBytes = 100'000;
  attempt([&] {
    vole::file f = vole::file::open(path, "w+");
    f.write(std::string(kBytes, 'x'));
    f.seek(0);
    vole::net::listener l = vole::net::listen("unix", path + ".socket");
    l.set_deadline(vole::now() + 5s);
    vole::wait_group all;
    std::string got;
    all.go([&] {
      attempt([&] {
        vole::net::conn in = l.accept();
        vole::net::conn out = l.accept();
        in.set_deadline(vole::now() + 5s);
        out.set_deadline(vole::now() + 5s);
        vole::io::copy(out, in);
      });
    });
    bool sent = false;
    attempt([&] {
      vole::net::conn from = vole::net::dial("unix", path + ".socket", 5s);
      vole::net::conn to = vole::net::dial("unix", path + ".socket", 5s);
      from.set_deadline(vole::now() + 5s);
      to.set_deadline(vole::now() + 5s);
      all.go([&] { attempt([&] { got = vole::io::read_all(to, 2 * kBytes); }); });
      attempt([&] { sent = vole::io::copy(from, f) == kBytes; });
      attempt([&] { from.close(); });
      all.wait();
    });
    attempt([&] { l.close(); });
    all.wait();
    expect(got.size() <= kBytes && (!sent || got.find_first_not_of('x') == got.npos));
  });
  unlink(path.c_str());
  unlink((path + ".socket").c_str());
}

void names() {
  attempt([] { (void)vole::net::resolve("tcp", "localhost:80"); });
  attempt([] { (void)vole::net::lookup_addr("127.0.0.1"); });
}

void signals() {
  attempt([] {
    const vole::chan<int> heard(1);
    const auto r = vole::signal_notify(heard, {SIGUSR1});
    kill(getpid(), SIGUSR1);
    const auto got = heard.recv_for(5s);
    expect(got.status == vole::chan_status::ok);
  });
}

struct way {
  std::string_view name;
  std::array<void (*)(), 3> acts;
};
constexpr way kWays[] = {
    {"process", {processes, processes, nullptr}}, {"strict", {computing, nullptr, nullptr}},
    {"trace", {tracing, nullptr, nullptr}},       {"network", {datagrams, copies, names}},
    {"signal", {signals, nullptr, nullptr}},      {"everything", {processes, copies, signals}},
};

int play_all(const way& w) {
  std::atomic<int> wanted{0}, ended{0};
  vole::wait_group all;
  for (void (*const act)() : w.acts)
    if (act != nullptr) {
      ++wanted;
      all.go([&ended, act] {
        act();
        ++ended;
      });
    }
  all.wait();
  return ended == wanted ? 0 : kLost;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view said = argc == 2 ? argv[1] : "";
  const std::size_t colon = said.find(':');
  const way* mine = nullptr;
  for (const way& w : kWays)
    if (w.name == said.substr(0, colon)) mine = &w;
  if (mine == nullptr || colon == said.npos) return kUnknown;
  const char* const fault = argv[1] + colon + 1;
  alarm(60);
  signal(SIGPIPE, SIG_IGN);
  unsigned call = 0;
  int files = 0;
  if (std::sscanf(fault, "files:%d", &files) == 1) {
    const rlimit most{static_cast<rlim_t>(files), static_cast<rlim_t>(files)};
    if (setrlimit(RLIMIT_NOFILE, &most) != 0) return kUnknown;
  } else {
    if (std::sscanf(fault, "%u:%d:%d", &call, &faults.error, &faults.nth) != 3) return kUnknown;
    std::thread(answer).detach();
    if (!filter(call)) return kNoFilter;
    faults.counts = true;
  }
  int status = 0;
  attempt([&] { status = vole::run([&] { return play_all(*mine); }); });
  attempt([] { vole::shutdown(); });
  faults.counts = false;
  std::printf("calls %d\n", faults.calls.load());
  std::fflush(stdout);
  std::_Exit(status);
}
