#include "net/lookup.h"

#include <netdb.h>

#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "base/race.h"
#include "os/net.h"
#include "os/os.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr int kMostThreads = 64;

struct lookup_threads {
  std::mutex mutex;
  std::deque<std::shared_ptr<name_job>> waiting;
  int threads = 0;
};
// Never destroyed: a thread may still be at it when the program ends.
lookup_threads& all() {
  static lookup_threads& a = *[] {
    const base::race::unseen here;  // who makes it comes before nobody
    return new lookup_threads;
  }();
  return a;
}

int family_of(const network_name& n) noexcept {
  return n.ip == 4 ? AF_INET : n.ip == 6 ? AF_INET6 : AF_UNSPEC;
}

failure explain(const lookup_job& j, const os::net::lookup_result& r) {
  if (r.eai == EAI_SERVICE)
    return {std::make_error_code(std::errc::invalid_argument),
            "unknown port " + j.network + "/" + j.port,
            {}};
  const std::string who = "lookup " + (j.host.empty() ? j.port : j.host) + ": ";
  std::error_code code = errc::no_such_host;
  if (r.eai == EAI_AGAIN || r.eai == EAI_FAIL) code = errc::lookup_failed;
  if (r.eai == EAI_MEMORY) code = std::make_error_code(std::errc::not_enough_memory);
  if (r.eai == EAI_SYSTEM) code = system_error_code(r.error);
  return {code, who + message_of(code), {}};
}

lookup_answer ask_for(const lookup_job& j) {
  const char* const host = j.host.empty() ? nullptr : j.host.c_str();
  const os::net::lookup_result r =
      os::net::lookup(host, j.port.c_str(), family_of(j.kind), j.kind.socket_type());
  lookup_answer a;
  if (r.eai != 0) {
    a.why = explain(j, r);
    return a;
  }
  for (const addrinfo* i = r.list; i != nullptr; i = i->ai_next) {
    raw_address raw;
    if (i->ai_addrlen > sizeof(raw.storage)) continue;
    std::memcpy(&raw.storage, i->ai_addr, i->ai_addrlen);
    raw.size = i->ai_addrlen;
    if (net::address found = from_raw(raw, j.kind.kind)) a.found.push_back(std::move(found));
  }
  os::net::free_lookup(r.list);
  if (a.found.empty()) a.why = {errc::no_such_host, "lookup " + j.host + ": no such host", {}};
  return a;
}

std::shared_ptr<name_job> next_or_leave() {
  lookup_threads& a = all();
  const std::lock_guard lock(a.mutex);
  if (a.waiting.empty()) {
    --a.threads;
    return nullptr;
  }
  auto job = std::move(a.waiting.front());
  a.waiting.pop_front();
  return job;
}

void work() noexcept {
  while (const std::shared_ptr<name_job> job = next_or_leave()) {
    try {
      job->look_up();
    } catch (...) {  // bad_alloc
      job->why().code = std::make_error_code(std::errc::not_enough_memory);
    }
    job->answer.try_send({});
  }
}

}  // namespace

void lookup_job::look_up() { found = ask_for(*this); }

std::error_code start_lookup(std::shared_ptr<name_job> job) {
  lookup_threads& a = all();
  const std::lock_guard lock(a.mutex);
  a.waiting.push_back(std::move(job));
  if (a.threads == kMostThreads) return {};
  if (const int error = os::start_plain_thread(&work); error == 0) {
    ++a.threads;
  } else if (a.threads == 0) {  // else it has to queue
    a.waiting.pop_back();
    return {error, std::generic_category()};
  }
  return {};
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
