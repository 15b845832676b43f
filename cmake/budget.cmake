# The instruction budget of the hot paths: tests/budget/check.py says how it is measured.
#
# Counted is the library as it is shipped (optimised.cmake). Not under sanitizers and not for
# another processor: there the instructions are not ours.

if(NOT VOLE_HOUSE_TESTS)
  return()
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(vole_toolchain "g++")
else()
  set(vole_toolchain ${CMAKE_CXX_COMPILER_ID})
endif()
string(REGEX MATCH "^[0-9]+" version ${CMAKE_CXX_COMPILER_VERSION})
string(APPEND vole_toolchain " ${version}, ${VOLE_ARCH}")

set(vole_budgets ${PROJECT_SOURCE_DIR}/tests/budget/budgets.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${vole_budgets})
file(STRINGS ${vole_budgets} budgets_for REGEX "^for ")
string(REGEX REPLACE "^for " "" budgets_for "${budgets_for}")

find_program(VOLE_VALGRIND valgrind)
find_path(VOLE_VALGRIND_INCLUDE valgrind/callgrind.h)
set(why_not)
if(NOT VOLE_VALGRIND OR NOT VOLE_VALGRIND_INCLUDE)
  set(why_not "valgrind, or its header valgrind/callgrind.h, was not found: `tools/setup.sh test`")
elseif(NOT budgets_for STREQUAL vole_toolchain)
  set(why_not "the budgets are for ${budgets_for}, this is ${vole_toolchain}")
endif()

set(check ${PROJECT_SOURCE_DIR}/tests/budget/check.py --build ${PROJECT_BINARY_DIR})
if(why_not)
  list(APPEND check --skip ${why_not})
endif()
add_test(NAME ${VOLE_TEST_PREFIX}budget COMMAND Python3::Interpreter -B ${check})
vole_describe_test(budget budget)
set_tests_properties(${VOLE_TEST_PREFIX}budget PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME ${VOLE_TEST_PREFIX}budget_check
  COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tests/budget/check_test.py)
vole_describe_test(budget_check house)
if(NOT VOLE_VALGRIND_INCLUDE)
  return()
endif()

# Where there is no budget it can still be built by name, to record one.
add_executable(budget_paths ${PROJECT_SOURCE_DIR}/tests/budget/paths.cc)
set_target_properties(budget_paths PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
if(why_not)
  set_target_properties(budget_paths PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
target_include_directories(budget_paths SYSTEM PRIVATE ${VOLE_VALGRIND_INCLUDE})
target_link_libraries(budget_paths PRIVATE ${vole_as_shipped})
target_compile_definitions(budget_paths PRIVATE NDEBUG "VOLE_TOOLCHAIN=\"${vole_toolchain}\"")
target_compile_options(budget_paths PRIVATE -O2 -g0)
vole_own_code(budget_paths)

# A tail call is one in optimised code only: the doors' returns are counted there, too.
if(vole_as_shipped STREQUAL "vole_optimised" AND NOT why_not)
  vole_add_gtest(regress_door_returns_optimised regress
    ${PROJECT_SOURCE_DIR}/tests/regress/door_returns_test.cc)
  target_link_libraries(regress_door_returns_optimised PRIVATE vole_optimised)
  target_include_directories(regress_door_returns_optimised PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(regress_door_returns_optimised PRIVATE NDEBUG)
  target_compile_options(regress_door_returns_optimised PRIVATE -O2)
endif()
