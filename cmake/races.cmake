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
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/time/stop.cc PROPERTIES
    COMPILE_OPTIONS -fsanitize=thread SKIP_UNITY_BUILD_INCLUSION ON)
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

# The table of races (tests/races): what must be reported, and what must not. After vole_add_test.
function(vole_add_race_tests)
  if(NOT VOLE_SANITIZE MATCHES "thread" OR VOLE_TSAN_RUNTIME)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/races/*.cc)
  add_executable(races_child ${sources})
  set_target_properties(races_child PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(races_child PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(races_child PRIVATE vole::vole)
  vole_test_code(races_child)
  target_compile_options(races_child PRIVATE -Wno-unused-but-set-variable)  # half of a race may only write
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(run ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/races/run.py
    $<TARGET_FILE:races_child> --launcher ${vole_test_launcher})
  add_test(NAME ${VOLE_TEST_PREFIX}races COMMAND ${run})
  vole_describe_test(races slow)  # minutes; the table is in tests/races
  add_test(NAME ${VOLE_TEST_PREFIX}races_twenty_times COMMAND ${run} --runs 20)
  vole_describe_test(races_twenty_times slow)
  set_tests_properties(${VOLE_TEST_PREFIX}races_twenty_times PROPERTIES TIMEOUT 3600)
endfunction()
