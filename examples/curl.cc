// libcurl's easy interface, as it is: many transfers at a time, one goroutine for each.
//
// Teaches: linked with vole::hooks, curl_easy_perform parks its goroutine wherever it waits, so no
// multi handle and no event loop is needed; the first failure is thrown by the group. Give it URLs:
// ./curl https://example.com; without one it asks a server of its own. Built where
// libcurl4-openssl-dev is installed.

#include <vole/vole.h>

#include <curl/curl.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::size_t append(char* from, std::size_t size, std::size_t n, void* to) {
  static_cast<std::string*>(to)->append(from, size * n);
  return size * n;
}

std::string fetch(const std::string& url) {
  const std::unique_ptr<CURL, void (*)(CURL*)> c(curl_easy_init(), curl_easy_cleanup);
  std::string body;
  curl_easy_setopt(c.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(c.get(), CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(c.get(), CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(c.get(), CURLOPT_NOSIGNAL, 1L);  // no alarm(2) for slow names
  curl_easy_setopt(c.get(), CURLOPT_TIMEOUT, 30L);
  if (const CURLcode e = curl_easy_perform(c.get()); e != CURLE_OK)
    throw std::runtime_error(url + ": " + curl_easy_strerror(e));
  return body;
}

// Answers after 50 ms.
void serve(vole::net::conn c) {
  char request[4096];
  if (c.read(request) == 0) return;
  vole::sleep_for(std::chrono::milliseconds(50));
  c.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
}

}  // namespace

int main(int argc, char** argv) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  std::vector<std::string> urls(argv + 1, argv + argc);
  return vole::run([&] {
    vole::net::listener server = vole::net::listen("tcp", "127.0.0.1:0");
    vole::go([&] {
      std::error_code closed;
      for (;;) {
        vole::net::conn c = server.accept(closed);
        if (closed) return;
        vole::go([c = std::move(c)]() mutable { serve(std::move(c)); });
      }
    });
    if (urls.empty()) urls.assign(100, "http://" + server.local_address().to_string() + "/");
    vole::group transfers;
    std::vector<std::size_t> bytes(urls.size());
    for (std::size_t i = 0; i < urls.size(); ++i)
      transfers.go([&, i] { bytes[i] = fetch(urls[i]).size(); });
    transfers.wait();
    std::size_t sum = 0;
    for (const std::size_t n : bytes) sum += n;
    std::printf("%zu transfers, %zu bytes, %d threads\n", urls.size(), sum, vole::stats().threads);
    server.close();
    return sum > 0 ? 0 : 1;
  });
}
