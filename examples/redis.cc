// Redis through hiredis, as it is: a connection for each goroutine, and a pipeline.
//
// Teaches: linked with vole::hooks, a reply that has not come yet parks the goroutine; a pipeline
// sends many commands before it reads the first reply. A connection belongs to one goroutine at a
// time. Give it the server's socket or host: ./redis /run/redis/redis.sock. Built where
// libhiredis-dev is installed.

#include <vole/vole.h>

#include <hiredis/hiredis.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

class client {
 public:
  explicit client(const std::string& where)
      : context_(where[0] == '/' ? redisConnectUnix(where.c_str())
                                 : redisConnect(where.c_str(), 6379)) {
    if (context_ == nullptr || context_->err != 0) fail();
  }
  ~client() { redisFree(context_); }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  void send(const char* format, int number) { redisAppendCommand(context_, format, number); }
  long long receive() {
    void* reply = nullptr;
    if (redisGetReply(context_, &reply) != REDIS_OK) fail();
    const std::unique_ptr<void, void (*)(void*)> mine(reply, freeReplyObject);
    return static_cast<redisReply*>(reply)->integer;
  }

 private:
  [[noreturn]] void fail() {
    throw std::runtime_error(context_ != nullptr ? context_->errstr : "no memory");
  }
  redisContext* context_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string where = argc > 1 ? argv[1] : "127.0.0.1";
  return vole::run([&] {
    constexpr int kClients = 50, kCommands = 100;
    client first(where);
    first.send("DEL vole:%d", 0);
    first.receive();
    vole::group clients;
    for (int i = 0; i < kClients; ++i) {
      clients.go([&] {
        client mine(where);
        for (int k = 0; k < kCommands; ++k) mine.send("INCRBY vole:0 %d", 1);
        for (int k = 0; k < kCommands; ++k) mine.receive();
      });
    }
    clients.wait();  // throws what the first of them threw
    first.send("INCRBY vole:%d 0", 0);
    const long long sum = first.receive();
    std::printf("%d clients, %lld increments, %d threads\n", kClients, sum, vole::stats().threads);
    return sum == kClients * kCommands ? 0 : 1;
  });
}
