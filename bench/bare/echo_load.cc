// The client of echo: many connections, one message in flight on each.
//
//   echo_load 127.0.0.1:PORT CONNECTIONS SECONDS  ->  echo_c100 140000.00 roundtrips/s
//
// One thread and one epoll, so that it takes as little from the server's machine as it can.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
constexpr std::size_t kMessage = 64;

struct peer {
  int fd;
  std::size_t missing;  // bytes of the answer
  clock_type::time_point sent;
};

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

int connect_to(std::string_view where) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(std::atoi(where.data() + where.rfind(':') + 1)));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof(at)) != 0) give_up("echo_load: connect");
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return fd;
}

void send_one(peer& p, clock_type::time_point now) {
  static const char message[kMessage] = {};
  p.missing = kMessage;
  p.sent = now;
  if (write(p.fd, message, kMessage) != static_cast<ssize_t>(kMessage)) give_up("echo_load: write");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto n = static_cast<std::size_t>(std::atoi(argv[2]));
  const int epoll = epoll_create1(0);
  std::vector<peer> peers(n);
  for (peer& p : peers) {
    p.fd = connect_to(argv[1]);
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.ptr = &p;
    epoll_ctl(epoll, EPOLL_CTL_ADD, p.fd, &e);
  }
  const auto begin = clock_type::now(), end = begin + std::chrono::seconds(std::atoi(argv[3]));
  for (peer& p : peers) send_one(p, begin);
  std::vector<double> micros;
  micros.reserve(1 << 22);
  auto now = begin;
  while (now < end) {
    epoll_event events[128];
    const int got = epoll_wait(epoll, events, 128, 1000);
    now = clock_type::now();
    for (int i = 0; i < got; ++i) {
      peer& p = *static_cast<peer*>(events[i].data.ptr);
      char answer[kMessage];
      const ssize_t bytes = read(p.fd, answer, p.missing);
      if (bytes <= 0) give_up("echo_load: read");
      p.missing -= static_cast<std::size_t>(bytes);
      if (p.missing != 0) continue;
      micros.push_back(std::chrono::duration<double, std::micro>(now - p.sent).count());
      send_one(p, now);
    }
  }
  const double seconds = std::chrono::duration<double>(now - begin).count();
  std::sort(micros.begin(), micros.end());
  std::printf("echo_c%zu %.2f roundtrips/s\n", n, static_cast<double>(micros.size()) / seconds);
  std::printf("echo_c%zu_p99 %.2f us\n", n, micros.empty() ? 0 : micros[micros.size() * 99 / 100]);
}
