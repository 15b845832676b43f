// getaddrinfo and kin: libc asks files and servers by ways of its own. All of it is in blocking().

#include "hooks/call.h"

using namespace vole::hooks;

extern "C" {

int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** list) {
  if (!caught(symbol::getaddrinfo_)) return bare().getaddrinfo(host, service, hints, list);
  return libc_in_blocking(VOLE_CALLER(getaddrinfo),
                          [=] { return bare().getaddrinfo(host, service, hints, list); });
}

int getnameinfo(const sockaddr* at, socklen_t size, char* host, socklen_t host_room, char* service,
                socklen_t service_room, int flags) {
  if (!caught(symbol::getnameinfo_))
    return bare().getnameinfo(at, size, host, host_room, service, service_room, flags);
  return libc_in_blocking(VOLE_CALLER(getnameinfo), [=] {
    return bare().getnameinfo(at, size, host, host_room, service, service_room, flags);
  });
}

hostent* gethostbyname(const char* name) {
  if (!caught(symbol::gethostbyname_)) return bare().gethostbyname(name);
  return libc_in_blocking(VOLE_CALLER(gethostbyname), [=] { return bare().gethostbyname(name); });
}

hostent* gethostbyname2(const char* name, int family) {
  if (!caught(symbol::gethostbyname2_)) return bare().gethostbyname2(name, family);
  return libc_in_blocking(VOLE_CALLER(gethostbyname2),
                          [=] { return bare().gethostbyname2(name, family); });
}

int gethostbyname_r(const char* name, hostent* to, char* room, std::size_t n, hostent** result,
                    int* error) {
  if (!caught(symbol::gethostbyname_r_))
    return bare().gethostbyname_r(name, to, room, n, result, error);
  return libc_in_blocking(VOLE_CALLER(gethostbyname_r),
                          [=] { return bare().gethostbyname_r(name, to, room, n, result, error); });
}

int gethostbyname2_r(const char* name, int family, hostent* to, char* room, std::size_t n,
                     hostent** result, int* error) {
  if (!caught(symbol::gethostbyname2_r_))
    return bare().gethostbyname2_r(name, family, to, room, n, result, error);
  return libc_in_blocking(VOLE_CALLER(gethostbyname2_r), [=] {
    return bare().gethostbyname2_r(name, family, to, room, n, result, error);
  });
}

hostent* gethostbyaddr(const void* at, socklen_t size, int family) {
  if (!caught(symbol::gethostbyaddr_)) return bare().gethostbyaddr(at, size, family);
  return libc_in_blocking(VOLE_CALLER(gethostbyaddr),
                          [=] { return bare().gethostbyaddr(at, size, family); });
}

int gethostbyaddr_r(const void* at, socklen_t size, int family, hostent* to, char* room,
                    std::size_t n, hostent** result, int* error) {
  if (!caught(symbol::gethostbyaddr_r_))
    return bare().gethostbyaddr_r(at, size, family, to, room, n, result, error);
  return libc_in_blocking(VOLE_CALLER(gethostbyaddr_r), [=] {
    return bare().gethostbyaddr_r(at, size, family, to, room, n, result, error);
  });
}

}  // extern "C"
