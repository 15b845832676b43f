// A Unix socket at which a program may be asked things by its own user, and nobody else.
//
// Who    src/control: its thread, and the threads that start and stop it; user context.
// Law    the socket has mode 0600 and lies in a folder of mode 0700 that belongs to us and is no
//        link. The kernel tells which user connects; it must be ours, or root.
// Law    every wait has a limit, and ring_control ends them all.
// Proof  tests/tools/control_test.py
#pragma once

#include <cstddef>
#include <cstdint>

namespace vole::os {

struct control_socket {
  int listener = -1;
  int wake_word = -1;
  char path[108] = {};
};

// $XDG_RUNTIME_DIR/vole/PID, else /tmp/vole-UID/PID. 0 or errno; then *what is what was refused.
int open_control(control_socket* s, const char** what) noexcept;
void ring_control(const control_socket& s) noexcept;  // from now on every wait ends
void close_control(control_socket& s) noexcept;       // and removes the path

enum class control_news : std::uint8_t { woken, somebody, gone, nothing };
// Waits until ring_control was called, somebody connects, `connection` (unless negative) is closed by
// its other side, or `ns` have passed; negative: for ever.
control_news await_control(const control_socket& s, int connection, std::int64_t ns) noexcept;

int accept_control(const control_socket& s) noexcept;  // negative: nobody, or a user who may not
// One line, without its end; false: none came within two seconds. *passed: a descriptor that came
// with it, or -1; it is the caller's.
bool receive_line(const control_socket& s, int connection, char* line, std::size_t room,
                  int* passed) noexcept;
// False: the other side is gone, or has taken nothing for five seconds.
bool send_text(const control_socket& s, int connection, const char* text,
               std::size_t bytes) noexcept;
void close_descriptor(int fd) noexcept;
bool is_writable_file(int fd) noexcept;  // a regular one

}  // namespace vole::os
