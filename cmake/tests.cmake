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
# The files of a kind are one program, so that there are few to link, with one ctest entry for each
# file, named after it: `api_tests --file=tests/api/chan_test.cc` is api_chan_test. tests/main.cc finds
# the tests of a file, and the entry tests_belong shows that each test is in one entry. A file that
# cannot share its program is named below, with the reason. Each model is a program of its own:
# it compiles the sources that it checks into itself.

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
    add_library(GTest::gtest ALIAS gtest)
    add_library(GTest::gmock ALIAS gmock)
  endif()
endif()

# vole_test_name(<variable> <source> <root>): base_list_test for <root>/base/list_test.cc; and
# tests_base_list_test if src/ has a file of that name, too.
function(vole_test_name variable source root)
  file(RELATIVE_PATH name ${root} ${source})
  if(root STREQUAL "${PROJECT_SOURCE_DIR}/tests" AND EXISTS ${PROJECT_SOURCE_DIR}/src/${name})
    string(PREPEND name "tests_")
  endif()
  string(REGEX REPLACE "\\.cc$" "" name ${name})
  string(REPLACE "/" "_" name ${name})
  set(${variable} ${name} PARENT_SCOPE)
endfunction()

# What the tests alone are compiled with, beside the build's own flags. Under sanitizers the library
# is optimised and they are not: that takes three times as long to compile as to run.
set(VOLE_TEST_FLAGS "" CACHE STRING "compiler options of the tests")

# lld links a program in a quarter of the time.
find_program(VOLE_LLD ld.lld)
mark_as_advanced(VOLE_LLD)
set(vole_test_linker)
if(VOLE_LLD AND NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  set(vole_test_linker -fuse-ld=lld)
endif()

# vole_test_code(<target>): what all code of the tests is built with.
function(vole_test_code target)
  vole_own_code(${target})
  target_compile_options(${target} PRIVATE ${VOLE_TEST_FLAGS} ${vole_precompile_options})
  target_link_options(${target} PRIVATE ${vole_test_linker})
endfunction()

# Most of a test's compile time is GoogleTest and the standard library: both are compiled once per
# kind. Tests that see src/ must agree with it on VOLE_CHECKED, so they are another kind; the
# programs that tests start do without GoogleTest.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cc CONTENT "")
foreach(kind IN ITEMS user room child)
  add_library(vole_${kind}_headers STATIC ${PROJECT_BINARY_DIR}/test_headers.cc)
  target_link_libraries(vole_${kind}_headers PRIVATE ${vole_of_rooms})
  vole_test_code(vole_${kind}_headers)
  if(NOT kind STREQUAL "user")
    vole_sees_rooms(vole_${kind}_headers)
  endif()
  if(NOT kind STREQUAL "child")
    target_link_libraries(vole_${kind}_headers PRIVATE GTest::gtest GTest::gmock)
    target_precompile_headers(vole_${kind}_headers PRIVATE
      <gtest/gtest.h> ${PROJECT_SOURCE_DIR}/tests/api/fixture.h)
  endif()
  target_precompile_headers(vole_${kind}_headers PRIVATE
    <algorithm> <atomic> <chrono> <cstdio> <functional> <memory> <mutex> <optional> <random> <string>
    <thread> <utility> <vector> <vole/vole.h>)
endforeach()

add_library(vole_test_main STATIC ${PROJECT_SOURCE_DIR}/tests/main.cc)
target_link_libraries(vole_test_main PUBLIC GTest::gtest)
vole_test_code(vole_test_main)
vole_sanitize(vole_test_main)

# vole_add_gtest(<name> <label> <sources...>): a program that is one ctest entry.
function(vole_add_gtest name label)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE vole_test_main GTest::gmock)
  vole_test_code(${name})
  vole_add_test(${name} ${label} ${name})
endfunction()

# vole_add_test_program(<program> <label> <prefix> <root> <sources...>): one program with one ctest
# entry for each source, called <prefix> and the source's name in <root>. <program>.files beside the
# program has a line for each: source and entry.
function(vole_add_test_program program label prefix root)
  add_executable(${program} ${ARGN})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${program} PRIVATE vole_test_main GTest::gmock)
  vole_test_code(${program})
  set(run ${vole_test_launcher} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${program}>)
  set(files)
  foreach(source IN LISTS ARGN)
    vole_test_name(name ${source} ${root})
    file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR} ${source})
    add_test(NAME ${VOLE_TEST_PREFIX}${prefix}${name} COMMAND ${run} --file=${file})
    vole_describe_test(${prefix}${name} ${label})
    if(label STREQUAL "stress")
      set_tests_properties(${VOLE_TEST_PREFIX}${prefix}${name} PROPERTIES PROCESSORS 2)
    endif()
    string(APPEND files "${file} ${prefix}${name}\n")
  endforeach()
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/tests/${program}.files CONTENT "${files}")
  set_property(GLOBAL APPEND PROPERTY vole_test_programs $<TARGET_FILE:${program}>)
endfunction()

# After all programs are known: one entry that asks each of them.
function(vole_add_tests_belong)
  get_property(programs GLOBAL PROPERTY vole_test_programs)
  list(JOIN vole_test_launcher " " launcher)
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
  add_test(NAME ${VOLE_TEST_PREFIX}tests_belong
    COMMAND ${PROJECT_SOURCE_DIR}/tools/tests_belong.sh "${launcher} ${emulator}" ${programs})
  vole_describe_test(tests_belong house)
endfunction()
cmake_language(DEFER CALL vole_add_tests_belong)

# Files that are a program of their own. So is one that sets an environment variable before main, which
# would be set for all, and one whose fixture has the name of another file's, which GoogleTest refuses.
set(vole_alone
  tests/api/chan_timed_test.cc      # replaces operator new, to count
  tests/api/preemptible_test.cc     # compiled with vole_preemptible(), as a user's target would be
  tests/regress/dial_waits_for_the_resolver_test.cc  # has a getaddrinfo of its own
  tests/regress/no_memory_leaks_a_descriptor_test.cc # replaces operator new, to fail
  src/os/stand_in_test.cc           # has a clock, futexes and a poller of its own
  src/symbols/line_table_test.cc)   # asks addr2line about all of its program; needs -g

# vole_suites_of(<plain> <fixtures> <source>): the suites by TEST, and those by a fixture.
function(vole_suites_of plain fixtures source)
  file(STRINGS ${source} tests REGEX "^(TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\\(")
  set(with_plain ${tests})
  list(FILTER with_plain INCLUDE REGEX "^TEST\\(")
  list(FILTER tests EXCLUDE REGEX "^TEST\\(")
  foreach(list IN ITEMS with_plain tests)
    list(TRANSFORM ${list} REPLACE "^[A-Z_]+\\( *([A-Za-z0-9_]+).*" "\\1")
    list(REMOVE_DUPLICATES ${list})
  endforeach()
  set(${plain} ${with_plain} PARENT_SCOPE)
  set(${fixtures} ${tests} PARENT_SCOPE)
endfunction()

# vole_add_test_programs(<variable> <label> <prefix> <root> <sources...>): the program that most of
# them share, called <prefix><label>_tests, and one for each that is alone. Their targets are then in
# the variable.
function(vole_add_test_programs variable label prefix root)
  set(together)
  set(programs)
  set(all_plain)
  set(all_fixtures)
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR} ${source})
    file(STRINGS ${source} before_main REGEX "^[^ /].*setenv\\(")
    vole_suites_of(plain fixtures ${source})
    set(clashes)
    foreach(suite IN LISTS plain fixtures)
      if(suite IN_LIST all_fixtures OR (suite IN_LIST all_plain AND suite IN_LIST fixtures))
        list(APPEND clashes ${suite})
      endif()
    endforeach()
    if(before_main OR clashes OR file IN_LIST vole_alone)
      vole_test_name(name ${source} ${root})
      vole_add_test_program(${prefix}${name} ${label} "${prefix}" ${root} ${source})
      list(APPEND programs ${prefix}${name})
    else()
      list(APPEND together ${source})
      list(APPEND all_plain ${plain})
      list(APPEND all_fixtures ${fixtures})
    endif()
  endforeach()
  if(together)
    vole_add_test_program(${prefix}${label}_tests ${label} "${prefix}" ${root} ${together})
    list(APPEND programs ${prefix}${label}_tests)
  endif()
  set(${variable} ${programs} PARENT_SCOPE)
endfunction()

# vole_add_tests(<label> <root> <sources...>): with the library as it is in this build. The programs
# are then in vole_<label>_programs.
function(vole_add_tests label root)
  vole_add_test_programs(programs ${label} "" ${root} ${ARGN})
  foreach(program IN LISTS programs)
    if(program STREQUAL "api_preemptible_test")  # vole_preemptible() brings it
      target_link_libraries(${program} PRIVATE vole::vole)
    else()
      target_link_libraries(${program} PRIVATE ${vole_of_rooms})
    endif()
    if(label STREQUAL "api")
      target_precompile_headers(${program} REUSE_FROM vole_user_headers)
    else()
      vole_sees_rooms(${program})
      target_precompile_headers(${program} REUSE_FROM vole_room_headers)
    endif()
  endforeach()
  set(vole_${label}_programs ${programs} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_test.cc)
foreach(source IN LISTS sources)
  if(source MATCHES "/src/arch/([^/]+)/" AND NOT CMAKE_MATCH_1 STREQUAL VOLE_ARCH)
    list(REMOVE_ITEM sources ${source})
  endif()
endforeach()
# addr2line is the host's; and what sanitizers add to a function has lines that the two see
# differently.
if(VOLE_SANITIZE OR CMAKE_CROSSCOMPILING)
  list(FILTER sources EXCLUDE REGEX "symbols/line_table_test")
endif()
vole_add_tests(unit ${PROJECT_SOURCE_DIR}/src ${sources})
if(TARGET symbols_line_table_test)
  target_compile_options(symbols_line_table_test PRIVATE -g)
  set_target_properties(symbols_line_table_test PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endif()

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
  if(VOLE_SANITIZE)  # sanitizers bring an operator new of their own
    list(FILTER sources EXCLUDE REGEX "no_memory_leaks_a_descriptor_test")
  endif()
  vole_add_tests(${label} ${PROJECT_SOURCE_DIR}/tests ${sources})
  foreach(program IN LISTS vole_${label}_programs)
    target_link_libraries(${program} PRIVATE vole_trace_reader)
  endforeach()
endforeach()

foreach(program IN LISTS vole_regress_programs)
  target_compile_definitions(${program} PRIVATE "VOLE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")  # pages
endforeach()

set_tests_properties(${VOLE_TEST_PREFIX}crash_faults_test ${VOLE_TEST_PREFIX}crash_faults_ways_test
  PROPERTIES LABELS "crash;slow" TIMEOUT 900)  # 200 programs each

# The shared headers were compiled without this option.
set_target_properties(api_preemptible_test PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
vole_preemptible(api_preemptible_test)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/crash/*_child.cc)
list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " runner)
foreach(program IN LISTS vole_crash_programs)
  target_compile_definitions(${program} PRIVATE
    "VOLE_CRASH_DIR=\"${PROJECT_BINARY_DIR}/crash\""  # the children are here
    "VOLE_CRASH_RUNNER=\"${runner}\"")                # put before a child's path; may be empty
endforeach()
# Reports about optimised programs say the same: report_child once more, with -O2.
set(optimised ${PROJECT_BINARY_DIR}/crash/report_o2_child.cc)
file(WRITE ${optimised}.new "#include \"${PROJECT_SOURCE_DIR}/tests/crash/report_child.cc\"\n")
file(COPY_FILE ${optimised}.new ${optimised} ONLY_IF_DIFFERENT)
set_source_files_properties(${optimised} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
foreach(source IN LISTS sources optimised)
  get_filename_component(child ${source} NAME_WE)
  add_executable(crash_${child} ${source})
  set_target_properties(crash_${child} PROPERTIES
    OUTPUT_NAME ${child}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/crash)
  target_link_libraries(crash_${child} PRIVATE ${vole_of_rooms})
  vole_test_code(crash_${child})
  vole_sees_rooms(crash_${child})
  target_precompile_headers(crash_${child} REUSE_FROM vole_child_headers)
  foreach(program IN LISTS vole_crash_programs)
    add_dependencies(${program} crash_${child})
  endforeach()
endforeach()

target_compile_options(crash_faults_child PRIVATE -Wno-psabi)  # a note on over-aligned values

# The models explore by brute force: optimised in every build, and pointless under sanitizers
# or an emulator, where they would check the same interleavings more slowly.
if(NOT VOLE_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/model/*_model.cc)
  file(GLOB explorer CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/model/explore*.cc)
  list(FILTER explorer EXCLUDE REGEX "_model\\.cc$")
  add_library(vole_explorer OBJECT ${explorer})
  target_link_libraries(vole_explorer PRIVATE GTest::gtest GTest::gmock)
  vole_test_code(vole_explorer)
  list(APPEND vole_model_targets vole_explorer)
  foreach(source IN LISTS sources)
    vole_test_name(name ${source} ${PROJECT_SOURCE_DIR}/tests)
    vole_add_gtest(${name} model ${source})
    target_link_libraries(${name} PRIVATE vole_explorer)
    target_precompile_headers(${name} REUSE_FROM vole_explorer)
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
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/model/explore.cc PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON)  # undefines _FORTIFY_SOURCE before the first header
  target_precompile_headers(vole_explorer PRIVATE <gtest/gtest.h>
    <array> <atomic> <cstdint> <functional> <memory> <string> <vector>)
endif()

vole_add_race_tests()
