// The work of bench/README.md on standalone Asio: `asio_bench echo|http 127.0.0.1:PORT` serves
// until it is killed, `asio_bench pingpong [N]` prints "NAME value unit".
//
// Threads, by the environment variable ASIO_SCHED:
//   multi   (default) one io_context, a thread per core
//   single  one thread; the io_context is told so and takes no locks
//
// Idioms:
// - C++20 coroutines: what stands for a goroutine here. They name the io_context's executor,
//   so that no call goes through any_io_executor. Plain callbacks serve echo about as fast.
// - pingpong: experimental channels of capacity 0, where a send waits for its receive;
//   concurrent_channel on many threads, channel on one.
// - not offered: the rest. Asio has no join, mutex or select of this kind; what could be built
//   from channels would measure our building.
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/concurrent_channel.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using asio::ip::tcp;
using executor = asio::io_context::executor_type;
using task = asio::awaitable<void, executor>;
using socket_type = asio::basic_stream_socket<tcp, executor>;

constexpr asio::use_awaitable_t<executor> use_task;
constexpr auto no_throw = asio::experimental::as_tuple(use_task);

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Type: text/plain\r\n\r\nHello, World!";

task echo(socket_type peer) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto [failed, n] = co_await peer.async_read_some(asio::buffer(buffer), no_throw);
    if (failed) co_return;
    const auto [broken, _] =
        co_await asio::async_write(peer, asio::buffer(buffer.data(), n), no_throw);
    if (broken) co_return;
  }
}

// As much of HTTP as every peer's program does: an answer whenever a request has ended.
task http(socket_type peer) {
  std::array<char, 4096> buffer;
  std::size_t have = 0;
  while (have < buffer.size()) {
    const auto rest = asio::buffer(buffer) + have;
    const auto [failed, n] = co_await peer.async_read_some(rest, no_throw);
    if (failed) co_return;
    have += n;
    if (!std::string_view(buffer.data(), have).ends_with("\r\n\r\n")) continue;
    const auto [broken, _] = co_await asio::async_write(peer, asio::buffer(kAnswer), no_throw);
    if (broken) co_return;
    have = 0;
  }
}

task serve(executor where, tcp::endpoint at, task (*handler)(socket_type)) {
  asio::basic_socket_acceptor<tcp, executor> listener(where, at);
  listener.listen(4096);
  for (;;) {
    socket_type peer = co_await listener.async_accept(use_task);
    peer.set_option(tcp::no_delay(true));
    asio::co_spawn(where, handler(std::move(peer)), asio::detached);
  }
}

template <class Channel>
task answer(Channel& a, Channel& b) {
  for (;;) {
    const auto [closed, v] = co_await a.async_receive(no_throw);
    if (closed) co_return;
    co_await b.async_send(asio::error_code(), v, use_task);
  }
}

template <class Channel>
task ask(Channel& a, Channel& b, long n, bool& right) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  for (long i = 0; i < n; ++i) {
    co_await a.async_send(asio::error_code(), i, use_task);
    right &= co_await b.async_receive(use_task) == i;
  }
  const std::chrono::duration<double, std::nano> took = clock::now() - start;
  std::printf("pingpong %.2f ns/roundtrip\n", took.count() / static_cast<double>(n));
  a.close();
}

// Until there is no more work, on this thread and on as many more as `count` says.
void run(asio::io_context& context, unsigned count) {
  std::vector<std::thread> others;
  for (unsigned i = 1; i < count; ++i) others.emplace_back([&context] { context.run(); });
  context.run();
  for (std::thread& t : others) t.join();
}

template <class Channel>
int pingpong(asio::io_context& context, unsigned count, long n) {
  Channel a(context), b(context);
  bool right = true;
  asio::co_spawn(context, answer(a, b), asio::detached);
  asio::co_spawn(context, ask(a, b, n, right), asio::detached);
  run(context, count);
  return right ? 0 : 1;
}

int usage(const char* complaint, const char* word) {
  std::fprintf(stderr,
               "asio_bench: %s%s\nusage: asio_bench pingpong [N] | echo|http 127.0.0.1:PORT\n",
               complaint, word);
  return 2;
}

template <class Int>
bool parse(std::string_view word, Int& n) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  return error == std::errc{} && end == word.data() + word.size() && n > 0;
}

}  // namespace

int main(int argc, char** argv) {
  namespace experimental = asio::experimental;
  using signature = void(asio::error_code, long);
  const char* chosen = std::getenv("ASIO_SCHED");
  const std::string_view sched = chosen ? chosen : "multi";
  if (sched != "multi" && sched != "single") return usage("bad ASIO_SCHED: ", chosen);
  if (argc < 2) return usage("no name", "");
  const std::string_view name = argv[1], word = argc > 2 ? argv[2] : "";
  const unsigned count = sched == "single" ? 1 : std::thread::hardware_concurrency();
  asio::io_context context(count == 1 ? ASIO_CONCURRENCY_HINT_UNSAFE : static_cast<int>(count));
  if (name == "pingpong") {
    long n = 1'000'000;
    if (argc > 2 && !parse(word, n)) return usage("bad N: ", argv[2]);
    return count == 1
               ? pingpong<experimental::channel<executor, signature>>(context, count, n)
               : pingpong<experimental::concurrent_channel<executor, signature>>(context, count, n);
  }
  if (name != "echo" && name != "http") return usage("unknown name: ", argv[1]);
  unsigned short port = 0;
  if (!parse(word.substr(word.rfind(':') + 1), port)) return usage("bad address: ", word.data());
  const tcp::endpoint at(asio::ip::address_v4::loopback(), port);
  asio::co_spawn(context, serve(context.get_executor(), at, name == "http" ? &http : &echo),
                 asio::detached);
  run(context, count);
  return 1;  // it could not listen
}
