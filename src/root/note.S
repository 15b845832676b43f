// The ELF note by which the root is found: see root.h.

        .section .note.vole, "a", %note
        .balign 4
        .globl  vole_root_note
        .hidden vole_root_note
        .hidden vole_root
vole_root_note:
        .long   5                       // bytes of the name
        .long   8                       // bytes of the content
        .long   1                       // the type
        .asciz  "vole"
        .balign 4
.Lcontent:
        .quad   vole_root - .Lcontent

#ifdef VOLE_GDB_SCRIPT
// gdb runs the script of that path when it sees the program, if it trusts the place.
        .section .debug_gdb_scripts, "MS", %progbits, 1
        .byte   1                       // a Python file
        .asciz  VOLE_GDB_SCRIPT
#endif

        .section .note.GNU-stack, "", %progbits
