// Every public name in its documented form, compiled and run by nobody: a user's program keeps
// compiling. (uses.cc instantiates every kind of template with many types; this has every name once.)
#include <vole/vole.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

static_assert(VOLE_VERSION > 0);
static_assert(std::is_same_v<vole::duration, std::chrono::nanoseconds>);
static_assert(std::is_same_v<vole::time_point, std::chrono::steady_clock::time_point>);
static_assert(std::is_error_code_enum_v<vole::errc>);
static_assert(static_cast<int>(vole::errc::closed) == 1);

// ── go.h ──
int run_and_go() {
  vole::go([](std::unique_ptr<int>) {}, std::make_unique<int>(1));
  vole::go({.name = "x", .stack_size = 1 << 20}, [] {});
  vole::join_handle<int> h = vole::spawn([](int a, int b) { return a + b; }, 1, 2);
  const bool joinable = h.joinable();
  const int sum = h.join();
  vole::spawn({.name = "y"}, [] {}).detach();
  vole::yield();
  if (!joinable) vole::exit_goroutine();
  (void)vole::run([] {});
  return sum + vole::run([] { return 1; });
}

// ── runtime.h ──
void runtime() {
  (void)(vole::max_procs() + vole::set_max_procs(2) + vole::set_max_threads(10000));
  const std::size_t n = vole::num_goroutines();
  const std::uint64_t id = vole::goroutine_id();
  vole::lock_os_thread();
  vole::unlock_os_thread();
  vole::checkpoint();
  const vole::runtime_stats s = vole::stats();
  vole::dump_goroutines(stderr);
  vole::dump_goroutines(stderr, vole::dump_format::json);
  vole::dump_goroutines(stderr, vole::dump_format::text);
  std::vector<vole::goroutine_info> all = vole::goroutines();
  for (const vole::goroutine_info& g : all) {
    (void)g.id, (void)g.parent, (void)g.name, (void)g.status, (void)g.wait_reason;
    vole::duration waiting = g.waiting;
    (void)waiting, (void)g.object, (void)g.function, (void)g.created_at;
    const std::vector<vole::frame>& stack = g.stack;
    for (const vole::frame& f : stack) (void)f.function, (void)f.file, (void)f.line, (void)f.pc;
  }
  std::string text = vole::metrics();
  vole::shutdown();
  (void)n, (void)id, (void)s.procs, (void)s.threads, (void)text;
}

// ── blocking.h ──
int blocking() {
  return vole::blocking([](int a) { return a; }, 1);
}

// ── chan.h ──
struct msg {
  vole::chan<msg> reply;
};
void channels(const vole::context& ctx) {
  vole::chan<> plain;
  const vole::chan<int> c(8);
  vole::chan<int> nil(nullptr);
  const vole::chan<msg> messages(1);
  c.send(1);
  std::optional<int> v = c.recv();
  vole::chan_status how = c.try_send(2);
  int lvalue = 3;
  how = c.try_send(lvalue);
  how = c.send_for(4, 1s);
  how = c.send_until(5, vole::now());
  vole::received<int> r = c.try_recv();
  if (r) v = *r;
  r = c.recv_for(0.5s);
  r = c.recv_until(vole::now() + 1s);
  how = c.send(6, ctx);
  r = c.recv(ctx);
  const bool canceled = r.status == vole::chan_status::canceled ||
                        how == vole::chan_status::timeout ||
                        how == vole::chan_status::would_block || how == vole::chan_status::closed;
  (void)(c.size() + c.capacity() + r.value.has_value() + canceled);
  (void)(c == nil || nil == nullptr);
  std::unordered_set<vole::chan<int>> set{c};
  static_assert(std::is_same_v<vole::chan<int>::value_type, int>);
  const vole::send_chan<int> to = c;
  const vole::recv_chan<int> from = c;
  to.send(1);
  (void)(to.size() + from.capacity());
  (void)(to == nullptr || from == nullptr);
  for (auto each : from) (void)each;
  for (auto each : c) (void)each;
  plain.send();
  try {
    to.close();
    c.close();
  } catch (const vole::channel_closed& e) {
    const std::logic_error& misuse = e;
    (void)misuse;
  }
}

// ── select.h ──
void select(const vole::context& ctx) {
  const vole::chan<int> c(1);
  std::optional<int> v;
  std::size_t taken = vole::select(
      vole::on_recv(c), vole::on_recv(c, v), vole::on_recv(c, [](std::optional<int>) {}),
      vole::on_recv(c, [](int) {}), vole::on_recv(c, [] {}), vole::on_send(c, 1),
      vole::on_send(c, 2, [] {}), vole::on_after(1s), vole::on_after(1ms, [] {}),
      vole::on_done(ctx), vole::on_done(ctx, [] {}), vole::on_default(), vole::on_default([] {}));
  std::vector<vole::select_case> cases;
  cases.emplace_back(vole::on_recv(c));
  vole::select_case one = vole::on_send(c, 1);
  cases.push_back(std::move(one));
  taken += vole::select(std::span<vole::select_case>(cases));
  if (taken == 77) vole::select();
}

// ── sync.h ──
void sync(const vole::context& ctx, std::stop_token stop) {
  std::error_code error;
  vole::mutex m, m2;
  { std::scoped_lock both(m, m2); }
  std::unique_lock<vole::mutex> lock(m, 1s);
  (void)m2.lock(ctx, error);
  (void)m2.try_lock_for(1s);
  (void)m2.try_lock_until(vole::now());
  vole::shared_mutex s;
  std::shared_lock<vole::shared_mutex> shared(s, 1s);
  (void)s.try_lock_shared_until(vole::now());
  vole::condition_variable cv;
  cv.wait(lock);
  cv.wait(lock, [] { return true; });
  (void)cv.wait(lock, stop, [] { return true; });
  (void)cv.wait_for(lock, 1s);
  (void)cv.wait_for(lock, 1s, [] { return true; });
  (void)cv.wait_until(lock, vole::now());
  cv.notify_one();
  cv.notify_all();
  vole::wait_group g;
  g.add();
  g.add(2);
  g.done();
  g.go([](int) {}, 1);
  g.go({.name = "x"}, [] {});
  g.wait();
  vole::semaphore sem(3);
  sem.acquire();
  sem.acquire(2);
  sem.acquire(ctx);
  sem.acquire(ctx, 2);
  (void)sem.try_acquire();
  (void)sem.try_acquire(2);
  (void)sem.try_acquire_for(1s);
  (void)sem.try_acquire_for(1s, 2);
  sem.release();
  sem.release(2);
  vole::once o;
  o.call([] {});
  static vole::once_value value([] { return std::string("x"); });
  (void)value().size();
  vole::latch l(2);
  l.count_down();
  (void)l.try_wait();
  l.arrive_and_wait();
  vole::barrier b(1);
  b.arrive_and_wait();
  b.wait(b.arrive());
  b.arrive_and_drop();
  vole::barrier done(1, []() noexcept {});
  vole::pool<std::string> p([] { return std::string(); });
  p.put(p.get());
  static vole::local<std::string> mine;
  (void)(mine.get().size() + (*mine).size() + mine->size());
}

void containers(const vole::context& ctx) {
  vole::concurrent_map<std::string, int> m;
  m.store("a", 1);
  std::optional<int> v = m.load("a");
  const auto [value, loaded] = m.load_or_store("a", 2);
  v = m.load_and_delete("a");
  v = m.swap("a", 3);
  (void)m.erase("a");
  (void)m.contains("a");
  (void)m.compare_and_swap("a", 1, 2);
  (void)m.compare_and_delete("a", 1);
  m.update("a", [](std::optional<int>& n) { n = 1; });
  m.for_each([](const std::string&, int) { return true; });
  (void)(m.size() + m.empty() + static_cast<std::size_t>(value) + loaded);
  m.clear();
  vole::singleflight<std::string, int> s;
  (void)s.call("k", [] { return 1; });
  (void)s.call(
      "k", [] { return 1; }, ctx);
  s.forget("k");
}

// ── time.h ──
void time() {
  vole::time_point t = vole::now();
  vole::sleep_for(1ms);
  vole::sleep_for(0.5s);
  vole::sleep_for(std::chrono::duration<double>(0.1));
  vole::sleep_until(t + 1ms);
  vole::recv_chan<vole::time_point> c = vole::after(1ms);
  vole::timer one(1s);
  vole::ticker many(1s);
  c = one.channel();
  c = many.channel();
  (void)(one.stop() || one.reset(1s) || many.stop() || many.reset(1s));
  vole::func_timer f = vole::after_func(1s, [] {});
  (void)(f.stop() || f.reset(1s));
}

// ── context.h ──
inline constexpr vole::context_key<std::string> kKey{"key"};
void context(std::stop_token stop) {
  const vole::context root = vole::context::background();
  auto [ctx, cancel] = vole::with_timeout(root, 5s);
  vole::cancelable a = vole::with_cancel(ctx);
  vole::cancelable b = vole::with_deadline(a.ctx, vole::now() + 1s);
  vole::cancelable c = vole::with_stop_token(b.ctx, stop);
  vole::context d = vole::with_value(c.ctx, kKey, "value");
  vole::context e = vole::without_cancel(d);
  vole::recv_chan<> done = d.done();
  std::error_code why = d.err();
  std::exception_ptr cause = d.cause();
  std::optional<vole::time_point> deadline = d.deadline();
  const std::string* value = d.value(kKey);
  std::stop_token token = d.stop_token();
  vole::func_watch w = vole::after_func(e, [] {});
  (void)w.stop();
  vole::context_callback callback(d, [] {});
  vole::cancel_function mine = std::move(cancel);
  mine();
  mine(std::make_exception_ptr(1));
  (void)done, (void)why, (void)cause, (void)deadline, (void)value, (void)token;
}

// ── signal.h ──
void signals(const vole::context& ctx) {
  vole::chan<int> c(1);
  auto registration = vole::signal_notify(c, {SIGINT, SIGTERM});
  auto [stopped, cancel] = vole::signal_context(ctx, {SIGINT, SIGTERM});
  vole::ignore_signal(SIGHUP);
  vole::reset_signal(SIGHUP);
}

// ── group.h ──
void groups(const vole::context& ctx) {
  vole::group g, h(ctx);
  g.set_limit(2);
  g.go([](int) {}, 1);
  g.go({.name = "x"}, [] {});
  (void)g.try_go([] {});
  vole::context of = g.context();
  g.wait();
}

// ── net.h ──
void net(const vole::context& ctx) {
  std::error_code error;
  vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
  l = vole::net::listen("tcp", "127.0.0.1:0",
                        vole::net::listen_options{.backlog = 5, .reuse_port = true, .control = {}});
  l = vole::net::listen("tcp", "127.0.0.1:0", error);
  vole::net::conn c = l.accept(), d = l.accept(ctx), e = l.accept(error), f = l.accept(ctx, error);
  vole::net::address at = l.local_address();
  c = vole::net::dial("tcp", at.to_string());
  c = vole::net::dial("tcp", "host:80", ctx);
  c = vole::net::dial("tcp", "host:80", 5s);
  c = vole::net::dial("tcp", "host:80",
                      vole::net::dial_options{.ctx = ctx,
                                              .timeout = 5s,
                                              .local = {},
                                              .keep_alive = 15s,
                                              .no_delay = true,
                                              .linger = {},
                                              .control = {}});
  c = vole::net::dial("tcp", "host:80", error);
  char chars[8];
  std::array<std::byte, 8> bytes{};
  std::vector<unsigned char> more(8);
  std::size_t n = c.read(chars) + c.read(bytes, error) + c.read(more, ctx) +
                  c.read(std::span(chars), ctx, error);
  n += c.read_full(chars) + c.read_full(bytes, error);
  n += c.write("text") + c.write(bytes, error) + c.write(more, ctx) +
       c.write(std::string("x"), ctx, error);
  c.set_deadline(vole::now() + 1s);
  c.set_read_deadline(vole::time_point::max());
  c.set_write_deadline(vole::time_point::max());
  (void)(c.local_address() == c.remote_address());
  c.close_write();
  const int fd = c.release();
  vole::net::conn adopted(fd);
  vole::net::listener adopted_listener(fd, error);
  (void)adopted.native_handle();
  if (adopted) adopted.close();
  auto [one, two] = vole::net::pipe();
  one.send_fds(std::array{0, 1});
  std::vector<int> fds = two.recv_fds();
  (void)(one.peer_credentials().pid + static_cast<int>(n + fds.size()));
  vole::net::packet_conn u = vole::net::listen_packet("udp", "127.0.0.1:0");
  std::pair<std::size_t, vole::net::address> got = u.read_from(chars);
  (void)u.write_to(chars, got.second);
  at = vole::net::address::parse("tcp", "127.0.0.1:80");
  (void)(at.host().size() + at.network().size() + at.port());
  (void)((at <=> got.second) == 0 || at < got.second);
  (void)std::hash<vole::net::address>{}(at);
  std::vector<vole::net::address> found = vole::net::resolve("tcp", "host:80");
  std::vector<std::string> names = vole::net::lookup_addr("127.0.0.1");
  for (const vole::net::srv& s : vole::net::lookup_srv("http", "tcp", "example.org"))
    (void)(s.target.size() + s.port + s.priority + s.weight);
  bool ready = vole::wait_readable(0) || vole::wait_writable(1, vole::now()) ||
               vole::wait_readable(0, ctx) || vole::wait_writable(1, error);
  (void)ready;
}

// ── io.h ──
void io(vole::net::conn& c, vole::net::conn& d, const vole::context& ctx) {
  std::error_code error;
  vole::io::reader r(c);
  vole::io::writer w(c);
  std::string line;
  char some[4];
  (void)(r.read_line(line) || r.read_until(';', line));
  (void)(r.read_exact(some) + r.peek(2).size());
  w.write("x");
  w.flush();
  std::uint64_t n = vole::io::copy(c, d);
  std::string all = vole::io::read_all(c);

  vole::file f = vole::file::open("path", "r");
  f = vole::file::open("path", "r+", error);
  n += f.read(some) + f.write("text") + f.read_at(some, 0) + f.write_at("text", 10);
  n += f.read(some, error) + f.write(line, error) + f.read_at(line, 5, error);
  f.sync();
  n += f.size() + f.stat().size + f.seek(0);
  f.resize(5);
  (void)f.native_handle();
  n += vole::io::copy(c, f) + vole::io::copy(f, c);
  vole::io::reader lines(f);
  all = vole::io::read_all(f);
  f.close();
  vole::net::conn in = vole::io::standard_input(), out = vole::io::standard_output(),
                  err = vole::io::standard_error();

  const auto [output, status, errors] = vole::process::run({"cmd", "arg"});
  vole::process::result result = vole::process::run(
      {"cmd"}, {.input = "x", .directory = "/", .environment = {"A=b"}, .merge_errors = true}, ctx);
  result = vole::process::run({"cmd"}, ctx);
  result = vole::process::run({"cmd"}, error);
  (void)(result.status.success() || result.status == 1 || status.signal() == SIGKILL);
  vole::process::child p = vole::process::start({"cmd"}, {.err = vole::process::stream::inherit});
  p.in().write("x");
  all = vole::io::read_all(p.out());
  (void)p.kill();
  vole::process::exit_status ended = p.wait();
  ended = p.wait(ctx, error);
  (void)(ended.exit_code() + static_cast<int>(n + output.size() + errors.size()));
}

// ── trace.h ──
void trace() {
  std::error_code error;
  vole::trace::start("file");
  vole::trace::stop();
  vole::trace::start("file", error);
  vole::trace::stop(error);
  vole::trace::record();
  vole::trace::record({.bytes = 1 << 20, .window = 5s, .ring = "file"}, error);
  const vole::trace::recorder_options options{.window = std::chrono::seconds(1)};
  vole::trace::record(options);
  vole::trace::snapshot("file");
  vole::trace::stop_recording();
  const vole::trace::region r("name");
  const vole::trace::task t("name");
  vole::trace::log("category", "text");
  (void)vole::trace::active();
}

void versions() {
  const vole::go_options options{.name = "x"};
  vole::go(options, [] {});
  const std::string_view text = vole::version();
  const vole::runtime_stats s = vole::stats();
  (void)(vole::version_number() + static_cast<int>(text.size() + s.hooked_waits + s.hooked_migrations));
}

void errors() {
  std::error_code e = vole::errc::deadline_exceeded;
  (void)(e == std::errc::timed_out);
  e = vole::errc::canceled;
  (void)(e == std::errc::operation_canceled || e == vole::errc::goroutine_exited);
  (void)(e.category() == vole::vole_category());
}

int main(int argc, char**) {
  if (argc < 100) return 0;
  const vole::context ctx;
  auto [a, b] = vole::net::pipe();
  run_and_go(), runtime(), blocking(), channels(ctx), select(ctx), sync(ctx, {}), containers(ctx);
  time(), context({}), signals(ctx), groups(ctx), net(ctx), io(a, b, ctx), errors();
  trace(), versions();
}
