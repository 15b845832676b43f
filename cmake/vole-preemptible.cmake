# vole_preemptible(<target>): plants a checkpoint at the entry of every function of the target, as
# Go's compiler does, so that a loop that calls anything yields when its time slice is over.
#
# The compiler's own instrumentation does it; headers of the standard library are left out where
# the compiler can (g++), and what was inlined is not counted where it can (clang++).
function(vole_preemptible target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-finstrument-functions>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-finstrument-functions-exclude-file-list=/c++/,/vole/>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-finstrument-functions-after-inlining>)
  target_link_libraries(${target} PRIVATE vole::preemptible)
endfunction()
