// The doors for x86-64. Contract and reasons: arch/context.h.
//
// Frame, lowest address first: mxcsr (4) x87 control (2) pad (2), r15, r14, r13,
// r12, rbx, rbp, return address.
// From `call decide` to the landing: rax = next sp, rbx = M, r13d = mxcsr and
// r14d = x87 control as they are in the processor now. r12: for the landing to use;
// in wait, the word to store to.

#include "arch/offsets.h"
#include "arch/sanitizer_asm.h"

        .hidden vole_sleeper_total

        .text

.macro SAVE_CONTEXT
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r15, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        movl    (%rsp), %r13d
        movzwl  4(%rsp), %r14d
.endm

// The landing, in parts. Each door has its own: the processor guesses where `jmp *%rcx`
// goes from the last ten or so branches that were taken, so the fewer there are between the
// caller of a door and that jump, the more it knows of the caller
// (docs/design/0015-few-branches.md). What is rare goes on in vole_land.
.macro CHANGE_STACK load_fp
        VOLE_SAN_DEPART
        movq    %rax, %rsp
        VOLE_SAN_ARRIVE
        movl    (%rsp), %eax
        xorl    %r13d, %eax
        testl   $0xffc0, %eax           // control bits; the sticky flags may differ
        jnz     \load_fp
        movzwl  4(%rsp), %eax
        cmpl    %r14d, %eax
        jne     \load_fp
\load_fp\()_done:
.endm
.macro LOAD_FP load_fp
\load_fp:
        ldmxcsr (%rsp)
        fldcw   4(%rsp)
        jmp     \load_fp\()_done
.endm
.macro LEAVE
        movq    VOLE_M_CURG(%rbx), %r12
        testq   %r12, %r12
        jz      .Lresume                // g0 stays in the runtime
        VOLE_LEAVE_RT
        jne     .Lattention
.endm
.macro RESUME
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rcx
        jmp     *%rcx
.endm
.macro LEAVE_AND_RESUME
        LEAVE
        movq    VOLE_G_WAKE_VALUE(%r12), %rax
        .cfi_remember_state
        RESUME
        .cfi_restore_state
.endm
.macro RUN_COMMIT                       // rax: the commit
        movq    VOLE_M_COMMIT_G(%rbx), %r12
        movq    VOLE_M_COMMIT_ARG(%rbx), %rsi
        movq    %r12, %rdi
        movq    $0, VOLE_M_COMMIT(%rbx)
        call    *%rax
        testb   %al, %al
        jz      .Lrefused
.endm

        .globl  vole_door_park
        .hidden vole_door_park
        .type   vole_door_park, @function
vole_door_park:
        .cfi_startproc
        endbr64
        SAVE_CONTEXT
        movq    %rsp, %rcx
        call    vole_decide_park
        movq    %rdx, %rbx
        CHANGE_STACK .Lpark_fp
        movq    VOLE_M_COMMIT(%rbx), %rax
        RUN_COMMIT
        LEAVE_AND_RESUME
        LOAD_FP .Lpark_fp
        .cfi_endproc
        .size   vole_door_park, . - vole_door_park

        .globl  vole_door_wait
        .hidden vole_door_wait
        .type   vole_door_wait, @function
vole_door_wait:
        .cfi_startproc
        endbr64
        SAVE_CONTEXT
        movq    %rdi, %r12
        movl    %esi, %edi
        movq    %rsp, %rsi
        call    vole_decide_wait
        movq    %rdx, %rbx
        CHANGE_STACK .Lwait_fp
        movl    $0, (%r12)              // releases, as every store does here
        cmpl    $0, vole_sleeper_total(%rip)
        jne     .Lsleepers
        LEAVE_AND_RESUME
        LOAD_FP .Lwait_fp
        .cfi_endproc
        .size   vole_door_wait, . - vole_door_wait

        .globl  vole_door_yield
        .hidden vole_door_yield
        .type   vole_door_yield, @function
vole_door_yield:
        .cfi_startproc
        endbr64
        SAVE_CONTEXT
        movq    %rsp, %rdi
        call    vole_decide_yield
        movq    %rdx, %rbx
        CHANGE_STACK .Lyield_fp
        movq    VOLE_M_YIELD_WORD(%rbx), %rax
        testq   %rax, %rax
        jz      .Lcommit
        movl    VOLE_M_YIELD_VALUE(%rbx), %ecx
        movq    $0, VOLE_M_YIELD_WORD(%rbx)
        movl    %ecx, (%rax)            // releases
        LEAVE_AND_RESUME
        LOAD_FP .Lyield_fp
        .cfi_endproc
        .size   vole_door_yield, . - vole_door_yield

        .globl  vole_run_g
        .hidden vole_run_g
        .type   vole_run_g, @function
vole_run_g:
        .cfi_startproc
        endbr64
        SAVE_CONTEXT
        movq    %rsp, VOLE_M_G0_SP(%rdi)
        movq    %rdi, %rbx
        movq    %rsi, %rax
        CHANGE_STACK .Lrun_fp           // and g0 leaves nothing behind
        LEAVE_AND_RESUME
        LOAD_FP .Lrun_fp
        .cfi_endproc
        .size   vole_run_g, . - vole_run_g

        // The landing of a goroutine that has ended, and what is rare in the others. Frames on
        // both sides have the same shape, so the unwind rules hold before and after the stack
        // pointer changes.
        .globl  vole_land
        .hidden vole_land
        .type   vole_land, @function
vole_land:
        .cfi_startproc
        .cfi_def_cfa_offset 64
        .cfi_offset %rbp, -16
        .cfi_offset %rbx, -24
        .cfi_offset %r12, -32
        .cfi_offset %r13, -40
        .cfi_offset %r14, -48
        .cfi_offset %r15, -56
.Lland:
        CHANGE_STACK .Lland_fp
.Lcommit:
        movq    VOLE_M_COMMIT(%rbx), %rax
        testq   %rax, %rax
        jz      .Lleave
        RUN_COMMIT
.Lleave:
        LEAVE
.Lvalue:
        movq    VOLE_G_WAKE_VALUE(%r12), %rax
.Lresume:
        .cfi_remember_state
        RESUME
        .cfi_restore_state
        LOAD_FP .Lland_fp
.Lrefused:
        movq    %rbx, %rdi
        movq    %r12, %rsi
        call    vole_refused
        jmp     .Lleave
.Lsleepers:
        movq    %r12, %rdi
        call    vole_wake_sleeper
        jmp     .Lleave
.Lattention:
        call    vole_leave_slow         // may come back on another thread
        jmp     .Lvalue
        .cfi_endproc
        .size   vole_land, . - vole_land

        // The first frame of every goroutine stack. Unwinding ends here.
        .globl  vole_goroutine_start
        .hidden vole_goroutine_start
        .type   vole_goroutine_start, @function
vole_goroutine_start:
        .cfi_startproc
        .cfi_undefined %rip
        endbr64
        xorl    %ebp, %ebp
.Lrun_goroutine:
        call    vole_goroutine_main
.Lfinished:
        movq    %rdx, %rbx
        subq    $16, %rsp
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        movl    (%rsp), %r13d
        movzwl  4(%rsp), %r14d
        addq    $16, %rsp
        testq   %rax, %rax
        jnz     .Lland
        movl    %r13d, %ecx             // the next goroutine on this stack starts
        xorl    $0x1f80, %ecx           // with the default floating-point control
        testl   $0xffc0, %ecx
        jnz     .Lfresh_fp
        cmpl    $0x037f, %r14d
        je      .Lrun_goroutine
.Lfresh_fp:
        subq    $16, %rsp
        movl    $0x1f80, (%rsp)
        movl    $0x037f, 4(%rsp)
        ldmxcsr (%rsp)
        fldcw   4(%rsp)
        addq    $16, %rsp
        jmp     .Lrun_goroutine
        .cfi_endproc
        .size   vole_goroutine_start, . - vole_goroutine_start

        .globl  vole_goroutine_end
        .hidden vole_goroutine_end
        .type   vole_goroutine_end, @function
vole_goroutine_end:
        .cfi_startproc
        .cfi_undefined %rip
        endbr64
        movq    %rdi, %rsp
        xorl    %ebp, %ebp
        call    vole_goroutine_finish
        jmp     .Lfinished
        .cfi_endproc
        .size   vole_goroutine_end, . - vole_goroutine_end

        // The M of this thread. Defined here so that no optimiser may rename it;
        // read by arch/thread_word.h.
        .section .tbss, "awT", @nobits
        .globl  vole_thread_word
        .type   vole_thread_word, @object
        .size   vole_thread_word, 8
        .balign 8
vole_thread_word:
        .zero   8

        .section .note.GNU-stack, "", @progbits
