// Many connections, each in `select pg_sleep(0.1)` at once, through libpq as it is: on goroutines with
// hooks, and on a thread for each, in turn. Wall time and threads.
// postgres [connections [queries]] "connection string"
//
// Note   the ideal is queries x 0.1 s on a machine that has processors to spare; where five hundred
//        server processes wake at once on two of them, the threads' time says what can be had.

#include <postgresql/libpq-fe.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <vole/vole.h>

namespace {

struct measure {
  int n, queries;
  const char* where;
};

PGconn* connect(const char* where) {
  PGconn* const c = PQconnectdb(where);
  if (PQstatus(c) != CONNECTION_OK) {
    std::fprintf(stderr, "%s", PQerrorMessage(c));
    std::exit(1);
  }
  return c;
}

void ask(PGconn* c, int queries) {
  for (int i = 0; i < queries; ++i) PQclear(PQexec(c, "select pg_sleep(0.1)"));
}

void say(const char* what, const measure& m, double s, int threads) {
  std::printf("%-12s %d connections, %d x pg_sleep(0.1): %.3f s, %.2f of the ideal, %d threads\n",
              what, m.n, m.queries, s, s / (0.1 * m.queries), threads);
  std::fflush(stdout);
}

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

int on_goroutines(const measure& m) {
  vole::wait_group connected, done;
  std::vector<PGconn*> all(static_cast<std::size_t>(m.n));
  for (PGconn*& c : all) connected.go([&] { c = connect(m.where); });
  connected.wait();
  const auto t = std::chrono::steady_clock::now();
  for (PGconn* c : all) done.go([&m, c] { ask(c, m.queries); });
  vole::sleep_for(std::chrono::milliseconds(50));
  const int threads = vole::stats().threads;
  done.wait();
  say("goroutines:", m, seconds_since(t), threads);
  for (PGconn* c : all) PQfinish(c);
  return 0;
}

void on_threads(const measure& m) {
  std::vector<PGconn*> all(static_cast<std::size_t>(m.n));
  for (PGconn*& c : all) c = connect(m.where);
  std::vector<std::thread> threads;
  const auto t = std::chrono::steady_clock::now();
  for (PGconn* c : all) threads.emplace_back([&m, c] { ask(c, m.queries); });
  for (std::thread& each : threads) each.join();
  say("threads:", m, seconds_since(t), m.n);
  for (PGconn* c : all) PQfinish(c);
}

}  // namespace

int main(int argc, char** argv) {
  const measure m{argc > 2 ? std::atoi(argv[1]) : 500, argc > 3 ? std::atoi(argv[2]) : 10,
                  argv[argc - 1]};
  for (int round = 0; round < 3; ++round) {
    vole::run([&] { return on_goroutines(m); });
    on_threads(m);
  }
}
