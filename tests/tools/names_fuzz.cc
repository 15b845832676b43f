// libFuzzer on the names of the network: addresses as text, addresses as the kernel gives them, and the
// answers of name servers. An address that was understood is the same after it has been written down.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <vole/detail/left_behind.h>

#include "net/dns_answer.h"
#include "net/errors.h"
#include "net/socket_address.h"
#include "os/net.h"

// What addresses ask of other rooms: one interface, "eth0".
namespace vole {
namespace rt {
std::atomic<std::uint32_t> left_behind{0};
void sleep_if_left_behind() noexcept {}
}  // namespace rt
inline namespace v0 {
namespace detail {
void throw_net(std::string, const failure& why) { throw std::system_error(why.code); }
}  // namespace detail
}  // namespace v0
namespace os::net {
result local_name(int, sockaddr*, socklen_t*) noexcept { return {0, 1}; }
result peer_name(int, sockaddr*, socklen_t*) noexcept { return {0, 1}; }
std::uint32_t zone_index(const char* name) noexcept { return std::string_view(name) == "eth0" ? 2 : 0; }
bool zone_name(std::uint32_t zone, char* name) noexcept {
  if (zone == 2) std::strcpy(name, "eth0");
  return zone == 2;
}
}  // namespace os::net
}  // namespace vole

namespace {

using namespace vole;

void must(bool holds) {
  if (!holds) __builtin_trap();
}

void read_address(std::string_view text, std::string_view network) {
  std::error_code error;
  const net::address a = net::address::parse(text, network, error);
  must(static_cast<bool>(a) == !error);
  if (error) return;
  must(net::address::parse(a.to_string(), network, error) == a && !error);
  for (const int family : {AF_UNIX, AF_INET, AF_INET6}) {
    detail::raw_address raw;
    if (!detail::to_raw(a, family, raw)) continue;
    must(raw.size <= sizeof raw.storage);
    must(detail::from_raw(raw, detail::access::parts(a).kind) == a);
  }
}

void read_raw(std::string_view bytes) {
  detail::raw_address raw;
  raw.size = static_cast<socklen_t>(std::min(bytes.size(), sizeof raw.storage));
  std::memcpy(&raw.storage, bytes.data(), raw.size);
  const net::address a = detail::from_raw(raw, detail::transport::tcp);
  static_cast<void>(a.to_string());
}

void read_answer(std::string_view bytes) {
  std::vector<net::srv> all;
  const auto* const first = reinterpret_cast<const unsigned char*>(bytes.data());
  if (!detail::parse_srv({first, bytes.size()}, all)) return;
  const std::size_t n = all.size();
  detail::order_srv(all, [&](std::uint32_t below) { return bytes.size() % below; });
  must(all.size() == n);
  for (std::size_t i = 1; i < n; ++i) must(all[i - 1].priority <= all[i].priority);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  static constexpr std::string_view kNetworks[] = {"tcp", "tcp4", "udp6", "unix", "unixgram"};
  switch (data[0] % 8) {
    case 5: read_raw(text); break;
    case 6: read_answer(text); break;
    case 7: read_address("[::1]:80", text); break;
    default: read_address(text, kNetworks[data[0] % 8]);
  }
  return 0;
}
