// Chat: a server that passes every line on to everybody, and three clients, in one process.
// Teaches: one goroutine, the hub, owns the subscribers; the others ask it by channel, so nothing
// needs a lock. A subscriber that reads too slowly loses lines (try_send) and holds nobody up.

#include <vole/vole.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <set>
#include <string>

namespace {
using mailbox = vole::chan<std::string>;
constexpr int kClients = 3;

struct hub {
  vole::chan<mailbox> join{}, leave{};
  vole::chan<std::string> publish{};
  void run(const vole::context& ctx) const {
    std::set<mailbox> everybody;
    const auto tell = [&](const std::string& line) {
      for (const mailbox& m : everybody) (void)m.try_send(line);
    };
    const auto add = [&](mailbox m) { everybody.insert(m); };
    const auto drop = [&](mailbox m) { everybody.erase(m), m.close(); };
    while (vole::select(vole::on_done(ctx), vole::on_recv(publish, tell), vole::on_recv(join, add),
                        vole::on_recv(leave, drop)) != 0)
      continue;
  }
};

// One connection: this goroutine reads, another one writes.
void serve(const hub& h, vole::net::conn c) {
  const mailbox mine(64);
  h.join.send(mine);
  auto writing = vole::spawn([&] {
    std::error_code gone;  // a client that has gone is no error of ours
    c.write("welcome\n", gone);
    for (std::string line : mine) c.write(line + "\n", gone);
  });
  vole::io::reader in(c);
  std::error_code error;
  for (std::string line; in.read_line(line, error);) h.publish.send(line);
  h.leave.send(mine);  // the hub closes the mailbox, and the writer ends
  writing.join();
}
}  // namespace

int main() {
  return vole::run([] {
    const hub h;
    std::atomic<int> heard{0};
    auto server = vole::net::listen("tcp", "127.0.0.1:0");
    vole::group running, connections;
    running.go([&] { h.run(running.context()); });
    running.go([&] {
      std::error_code error;
      while (error != vole::errc::closed)
        if (vole::net::conn c = server.accept(error))
          connections.go(serve, std::cref(h), std::move(c));
    });
    vole::wait_group welcomed, clients;
    welcomed.add(kClients);
    for (int i = 0; i < kClients; ++i)
      clients.go([&, i] {
        vole::net::conn c = vole::net::dial("tcp", server.local_address().to_string());
        vole::io::reader in(c);
        std::string line;
        if (in.read_line(line)) welcomed.done();
        welcomed.wait();  // everybody is there
        c.write("hello from " + std::to_string(i) + "\n");
        for (int n = 0; n < kClients && in.read_line(line); ++n) ++heard;
      });
    clients.wait(), server.close();
    connections.wait();  // the clients have gone: so do the connections
    std::printf("%d clients heard %d lines\n", kClients, heard.load());
    return heard == kClients * kClients ? 0 : 1;
  });
}
