// The contract with the operating system for sockets, pipes and whatever else has a descriptor, and
// for names of the network: each call returns what the kernel said, as a value.
//
// Who    net; file and process for the calls that they share.
// Where  user context; the quick ones inside the runtime as well. Nothing allocates but lookup.
// Law    error 0: it worked, and `value` counts. EINTR is tried again here and never seen.
// Law    no call raises SIGPIPE: sockets say MSG_NOSIGNAL; what has no such flag (pipes, sendfile)
//        blocks the signal around the call and takes it back if it is the call's own.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "os/result.h"

struct addrinfo;
struct pollfd;

namespace vole::os::net {

// ── data ──
result read(int fd, void* to, std::size_t n) noexcept;
result write(int fd, const iovec* parts, int count) noexcept;       // not a socket
result send(int fd, const void* from, std::size_t n) noexcept;      // a socket
result send_parts(int fd, const iovec* parts, int count) noexcept;  // a socket
result send_file(int to, int from, std::int64_t* offset, std::size_t n) noexcept;
result splice(int from, int to, std::size_t n) noexcept;  // one of them a pipe
result receive_from(int fd, void* to, std::size_t n, sockaddr* peer, socklen_t* size) noexcept;
result send_to(int fd, const void* from, std::size_t n, const sockaddr* peer,
               socklen_t size) noexcept;

// ── sockets ── non-blocking, closed on exec
result socket(int domain, int type, int protocol) noexcept;
result bind(int fd, const sockaddr* at, socklen_t size) noexcept;
result listen(int fd, int backlog) noexcept;
result accept(int fd, sockaddr* peer, socklen_t* size) noexcept;
result connect(int fd, const sockaddr* to, socklen_t size) noexcept;  // EINPROGRESS: on its way
result shut_down(int fd, int how) noexcept;
result set_option(int fd, int level, int name, int value) noexcept;
result set_linger(int fd, int seconds) noexcept;
result option(int fd, int level, int name) noexcept;
result local_name(int fd, sockaddr* at, socklen_t* size) noexcept;
result peer_name(int fd, sockaddr* at, socklen_t* size) noexcept;

// Descriptors with one byte. receive_fds: at most `most`, closed on exec, to `fds`; value: how many,
// -1: the end. EMSGSIZE: there were more, and all are closed.
inline constexpr std::size_t kMostFds = 253;
result send_fds(int fd, const int* fds, std::size_t n) noexcept;
result receive_fds(int fd, int* fds, std::size_t most) noexcept;
result peer_credentials(int fd, std::int64_t (&pid_uid_gid)[3]) noexcept;
result socket_pair(int (&ends)[2]) noexcept;

// ── files ──
result make_nonblocking(int fd, bool yes) noexcept;  // value: it was non-blocking before
result duplicate(int fd) noexcept;
// Read from ends[0] what is written to ends[1]. Of that size if the system allows it.
result pipe(int (&ends)[2], std::size_t size) noexcept;
result close(int fd) noexcept;
result unlink(const char* path) noexcept;
result ready_now(int fd, bool for_writing) noexcept;  // value 1: it would not block
// ppoll, until `deadline` of CLOCK_MONOTONIC; INT64_MAX: for ever. EINTR is tried again.
result poll(pollfd* fds, unsigned n, std::int64_t deadline) noexcept;
int most_pending() noexcept;                          // net.core.somaxconn

// ── names ── may block for seconds; allocates
struct lookup_result {
  addrinfo* list = nullptr;  // freed by free_lookup
  int eai = 0;               // getaddrinfo's
  int error = 0;             // errno, if eai is EAI_SYSTEM
};
lookup_result lookup(const char* host, const char* service, int family, int socket_type) noexcept;
void free_lookup(addrinfo* list) noexcept;
// The name of that address, to `name` with room for kMostName. 0 or EAI_*; then `error` counts, too.
inline constexpr std::size_t kMostName = 1025;
lookup_result name_of(const sockaddr* at, socklen_t size, char* name) noexcept;
// The answer of the domain name system to a question of class IN, with the search list of this
// machine. value: its size. Else ENOENT: there is no such name, or nothing of that type; EAGAIN: it
// could not be asked; EMSGSIZE: the answer is larger than `room`.
result ask_dns(const char* name, int type, unsigned char* to, std::size_t room) noexcept;
// For tests: whom to ask instead. Null: this machine's servers again.
void set_dns_server(const sockaddr_in* at) noexcept;
std::uint32_t zone_index(const char* name) noexcept;         // 0: unknown
bool zone_name(std::uint32_t index, char* name16) noexcept;  // at least IF_NAMESIZE bytes

}  // namespace vole::os::net
