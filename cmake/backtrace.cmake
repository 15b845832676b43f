# libbacktrace, which gives program counters their names in dumps. It comes with gcc, is small,
# and needs libc only. The library gets a copy whose names are changed, so that a program with a
# libbacktrace of its own has no trouble, and users need to link nothing.

option(VOLE_BACKTRACE "Names and lines in dumps, by libbacktrace where it is found" ON)
set(vole_symbol_lookup ${PROJECT_SOURCE_DIR}/src/symbols/lookup_none.cc)

function(vole_find_backtrace out)
  set(${out} "" PARENT_SCOPE)
  if(NOT VOLE_BACKTRACE OR NOT CMAKE_OBJCOPY OR NOT CMAKE_LINKER)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_FLAGS} -print-file-name=libbacktrace.a
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(IS_ABSOLUTE "${found}" AND EXISTS "${found}")
    set(${out} "${found}" PARENT_SCOPE)
  endif()
endfunction()

vole_find_backtrace(vole_backtrace_archive)
if(NOT vole_backtrace_archive)
  message(STATUS "vole: no libbacktrace: dumps show module and offset instead of names and lines")
  return()
endif()

set(vole_backtrace_object ${PROJECT_BINARY_DIR}/vole_backtrace.o)
set(keep)
foreach(name IN ITEMS create_state pcinfo syminfo)
  list(APPEND vole_backtrace_wanted -Wl,-u,backtrace_${name})
  list(APPEND keep --redefine-sym backtrace_${name}=vole_backtrace_${name}
    --keep-global-symbol=vole_backtrace_${name}  # GNU looks at the new name, LLVM at the old
    --keep-global-symbol=backtrace_${name})
endforeach()
# By the compiler, which tells the linker for which machine: lld does not guess it from an archive.
add_custom_command(OUTPUT ${vole_backtrace_object}
  COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -o ${vole_backtrace_object}.all ${vole_backtrace_wanted}
    ${vole_backtrace_archive}
  COMMAND ${CMAKE_OBJCOPY} ${keep} ${vole_backtrace_object}.all ${vole_backtrace_object}
  DEPENDS ${vole_backtrace_archive}
  COMMENT "A private copy of libbacktrace"
  VERBATIM)
set_source_files_properties(${vole_backtrace_object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
set(vole_symbol_lookup ${PROJECT_SOURCE_DIR}/src/symbols/lookup_backtrace.cc
  ${vole_backtrace_object})
