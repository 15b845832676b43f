// The system calls behind the functions of libc that hooks replace, as the kernel makes them in every
// build: the result, or a negative errno value. Their arguments are the system's own, since hooks
// stand in for the libc of one system.
//
// Who    hooks.
// Where  anywhere, signal handlers included. Inline: a hooked call costs no jump more.
#pragma once

#if defined(__linux__)
#include "os/linux/kernel_calls.h"
#endif

namespace vole::os::kernel {

VOLE_KERNEL_CALL(accept4)
VOLE_KERNEL_CALL(clock_nanosleep)
VOLE_KERNEL_CALL(close)
VOLE_KERNEL_CALL(connect)
VOLE_KERNEL_CALL(epoll_pwait)
VOLE_KERNEL_CALL(fcntl)
VOLE_KERNEL_CALL(flock)
VOLE_KERNEL_CALL(getsockopt)
VOLE_KERNEL_CALL(lseek)
VOLE_KERNEL_CALL(newfstatat)
VOLE_KERNEL_CALL(pidfd_open)
VOLE_KERNEL_CALL(ppoll)
VOLE_KERNEL_CALL(preadv2)
VOLE_KERNEL_CALL(pselect6)
VOLE_KERNEL_CALL(pwritev2)
VOLE_KERNEL_CALL(read)
VOLE_KERNEL_CALL(readv)
VOLE_KERNEL_CALL(recvfrom)
VOLE_KERNEL_CALL(recvmmsg)
VOLE_KERNEL_CALL(recvmsg)
VOLE_KERNEL_CALL(sendfile)
VOLE_KERNEL_CALL(sendmmsg)
VOLE_KERNEL_CALL(sendmsg)
VOLE_KERNEL_CALL(sendto)
VOLE_KERNEL_CALL(splice)
VOLE_KERNEL_CALL(wait4)
VOLE_KERNEL_CALL(waitid)
VOLE_KERNEL_CALL(write)
VOLE_KERNEL_CALL(writev)

}  // namespace vole::os::kernel

#undef VOLE_KERNEL_CALL
