# tests/hooks: one program of what every hooked call answers, compared three ways; and a stress. An
# emulator's system calls are not the kernel's; and a library that ThreadSanitizer watches itself knows
# nothing of what hooks, which it does not watch, do for it.
if(CMAKE_CROSSCOMPILING OR VOLE_TSAN_RUNTIME)
  return()
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/hooks/conformance*.cc)
add_library(hooks_caller SHARED ${PROJECT_SOURCE_DIR}/tests/hooks/caller.cc)
set_target_properties(hooks_caller PROPERTIES OUTPUT_NAME sqlite3-caller  # must not park
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/hooks)
foreach(kind IN ITEMS bare hooked)
  add_executable(hooks_conformance_${kind} ${sources})
  set_target_properties(hooks_conformance_${kind} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/hooks)
  target_link_libraries(hooks_conformance_${kind} PRIVATE Threads::Threads util hooks_caller)
  target_compile_options(hooks_conformance_${kind} PRIVATE -g1)
endforeach()
target_compile_features(hooks_conformance_bare PRIVATE cxx_std_20)
target_compile_definitions(hooks_conformance_hooked PRIVATE VOLE_CONFORMANCE_HOOKED)
target_link_libraries(hooks_conformance_hooked PRIVATE vole::hooks)

set(ways)
if(vole_test_launcher)
  set(ways --launcher ${vole_test_launcher})
endif()
list(APPEND ways $<TARGET_FILE:hooks_conformance_bare> $<TARGET_FILE:hooks_conformance_hooked>
  --with VOLE_DEBUG=storm=100 $<TARGET_FILE:hooks_conformance_hooked>)
if(TARGET vole_preload)
  list(APPEND ways
    --with LD_PRELOAD=$<TARGET_FILE:vole_preload> $<TARGET_FILE:hooks_conformance_bare>)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME ${VOLE_TEST_PREFIX}hooks_conformance COMMAND Python3::Interpreter -B
  ${PROJECT_SOURCE_DIR}/tests/hooks/compare.py ${ways})
vole_describe_test(hooks_conformance hooks)

add_executable(hooks_stress ${PROJECT_SOURCE_DIR}/tests/hooks/stress.cc)
set_target_properties(hooks_stress PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/hooks)
target_link_libraries(hooks_stress PRIVATE vole::hooks)
vole_test_code(hooks_stress)
# vole_add_hooks_stress(<name> <connections>)
function(vole_add_hooks_stress name connections)
  add_test(NAME ${VOLE_TEST_PREFIX}${name} COMMAND ${vole_test_launcher}
    $<TARGET_FILE:hooks_stress> ${connections})
  vole_describe_test(${name} hooks)
endfunction()
vole_add_hooks_stress(hooks_stress 300)
vole_add_hooks_stress(hooks_stress_storm 200)
set_property(TEST ${VOLE_TEST_PREFIX}hooks_stress_storm APPEND PROPERTY ENVIRONMENT
  VOLE_DEBUG=storm=100)
vole_add_hooks_stress(hooks_stress_10000 10000)
set_tests_properties(${VOLE_TEST_PREFIX}hooks_stress_10000 PROPERTIES
  LABELS "hooks;slow" PROCESSORS 2)

# What a hooked call orders, and what not (tests/races).
if(VOLE_SANITIZE MATCHES "thread")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/races/hooked/*.cc)
  add_executable(races_hooked_child ${PROJECT_SOURCE_DIR}/tests/races/main.cc ${sources})
  set_target_properties(races_hooked_child PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/hooks)
  target_include_directories(races_hooked_child PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(races_hooked_child PRIVATE vole::hooks)
  vole_test_code(races_hooked_child)
  add_test(NAME ${VOLE_TEST_PREFIX}hooks_races COMMAND Python3::Interpreter -B
    ${PROJECT_SOURCE_DIR}/tests/races/run.py $<TARGET_FILE:races_hooked_child>
    --launcher ${vole_test_launcher})
  vole_describe_test(hooks_races hooks)
endif()

if(VOLE_HOUSE_TESTS AND NOT BUILD_SHARED_LIBS)
  add_test(NAME ${VOLE_TEST_PREFIX}house_hooked COMMAND Python3::Interpreter -B
    ${PROJECT_SOURCE_DIR}/tools/check_hooked.py --root ${PROJECT_SOURCE_DIR}
    --library $<TARGET_FILE:vole>)
  vole_describe_test(house_hooked house)
endif()

# Debian's own clients by `vole exec`: their output is that of the bare run.
if(TARGET vole_command AND TARGET vole_preload)
  foreach(kind IN ITEMS postgres redis curl)
    set(command ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/servers/exec_same.py
      $<TARGET_FILE:vole_command> ${kind})
    if(kind STREQUAL "curl")
      find_program(VOLE_CURL curl)
      mark_as_advanced(VOLE_CURL)
      if(NOT VOLE_CURL)
        continue()
      endif()
    else()
      list(PREPEND command ${Python3_EXECUTABLE} -B
        ${PROJECT_SOURCE_DIR}/tests/servers/with_server.py ${kind})
    endif()
    add_test(NAME ${VOLE_TEST_PREFIX}hooks_exec_${kind} COMMAND ${command})
    vole_describe_test(hooks_exec_${kind} hooks)
    set_tests_properties(${VOLE_TEST_PREFIX}hooks_exec_${kind} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()
