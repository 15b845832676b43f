// The type of vole::detail::throw_probe: see thrown.h. In assembly, because the compiler would not let
// anybody else define it. It is like any class's until thrown.cc has put another table of functions
// into its first word.

        .section .data.rel, "aw", %progbits
        .balign 8
        .globl  _ZTIN4vole2v06detail11throw_probeE
        .type   _ZTIN4vole2v06detail11throw_probeE, %object
        .size   _ZTIN4vole2v06detail11throw_probeE, 16
_ZTIN4vole2v06detail11throw_probeE:
        .quad   _ZTVN10__cxxabiv117__class_type_infoE + 16
        .quad   .Lname

        .section .rodata.str1.1, "aMS", %progbits, 1
.Lname: .asciz  "N4vole2v06detail11throw_probeE"

        .section .note.GNU-stack, "", %progbits
