// PostgreSQL through libpq, as it is: a pool of connections for many goroutines.
//
// Teaches: linked with vole::hooks, a query parks its goroutine, so two hundred of them wait on a
// handful of threads; a channel of connections is a pool. Give it a connection string:
// ./postgres "host=/run/postgresql dbname=postgres". Built where libpq-dev is installed.

#include <vole/vole.h>

#include <postgresql/libpq-fe.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

struct ends_connection {
  void operator()(PGconn* c) const { PQfinish(c); }
};
using connection = std::unique_ptr<PGconn, ends_connection>;

connection connect(const char* where) {
  connection c(PQconnectdb(where));  // resolves, connects, logs in: parked meanwhile
  if (PQstatus(c.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(c.get()));
  return c;
}

std::string ask(PGconn* c, const std::string& sql) {
  const std::unique_ptr<PGresult, void (*)(PGresult*)> r(PQexec(c, sql.c_str()), PQclear);
  if (PQresultStatus(r.get()) != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(c));
  return PQgetvalue(r.get(), 0, 0);
}

class pool {
 public:
  pool(const char* where, int size) : idle_(static_cast<std::size_t>(size)) {
    for (int i = 0; i < size; ++i) idle_.send(connect(where));
  }
  std::string ask(const std::string& sql) {
    connection c = *idle_.recv();  // waits for one that is free
    std::string answer = ::ask(c.get(), sql);
    idle_.send(std::move(c));  // one that has failed is not put back
    return answer;
  }

 private:
  vole::chan<connection> idle_;
};

}  // namespace

int main(int argc, char** argv) {
  return vole::run([&] {
    pool connections(argc > 1 ? argv[1] : "", 20);
    const vole::time_point begin = vole::now();
    vole::group queries;
    vole::mutex lock;
    long sum = 0;
    for (int i = 1; i <= 200; ++i) {
      queries.go([&, i] {
        const std::string n = std::to_string(i);
        const std::string answer = connections.ask("select " + n + " from pg_sleep(0.05)");
        const std::lock_guard hold(lock);
        sum += std::stol(answer);
      });
    }
    queries.wait();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(vole::now() - begin);
    std::printf("200 queries of 50 ms on 20 connections: %lld ms, %d threads, sum %ld\n",
                static_cast<long long>(ms.count()), vole::stats().threads, sum);
    return sum == 20100 ? 0 : 1;
  });
}
