// Crawler: follows links from page to page, a goroutine per page, against a server of its own.
// Teaches: goroutines of a group may start more in it. A semaphore bounds how many connections are
// open at once. What is expected (a missing page) is a value; other errors are exceptions, which
// cancel the group and come out of wait().

#include <vole/vole.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

const std::map<std::string, std::vector<std::string>> kSite = {
    {"/", {"/news", "/about"}}, {"/news", {"/", "/news/1", "/news/2"}}, {"/about", {"/", "/gone"}},
    {"/news/1", {"/news"}},     {"/news/2", {"/news", "/news/1"}},
};

// One request a connection: a line with the path; the answer is "ok" or "missing", then the links.
void serve(vole::net::conn c) {
  std::error_code error;
  vole::io::reader in(c);
  vole::io::writer out(c);
  std::string path;
  (void)in.read_line(path, error);
  const auto page = kSite.find(path);
  out.write(page == kSite.end() ? "missing\n" : "ok\n", error);
  if (page == kSite.end()) return;
  for (const std::string& link : page->second) out.write(link + "\n", error);
}

struct crawler {
  std::string at;
  vole::group pages{};
  vole::semaphore connections{2};
  vole::mutex lock{};
  std::set<std::string> seen{};  // lock
  std::atomic<int> missing{0};

  void visit(const std::string& path) {
    const std::lock_guard hold(lock);
    if (seen.insert(path).second) pages.go({.name = path}, [this, path] { fetch(path); });
  }

  void fetch(const std::string& path) {
    connections.acquire(pages.context());
    vole::net::conn c = vole::net::dial("tcp", at, pages.context());
    c.write(path + "\n", pages.context());
    vole::io::reader in(c);
    std::string line;
    if (!in.read_line(line) || line != "ok") ++missing;
    while (in.read_line(line)) visit(line);
    connections.release();
  }
};

}  // namespace

int main() {
  return vole::run([] {
    auto server = vole::net::listen("tcp", "127.0.0.1:0");
    vole::group serving;
    serving.go([&] {
      std::error_code error;
      while (error != vole::errc::closed)
        if (vole::net::conn c = server.accept(error)) serving.go(serve, std::move(c));
    });
    crawler c{.at = server.local_address().to_string()};
    c.visit("/");
    c.pages.wait();
    server.close();
    serving.wait();
    std::printf("%zu pages, %d missing\n", c.seen.size(), c.missing.load());
    return c.seen.size() == 6 && c.missing == 1 ? 0 : 1;
  });
}
