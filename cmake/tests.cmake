# The tests that are programs. Their sources are found by their place and name:
#
#   src/**/*_test.cc          unit     beside the unit; sees src/
#   tests/api/*_test.cc       api      sees include/ only, as a user does
#   tests/stress/*_test.cc    stress   sees src/; gets both processors
#   tests/regress/*_test.cc   regress  sees src/
#   tests/crash/*_test.cc     crash    runs the programs *_child.cc beside it
#   tests/model/*_model.cc    model    checks src/ on the atomics of tests/model/shim, with
#                                      explore*.cc beside it; not linked with the library
#
# One executable and one ctest entry each.

# Debian's libgtest is built for the host; for another processor it is built from
# Debian's sources.
if(NOT CMAKE_CROSSCOMPILING)
  find_package(GTest QUIET)
endif()
if(NOT TARGET GTest::gmock)
  set(VOLE_GTEST_SOURCE /usr/src/googletest CACHE PATH "GoogleTest's sources")
  if(NOT EXISTS ${VOLE_GTEST_SOURCE}/CMakeLists.txt)
    message(FATAL_ERROR "The tests need GoogleTest: `make setup` installs it, "
      "-DVOLE_BUILD_TESTS=OFF goes without.")
  endif()
  set(INSTALL_GTEST OFF CACHE INTERNAL "")
  add_subdirectory(${VOLE_GTEST_SOURCE} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  if(NOT TARGET GTest::gmock)
    add_library(GTest::gtest_main ALIAS gtest_main)
    add_library(GTest::gmock ALIAS gmock)
  endif()
endif()

# vole_test_name(<variable> <source> <root>): base_list_test for <root>/base/list_test.cc.
function(vole_test_name variable source root)
  file(RELATIVE_PATH name ${root} ${source})
  string(REGEX REPLACE "\\.cc$" "" name ${name})
  string(REPLACE "/" "_" name ${name})
  if(TARGET ${name})
    set(name tests_${name})
  endif()
  set(${variable} ${name} PARENT_SCOPE)
endfunction()

# What the tests alone are compiled with, beside the build's own flags. Under sanitizers the library
# is optimised and they are not: that takes three times as long to compile as to run.
set(VOLE_TEST_FLAGS "" CACHE STRING "compiler options of the tests")

# Most of a test's compile time is GoogleTest and the standard library: both are compiled once
# per kind of test. Two kinds, since tests that see src/ must agree with it on VOLE_CHECKED.
file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cc "")
foreach(kind IN ITEMS user room)
  add_library(vole_${kind}_headers STATIC ${PROJECT_BINARY_DIR}/test_headers.cc)
  target_link_libraries(vole_${kind}_headers PRIVATE GTest::gtest GTest::gmock vole::vole)
  vole_own_code(vole_${kind}_headers)
  target_compile_options(vole_${kind}_headers PRIVATE ${VOLE_TEST_FLAGS})
  target_precompile_headers(vole_${kind}_headers PRIVATE
    <gtest/gtest.h> <atomic> <chrono> <functional> <string> <thread> <vector> <vole/vole.h>)
endforeach()
vole_sees_rooms(vole_room_headers)

# vole_add_gtest(<name> <label> <sources...>)
function(vole_add_gtest name label)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE GTest::gtest_main GTest::gmock)
  vole_own_code(${name})
  target_compile_options(${name} PRIVATE ${VOLE_TEST_FLAGS})
  vole_add_test(${name} ${label} ${name})
endfunction()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_test.cc)
foreach(source IN LISTS sources)
  if(source MATCHES "/src/arch/([^/]+)/" AND NOT CMAKE_MATCH_1 STREQUAL VOLE_ARCH)
    continue()
  endif()
  # addr2line is the host's; and what sanitizers add to a function has lines that the two see
  # differently.
  if(source MATCHES "symbols/line_table_test" AND (VOLE_SANITIZE OR CMAKE_CROSSCOMPILING))
    continue()
  endif()
  vole_test_name(name ${source} ${PROJECT_SOURCE_DIR}/src)
  vole_add_gtest(${name} unit ${source})
  target_link_libraries(${name} PRIVATE vole::vole)
  vole_sees_rooms(${name})
  target_precompile_headers(${name} REUSE_FROM vole_room_headers)
endforeach()

# Traces are checked by the reader of `vole trace`, in every build.
if(NOT TARGET vole_trace_reader)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/vole/trace/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  add_library(vole_trace_reader STATIC ${sources})
  target_include_directories(vole_trace_reader PUBLIC ${PROJECT_SOURCE_DIR}/tools/vole)
  vole_own_code(vole_trace_reader)
  vole_sanitize(vole_trace_reader)
endif()

foreach(label IN ITEMS api stress regress crash)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${label}/*_test.cc)
  foreach(source IN LISTS sources)
    vole_test_name(name ${source} ${PROJECT_SOURCE_DIR}/tests)
    vole_add_gtest(${name} ${label} ${source})
    target_link_libraries(${name} PRIVATE vole::vole)
    if(label STREQUAL "api")
      target_precompile_headers(${name} REUSE_FROM vole_user_headers)
    else()
      vole_sees_rooms(${name})
      target_precompile_headers(${name} REUSE_FROM vole_room_headers)
    endif()
    if(source MATCHES "/trace_[a-z_]*test\\.cc$")
      target_link_libraries(${name} PRIVATE vole_trace_reader)
    endif()
    if(label STREQUAL "stress")
      set_tests_properties(${VOLE_TEST_PREFIX}${name} PROPERTIES PROCESSORS 2)
    endif()
    if(label STREQUAL "crash")
      list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " runner)
      target_compile_definitions(${name} PRIVATE
        "VOLE_CRASH_DIR=\"${PROJECT_BINARY_DIR}/crash\""  # the children are here
        "VOLE_CRASH_RUNNER=\"${runner}\"")                # put before a child's path; may be empty
      list(APPEND vole_crash_tests ${name})
    endif()
  endforeach()
endforeach()

# Built as a user's target would be; the shared headers were compiled without its option.
set_target_properties(api_preemptible_test PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
vole_preemptible(api_preemptible_test)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/crash/*_child.cc)
foreach(source IN LISTS sources)
  get_filename_component(child ${source} NAME_WE)
  add_executable(crash_${child} ${source})
  set_target_properties(crash_${child} PROPERTIES
    OUTPUT_NAME ${child}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/crash)
  target_link_libraries(crash_${child} PRIVATE vole::vole)
  vole_own_code(crash_${child})
  target_compile_options(crash_${child} PRIVATE ${VOLE_TEST_FLAGS})
  vole_sees_rooms(crash_${child})
  foreach(test IN LISTS vole_crash_tests)
    add_dependencies(${test} crash_${child})
  endforeach()
endforeach()

# The models explore by brute force: optimised in every build, and pointless under sanitizers
# or an emulator, where they would check the same interleavings more slowly.
if(NOT VOLE_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/model/*_model.cc)
  file(GLOB explorer CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/model/explore*.cc)
  list(FILTER explorer EXCLUDE REGEX "_model\\.cc$")
  if(sources AND explorer)
    add_library(vole_explorer OBJECT ${explorer})
    target_link_libraries(vole_explorer PRIVATE GTest::gtest_main)
    list(APPEND vole_model_targets vole_explorer)
  endif()
  foreach(source IN LISTS sources)
    vole_test_name(name ${source} ${PROJECT_SOURCE_DIR}/tests)
    vole_add_gtest(${name} model ${source})
    if(explorer)
      target_link_libraries(${name} PRIVATE vole_explorer)
    endif()
    list(APPEND vole_model_targets ${name})
  endforeach()
  foreach(target IN LISTS vole_model_targets)
    # The shim first: its base/atomic.h stands in for ours.
    target_include_directories(${target} PRIVATE
      ${PROJECT_SOURCE_DIR}/tests/model/shim
      ${PROJECT_SOURCE_DIR}/tests/model
      ${PROJECT_SOURCE_DIR}/src
      ${PROJECT_SOURCE_DIR}/include)
    target_compile_options(${target} PRIVATE -O2)
  endforeach()
  if(TARGET vole_explorer)
    vole_own_code(vole_explorer)
  endif()
endif()
