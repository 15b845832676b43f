// The network: tcp, udp and unix sockets, in the blocking style.
//
//     void echo(vole::net::conn c) {
//       char text[4096];
//       std::error_code error;  // a client may reset the connection at any time
//       while (std::size_t n = c.read(text, error)) c.write({text, n}, error);
//     }
//
//     auto server = vole::net::listen("tcp", "127.0.0.1:8080");
//     for (;;) vole::go(echo, server.accept());
//
// A goroutine that has to wait parks; a plain thread blocks (and starts the runtime, if none runs:
// somebody has to poll). Any goroutine may use a conn, listener or packet_conn at any time: reads
// queue behind reads, writes behind writes, and close() wakes everybody with errc::closed. Moving
// or destroying the object itself while others use it is, as ever, a race.
//
// A call that fails throws std::system_error, whose what() is like "dial tcp 127.0.0.1:1: connection
// refused". Each has a twin with a last std::error_code& that does not throw it: cleared on
// success; on error the result is empty, or how much was done. Empty objects answer errc::closed.
// SIGPIPE is never raised.
//
// Every call that waits takes a const context& as well, before the error_code&: when the context is
// done, that call, and no other, ends with errc::canceled or errc::deadline_exceeded.
//
// network: "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "unix", "unixgram", "unixpacket".
// at: "host:port", where the port may be a name ("http") and the host a name, an address, or, for
// this machine, nothing; a unix socket's path, or "@name" for an abstract one.
//
// net_conn.h has conn, packet_conn and pipe; net_listen.h listen and listener; net_dial.h dial and
// resolve; net_options.h what dial and listen can be told.
#pragma once

#include <system_error>

#include <vole/context.h>
#include <vole/detail/time.h>
#include <vole/errors.h>
#include <vole/net_conn.h>
#include <vole/net_dial.h>
#include <vole/net_listen.h>
#include <vole/net_options.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// Waits until fd, which a C library opened, can be read or written without blocking, or has an
// error or its end to report. False: the time was over. If fd is closed meanwhile, its file is
// waited for all the same. With a context: when that is done, its error.
bool wait_readable(int fd, detail::any_time_point until = time_point::max());
bool wait_readable(int fd, std::error_code& error);
bool wait_readable(int fd, detail::any_time_point until, std::error_code& error);
bool wait_readable(int fd, const context& ctx);
bool wait_readable(int fd, const context& ctx, std::error_code& error);
bool wait_writable(int fd, detail::any_time_point until = time_point::max());
bool wait_writable(int fd, std::error_code& error);
bool wait_writable(int fd, detail::any_time_point until, std::error_code& error);
bool wait_writable(int fd, const context& ctx);
bool wait_writable(int fd, const context& ctx, std::error_code& error);

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
