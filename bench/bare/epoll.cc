// The floor under every server here: one thread, one epoll, no scheduler at all.
//
//   epoll http|echo 127.0.0.1:PORT
//
// Level-triggered, one read and one write per event, as short as it can be.
// Exit   2: an unknown name, and nothing is served.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Type: text/plain\r\n\r\nHello, World!";

int listen_at(std::string_view where) {
  const std::size_t colon = where.rfind(':');
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(std::atoi(where.data() + colon + 1)));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof(at)) != 0 || listen(fd, 4096) != 0) {
    std::perror("epoll: listen");
    std::exit(1);
  }
  return fd;
}

void watch(int epoll, int fd) {
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.fd = fd;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

void serve(int fd, bool http) {
  char buffer[4096];
  const ssize_t n = read(fd, buffer, sizeof(buffer));
  const bool ok = n > 0 && (http ? write(fd, kAnswer.data(), kAnswer.size())
                                 : write(fd, buffer, static_cast<std::size_t>(n))) > 0;
  if (!ok) close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const bool http = name == "http";
  if (argc != 3 || (!http && name != "echo")) {
    std::fprintf(stderr, "epoll: unknown name, or no address: %s\n", name.data());
    return 2;
  }
  const int listener = listen_at(argv[2]), epoll = epoll_create1(0);
  watch(epoll, listener);
  for (;;) {
    epoll_event events[128];
    const int n = epoll_wait(epoll, events, 128, -1);
    for (int i = 0; i < n; ++i) {
      if (events[i].data.fd != listener) {
        serve(events[i].data.fd, http);
        continue;
      }
      const int peer = accept(listener, nullptr, nullptr);
      const int yes = 1;
      setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      watch(epoll, peer);
    }
  }
}
