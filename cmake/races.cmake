# ThreadSanitizer and the library.
#
# What users link is not instrumented: TSan sees their code, and of the library what src/base/race.h
# says. So the scheduler's queues and locks order nothing, and reports are of the user's races.
# With VOLE_TSAN_RUNTIME the library is instrumented like any other code, and each stack is one fiber:
# that build finds the library's own races, and few of the user's. vole_watched is such a library
# beside the other, for the tests that look into src/.

# libc's functions that move bytes are TSan's: it would take what they do in the library for the
# user's doing, which nothing orders. Here they are called by other names, which src/arch/plain_bytes.cc
# defines.
set(vole_seen_calls memcpy memmove memset memcmp bcmp memchr strlen strnlen strcmp strncmp)

# vole_hide_from_tsan(<target>)
function(vole_hide_from_tsan target)
  if(NOT VOLE_SANITIZE MATCHES "thread")
    return()
  endif()
  # Inlined, or else the linker may take the instrumented copy of the user's for ours.
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-O2>")
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "STATIC_LIBRARY" OR NOT CMAKE_OBJCOPY)
    return()
  endif()
  set(renamed)
  foreach(call IN LISTS vole_seen_calls)
    list(APPEND renamed --redefine-sym ${call}=vole_plain_${call})
  endforeach()
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_OBJCOPY} ${renamed} $<TARGET_FILE:${target}> VERBATIM)
endfunction()
