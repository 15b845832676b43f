// MariaDB through its C library, as it is: a connection for each goroutine.
//
// Teaches: linked with vole::hooks, a query parks its goroutine; each goroutine has a connection of
// its own and ends it. Give it the server's socket: ./mariadb /run/mysqld/mysqld.sock. Built where
// libmariadb-dev is installed.

#include <vole/vole.h>

#include <mariadb/mysql.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using connection = std::unique_ptr<MYSQL, void (*)(MYSQL*)>;

connection connect(const char* socket) {
  connection c(mysql_init(nullptr), mysql_close);
  if (mysql_real_connect(c.get(), nullptr, "root", nullptr, nullptr, 0, socket, 0) == nullptr)
    throw std::runtime_error(mysql_error(c.get()));
  return c;
}

int ask(MYSQL* c, const std::string& sql) {
  if (mysql_query(c, sql.c_str()) != 0) throw std::runtime_error(mysql_error(c));
  const std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> r(mysql_store_result(c),
                                                           mysql_free_result);
  const MYSQL_ROW row = r != nullptr ? mysql_fetch_row(r.get()) : nullptr;
  if (row == nullptr) throw std::runtime_error("no row: " + sql);
  return std::stoi(row[0]);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const socket = argc > 1 ? argv[1] : "/run/mysqld/mysqld.sock";
  mysql_library_init(0, nullptr, nullptr);
  return vole::run([&] {
    constexpr int kClients = 40;
    vole::group clients;
    vole::mutex lock;
    int sum = 0;
    for (int i = 1; i <= kClients; ++i) {
      clients.go([&, i] {
        const connection mine = connect(socket);
        const int n = ask(mine.get(), "select " + std::to_string(i) + " + sleep(0.05)");
        const std::lock_guard hold(lock);
        sum += n;
      });
    }
    clients.wait();  // throws what the first of them threw
    std::printf("%d queries of 50 ms, %d threads, sum %d\n", kClients, vole::stats().threads, sum);
    return sum == kClients * (kClients + 1) / 2 ? 0 : 1;
  });
}
