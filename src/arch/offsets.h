// Where the assembly finds its fields. Plain numbers, read by switch.S and held to
// the structs by static_asserts in gmp/m.h and gmp/g.h.
#pragma once

#define VOLE_M_IN_RT 0
#define VOLE_M_ATTENTION 8
#define VOLE_M_CURG 64
#define VOLE_M_COMMIT 72
#define VOLE_M_G0_SP 144
#define VOLE_M_COMMIT_ARG 88
#define VOLE_M_COMMIT_G 96
#define VOLE_M_YIELD_VALUE 96  // the same place
#define VOLE_M_YIELD_WORD 112
#define VOLE_G_WAKE_VALUE 24

// The frame a door leaves on the stack it departs from, lowest address first.
#if defined(__x86_64__)
#define VOLE_FRAME_BYTES 64  // fp control, r15 r14 r13 r12 rbx rbp, return address
#elif defined(__aarch64__)
#define VOLE_FRAME_BYTES 176  // x19-x30, d8-d15, fpcr, pad
#else
#error "vole has doors for x86-64 and AArch64 only"
#endif
