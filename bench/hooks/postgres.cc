// Many goroutines, each with a connection of its own, in `select pg_sleep(0.1)` at once: wall time
// beside the ideal, and threads. postgres [goroutines [rounds]] "connection string"

#include <postgresql/libpq-fe.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <vole/vole.h>

int main(int argc, char** argv) {
  const int n = argc > 2 ? std::atoi(argv[1]) : 500, rounds = argc > 3 ? std::atoi(argv[2]) : 5;
  const char* const where = argv[argc - 1];
  return vole::run([=] {
    vole::wait_group connected, done;
    vole::chan<int> begin;
    connected.add(n);
    for (int i = 0; i < n; ++i) {
      done.go([&] {
        PGconn* const c = PQconnectdb(where);
        if (PQstatus(c) != CONNECTION_OK) std::fprintf(stderr, "%s", PQerrorMessage(c));
        connected.done();
        (void)begin.recv();
        for (int r = 0; r < rounds; ++r) PQclear(PQexec(c, "select pg_sleep(0.1)"));
        PQfinish(c);
      });
    }
    connected.wait();
    const auto t = std::chrono::steady_clock::now();
    begin.close();
    vole::sleep_for(std::chrono::milliseconds(50));
    const int threads = vole::stats().threads;
    done.wait();
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
    std::printf(
        "%d goroutines, %d x pg_sleep(0.1): %.3f s, ideal %.1f s: %.2f; %d threads on %d procs\n",
        n, rounds, s, 0.1 * rounds, s / (0.1 * rounds), threads, vole::max_procs());
    return 0;
  });
}
