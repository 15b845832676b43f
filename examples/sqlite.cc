// SQLite: a C library that blocks its thread, called from many goroutines.
//
// Teaches: blocking() tells the scheduler that a call may sleep, so its processor serves others
// meanwhile; a vole::mutex, not a std::mutex, guards what is shared; a column is copied before the
// goroutine may move to another thread. Built only where libsqlite3-dev is installed.

#include <vole/vole.h>

#include <sqlite3.h>

#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>

namespace {

class database {
 public:
  explicit database(const char* path) {
    if (sqlite3_open(path, &handle_) != SQLITE_OK) fail();
  }
  ~database() { sqlite3_close(handle_); }
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  void execute(const std::string& sql) {
    const std::lock_guard hold(lock_);  // goroutines that wait here are parked
    vole::blocking([&] {
      if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
    });
  }

  long long number(const std::string& sql) {
    const std::lock_guard hold(lock_);
    return vole::blocking([&] {
      sqlite3_stmt* query = nullptr;
      if (sqlite3_prepare_v2(handle_, sql.c_str(), -1, &query, nullptr) != SQLITE_OK) fail();
      const bool found = sqlite3_step(query) == SQLITE_ROW;
      const long long value = found ? sqlite3_column_int64(query, 0) : 0;
      sqlite3_finalize(query);
      if (!found) throw std::runtime_error("no row: " + sql);
      return value;
    });
  }

 private:
  [[noreturn]] void fail() { throw std::runtime_error(sqlite3_errmsg(handle_)); }
  sqlite3* handle_ = nullptr;
  vole::mutex lock_;
};

}  // namespace

int main() {
  return vole::run([] {
    database db(":memory:");
    db.execute("create table visits (who integer)");
    vole::group visitors;
    for (int i = 1; i <= 100; ++i)
      visitors.go([&, i] { db.execute("insert into visits values (" + std::to_string(i) + ")"); });
    visitors.wait();  // throws what the first of them threw
    const long long sum = db.number("select sum(who) from visits");
    std::printf("sum of 100 visitors: %lld\n", sum);
    return sum == 5050 ? 0 : 1;
  });
}
