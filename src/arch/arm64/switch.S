// The doors for AArch64. Contract and reasons: arch/context.h.
//
// Frame, lowest address first: x19-x28, x29, x30, d8-d15, fpcr, pad.
// From decide to the landing: x0 = next sp, x19 = M, x21 = fpcr as it is now; in wait,
// x23 = the word to store to.

#include "arch/offsets.h"
#include "arch/sanitizer_asm.h"

        .hidden vole_sleeper_total

        .text

.macro SAVE_CONTEXT
        sub     sp, sp, #VOLE_FRAME_BYTES
        .cfi_adjust_cfa_offset VOLE_FRAME_BYTES
        stp     x19, x20, [sp, #0]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        mrs     x21, fpcr
        str     x21, [sp, #160]
        .cfi_rel_offset x19, 0
        .cfi_rel_offset x20, 8
        .cfi_rel_offset x21, 16
        .cfi_rel_offset x22, 24
        .cfi_rel_offset x23, 32
        .cfi_rel_offset x24, 40
        .cfi_rel_offset x25, 48
        .cfi_rel_offset x26, 56
        .cfi_rel_offset x27, 64
        .cfi_rel_offset x28, 72
        .cfi_rel_offset x29, 80
        .cfi_rel_offset x30, 88
.endm

.macro CHANGE_STACK
        VOLE_SAN_DEPART
        mov     sp, x0
        VOLE_SAN_ARRIVE
        ldr     x9, [sp, #160]
        cmp     x9, x21
        b.eq    1f
        msr     fpcr, x9
1:
.endm

        .globl  vole_door_park
        .hidden vole_door_park
        .type   vole_door_park, %function
vole_door_park:
        .cfi_startproc
        hint    #34                     // bti c
        SAVE_CONTEXT
        mov     x3, sp
        bl      vole_decide_park
        mov     x19, x1
        b       .Lland
        .cfi_endproc
        .size   vole_door_park, . - vole_door_park

        .globl  vole_door_wait
        .hidden vole_door_wait
        .type   vole_door_wait, %function
vole_door_wait:
        .cfi_startproc
        hint    #34
        SAVE_CONTEXT
        mov     x23, x0                 // the word to store to
        mov     w0, w1
        mov     x1, sp
        bl      vole_decide_wait
        mov     x19, x1
        CHANGE_STACK
        stlr    wzr, [x23]
        adrp    x9, vole_sleeper_total
        ldr     w9, [x9, #:lo12:vole_sleeper_total]
        cbz     w9, .Lleave
        mov     x0, x23
        bl      vole_wake_sleeper
        b       .Lleave
        .cfi_endproc
        .size   vole_door_wait, . - vole_door_wait

        .globl  vole_door_yield
        .hidden vole_door_yield
        .type   vole_door_yield, %function
vole_door_yield:
        .cfi_startproc
        hint    #34
        SAVE_CONTEXT
        mov     x0, sp
        bl      vole_decide_yield
        mov     x19, x1
        CHANGE_STACK
        ldr     x9, [x19, #VOLE_M_YIELD_WORD]
        cbz     x9, .Lcommit
        ldr     w10, [x19, #VOLE_M_YIELD_VALUE]
        str     xzr, [x19, #VOLE_M_YIELD_WORD]
        stlr    w10, [x9]
        b       .Lleave
        .cfi_endproc
        .size   vole_door_yield, . - vole_door_yield

        .globl  vole_run_g
        .hidden vole_run_g
        .type   vole_run_g, %function
vole_run_g:
        .cfi_startproc
        hint    #34
        SAVE_CONTEXT
        mov     x2, sp
        str     x2, [x0, #VOLE_M_G0_SP]
        mov     x19, x0
        mov     x0, x1
        b       .Lland
        .cfi_endproc
        .size   vole_run_g, . - vole_run_g

        .globl  vole_land
        .hidden vole_land
        .type   vole_land, %function
vole_land:
        .cfi_startproc
        .cfi_def_cfa_offset VOLE_FRAME_BYTES
        .cfi_offset x19, -176
        .cfi_offset x20, -168
        .cfi_offset x21, -160
        .cfi_offset x22, -152
        .cfi_offset x23, -144
        .cfi_offset x24, -136
        .cfi_offset x25, -128
        .cfi_offset x26, -120
        .cfi_offset x27, -112
        .cfi_offset x28, -104
        .cfi_offset x29, -96
        .cfi_offset x30, -88
.Lland:
        CHANGE_STACK
.Lcommit:
        ldr     x9, [x19, #VOLE_M_COMMIT]
        cbz     x9, .Lleave
        ldr     x22, [x19, #VOLE_M_COMMIT_G]
        ldr     x1, [x19, #VOLE_M_COMMIT_ARG]
        mov     x0, x22
        str     xzr, [x19, #VOLE_M_COMMIT]
        blr     x9
        tbnz    w0, #0, .Lleave
        mov     x0, x19
        mov     x1, x22
        bl      vole_refused
.Lleave:
        ldr     x22, [x19, #VOLE_M_CURG]
        cbz     x22, .Lresume           // g0 stays in the runtime
        VOLE_LEAVE_RT w9
        cbz     w9, .Lvalue
        bl      vole_leave_slow         // may come back on another thread
.Lvalue:
        ldr     x0, [x22, #VOLE_G_WAKE_VALUE]
.Lresume:
        ldp     x19, x20, [sp, #0]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        add     sp, sp, #VOLE_FRAME_BYTES
        ret                             // not br: a return address has no bti landing pad
        .cfi_endproc
        .size   vole_land, . - vole_land

        .globl  vole_goroutine_start
        .hidden vole_goroutine_start
        .type   vole_goroutine_start, %function
vole_goroutine_start:
        .cfi_startproc
        .cfi_undefined x30
        hint    #38                     // bti jc
        mov     x29, xzr
.Lrun_goroutine:
        bl      vole_goroutine_main
.Lfinished:
        mov     x19, x1
        mrs     x21, fpcr
        cbnz    x0, .Lland
        cbz     x21, .Lrun_goroutine    // the next one starts with the default
        msr     fpcr, xzr
        b       .Lrun_goroutine
        .cfi_endproc
        .size   vole_goroutine_start, . - vole_goroutine_start

        .globl  vole_goroutine_end
        .hidden vole_goroutine_end
        .type   vole_goroutine_end, %function
vole_goroutine_end:
        .cfi_startproc
        .cfi_undefined x30
        hint    #34
        mov     sp, x0
        mov     x29, xzr
        bl      vole_goroutine_finish
        b       .Lfinished
        .cfi_endproc
        .size   vole_goroutine_end, . - vole_goroutine_end

        .section .tbss, "awT", %nobits
        .globl  vole_thread_word
        .type   vole_thread_word, %object
        .size   vole_thread_word, 8
        .balign 8
vole_thread_word:
        .zero   8

        .section .note.GNU-stack, "", %progbits
