// libcurl's easy interface on many goroutines at once, against a server that answers after 100 ms.
// curl [transfers]

#include <curl/curl.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <vole/vole.h>

namespace {

std::size_t ignore(char*, std::size_t size, std::size_t n, void*) { return size * n; }

bool fetch(const std::string& url) {
  CURL* const c = curl_easy_init();
  curl_easy_setopt(c, CURLOPT_URL, url.c_str());
  curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, ignore);
  curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
  const bool right = curl_easy_perform(c) == CURLE_OK;
  curl_easy_cleanup(c);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 500;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  return vole::run([=] {
    vole::net::listener server = vole::net::listen("tcp", "127.0.0.1:0");
    vole::go([&] {
      std::error_code closed;
      for (;;) {
        vole::net::conn c = server.accept(closed);
        if (closed) return;
        vole::go([c = std::move(c)]() mutable {
          char request[4096];
          if (c.read(request) == 0) return;
          vole::sleep_for(std::chrono::milliseconds(100));
          c.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
        });
      }
    });
    const std::string url = "http://" + server.local_address().to_string() + "/";
    std::atomic<int> right{0}, most{0};
    const auto t = std::chrono::steady_clock::now();
    vole::wait_group all;
    for (int i = 0; i < n; ++i) {
      all.go([&] {
        right += fetch(url) ? 1 : 0;
        most = std::max(most.load(), vole::stats().threads);
      });
    }
    all.wait();
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t).count();
    std::printf("%d transfers of 100 ms: %d right, %.0f ms, at most %d threads on %d procs\n", n,
                right.load(), ms, most.load(), vole::max_procs());
    server.close();
    return right == n ? 0 : 1;
  });
}
