// The two functions that the compiler calls at the entry and the exit of every function of a target
// built with vole_preemptible().
//
// Note   a library of its own: a program with other uses for -finstrument-functions does not link
//        it, and defines these two itself.

#include <vole/detail/checkpoint.h>

extern "C" {

[[gnu::no_instrument_function]] void __cyg_profile_func_enter(void*, void*) {
  vole::detail::at_function_entry();
}
[[gnu::no_instrument_function]] void __cyg_profile_func_exit(void*, void*) {}

}  // extern "C"
