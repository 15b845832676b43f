// net::lookup_addr, net::lookup_srv: the look-ups that getaddrinfo does not do.
//
// Note   the C library asks, on the threads of lookup.h, as it does for names: its files, its servers
//        and its search list count. The caller can give up.

#include <arpa/nameser.h>
#include <netdb.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include <vole/net.h>

#include "base/rand.h"
#include "os/net.h"
#include "net/dns_answer.h"
#include "net/lookup.h"
#include "net/resolve.h"
#include "os/os.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace net {
namespace {

using detail::failure;
using detail::patience;

failure of(const std::error_code& code, const std::string& name) {
  return {code, "lookup " + name + ": " + detail::message_of(code), {}};
}

struct addr_job final : detail::name_job {
  void look_up() override {
    char name[os::net::kMostName];
    const os::net::lookup_result r = os::net::name_of(&at.any, at.size, name);
    if (r.eai == 0) {
      found.emplace_back(name);
      return;
    }
    std::error_code code = errc::no_such_host;
    if (r.eai == EAI_AGAIN || r.eai == EAI_FAIL) code = errc::lookup_failed;
    if (r.eai == EAI_MEMORY) code = std::make_error_code(std::errc::not_enough_memory);
    if (r.eai == EAI_SYSTEM) code = detail::system_error_code(r.error);
    failed = of(code, ip);
  }
  failure& why() noexcept override { return failed; }

  std::string ip;
  detail::raw_address at;
  std::vector<std::string> found;
  failure failed;
};

struct srv_job final : detail::name_job {
  void look_up() override {
    std::vector<unsigned char> text(65535);
    const os::result r = os::net::ask_dns(name.c_str(), ns_t_srv, text.data(), text.size());
    if (!r.ok()) {
      failed = of(r.error == ENOENT ? errc::no_such_host : errc::lookup_failed, name);
    } else if (!detail::parse_srv({text.data(), static_cast<std::size_t>(r.value)}, found)) {
      failed = of(errc::lookup_failed, name);
    } else if (found.empty()) {
      failed = of(errc::no_such_host, name);
    }
  }
  failure& why() noexcept override { return failed; }

  std::string name;
  std::vector<srv> found;
  failure failed;
};

// Asks, and waits as long as the caller does.
template <class Job>
auto ask(const std::shared_ptr<Job>& job, const std::string& name, const patience& p, failure& f) {
  f.code = detail::start_lookup(job);
  if (!f) f = detail::wait_for_answer(*job, name, p);
  return f ? decltype(job->found)() : std::move(job->found);
}

std::vector<std::string> find_names(std::string_view ip, const patience& p, failure& f) {
  f.code = p.over();
  if (f) return {};
  rt::belonging<std::shared_ptr<addr_job>> mine(std::make_shared<addr_job>());
  detail::address_parts literal;
  if (!detail::parse_ip(ip, literal)) {
    f = {std::make_error_code(std::errc::invalid_argument),
         std::string(1, '"').append(ip).append("\" is not an IP address"), {}};
    return {};
  }
  literal.kind = detail::transport::tcp;
  const int family = literal.ip == 4 ? AF_INET : AF_INET6;
  if (!detail::to_raw(detail::access::make<address>(std::move(literal)), family, (*mine)->at)) {
    f.code = errc::no_such_host;
    return {};
  }
  (*mine)->ip = ip;
  return ask(*mine, (*mine)->ip, p, f);
}

std::vector<srv> find_services(std::string_view service, std::string_view protocol,
                               std::string_view name, const patience& p, failure& f) {
  f.code = p.over();
  if (f) return {};
  rt::belonging<std::shared_ptr<srv_job>> mine(std::make_shared<srv_job>());
  std::string& whole = (*mine)->name;
  if (!service.empty() || !protocol.empty())
    whole.append("_").append(service).append("._").append(protocol).append(".");
  whole.append(name);
  if (name.empty() || whole.find('\0') != std::string::npos) {
    f = {std::make_error_code(std::errc::invalid_argument), "invalid name", {}};
    return {};
  }
  auto found = ask(*mine, whole, p, f);
  base::rand_state dice{os::random_seed()};
  detail::order_srv(found, [&](std::uint32_t below) { return dice.below(below); });
  return found;
}

patience of(const context* ctx) noexcept {
  return ctx != nullptr ? patience::of(*ctx) : patience{};
}

// find(patience, failure), and what it cannot find is told or thrown.
template <class Find>
auto tell(const context* ctx, std::error_code& error, Find find) {
  failure f;
  auto found = find(of(ctx), f);
  error = f.code;
  return found;
}
template <class Find>
auto must(const char* what, const context* ctx, Find find) {
  failure f;
  auto found = find(of(ctx), f);
  if (f) detail::throw_net(what, f);
  return found;
}

}  // namespace

std::vector<std::string> lookup_addr(std::string_view ip, const context& ctx,
                                     std::error_code& error) {
  return tell(&ctx, error, [=](const patience& p, failure& f) { return find_names(ip, p, f); });
}
std::vector<std::string> lookup_addr(std::string_view ip, std::error_code& error) {
  return tell(nullptr, error, [=](const patience& p, failure& f) { return find_names(ip, p, f); });
}
std::vector<std::string> lookup_addr(std::string_view ip, const context& ctx) {
  return must("lookup_addr", &ctx,
              [=](const patience& p, failure& f) { return find_names(ip, p, f); });
}
std::vector<std::string> lookup_addr(std::string_view ip) {
  return must("lookup_addr", nullptr,
              [=](const patience& p, failure& f) { return find_names(ip, p, f); });
}

std::vector<srv> lookup_srv(std::string_view service, std::string_view protocol,
                            std::string_view name, const context& ctx, std::error_code& error) {
  return tell(&ctx, error, [=](const patience& p, failure& f) {
    return find_services(service, protocol, name, p, f);
  });
}
std::vector<srv> lookup_srv(std::string_view service, std::string_view protocol,
                            std::string_view name, std::error_code& error) {
  return tell(nullptr, error, [=](const patience& p, failure& f) {
    return find_services(service, protocol, name, p, f);
  });
}
std::vector<srv> lookup_srv(std::string_view service, std::string_view protocol,
                            std::string_view name, const context& ctx) {
  return must("lookup_srv", &ctx, [=](const patience& p, failure& f) {
    return find_services(service, protocol, name, p, f);
  });
}
std::vector<srv> lookup_srv(std::string_view service, std::string_view protocol,
                            std::string_view name) {
  return must("lookup_srv", nullptr, [=](const patience& p, failure& f) {
    return find_services(service, protocol, name, p, f);
  });
}

}  // namespace net
}  // namespace v0
}  // namespace vole
