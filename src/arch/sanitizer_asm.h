// The doors' calls to a sanitizer; empty unless one is built in. arch/sanitizer.h has
// the functions that they call.
#pragma once

#if defined(__x86_64__)

#if defined(VOLE_SANITIZE_ADDRESS) || defined(VOLE_SANITIZE_THREAD)
.macro VOLE_SAN_DEPART          // keeps rax, in r15; rbx, r12, r13, r14 are callee-saved
        movq    %rax, %r15
        call    vole_san_depart
        movq    %r15, %rax
.endm
.macro VOLE_SAN_ARRIVE
        call    vole_san_arrive
.endm
.macro VOLE_LEAVE_RT            // the same store and test, where the sanitizer sees them
        movq    %rbx, %rdi
        call    vole_san_leave_rt
        testl   %eax, %eax
.endm
#else
.macro VOLE_SAN_DEPART
.endm
.macro VOLE_SAN_ARRIVE
.endm
.macro VOLE_LEAVE_RT
        movl    $0, VOLE_M_IN_RT(%rbx)
        cmpl    $0, VOLE_M_ATTENTION(%rbx)
.endm
#endif

#elif defined(__aarch64__)

#if defined(VOLE_SANITIZE_ADDRESS) || defined(VOLE_SANITIZE_THREAD)
.macro VOLE_SAN_DEPART          // keeps x0 in x20; x19, x21 are callee-saved
        mov     x20, x0
        bl      vole_san_depart
        mov     x0, x20
.endm
.macro VOLE_SAN_ARRIVE
        bl      vole_san_arrive
.endm
.macro VOLE_LEAVE_RT reg
        mov     x0, x19
        bl      vole_san_leave_rt
        mov     \reg, w0
.endm
#else
.macro VOLE_SAN_DEPART
.endm
.macro VOLE_SAN_ARRIVE
.endm
.macro VOLE_LEAVE_RT reg
        stlr    wzr, [x19]              // in_rt is at offset 0
        ldr     \reg, [x19, #VOLE_M_ATTENTION]
.endm
#endif

#endif
