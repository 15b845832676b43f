# Headers of others that are compiled once for many sources. Only with VOLE_PRECOMPILE, which the dev
# preset sets: the other builds see that each source includes what it needs.

option(VOLE_PRECOMPILE "Compile the standard library's headers once for the library and the tools" OFF)

# ccache, too, must be told that a compiled header stands for its text.
set(vole_precompile_options)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(vole_precompile_options -fpch-preprocess)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(vole_precompile_options "SHELL:-Xclang -fno-pch-timestamp")
endif()

# vole_precompile(<target> <headers...> | REUSE_FROM <another>), if VOLE_PRECOMPILE is on.
function(vole_precompile target)
  if(NOT VOLE_PRECOMPILE)
    return()
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${vole_precompile_options}>")
  vole_no_false_alarms(${target})  # to g++ such a header is not the system's any more
  if("${ARGV1}" STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

set(vole_common_headers <algorithm> <atomic> <chrono> <cstddef> <cstdint> <cstring> <exception>
  <functional> <memory> <optional> <span> <stdexcept> <string> <string_view> <system_error>
  <type_traits> <utility> <vector>)
