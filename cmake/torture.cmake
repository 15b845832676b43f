# tests/torture: one program that mixes everything. Here for seconds; tools/test_all.py has it for longer.

if(CMAKE_CROSSCOMPILING)
  return()  # an emulator is too slow for what it does
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/torture/*.cc)
add_executable(vole_torture ${sources})
set_target_properties(vole_torture PROPERTIES
  OUTPUT_NAME torture
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_link_libraries(vole_torture PRIVATE vole::vole vole_trace_reader GTest::gtest)
vole_test_code(vole_torture)
foreach(way IN ITEMS plain storm strict)
  set(name torture_${way})
  add_test(NAME ${VOLE_TEST_PREFIX}${name}
    COMMAND ${vole_test_launcher} $<TARGET_FILE:vole_torture> 12)
  vole_describe_test(${name} torture)
  set_tests_properties(${VOLE_TEST_PREFIX}${name} PROPERTIES
    LABELS "torture;slow" PROCESSORS 2 TIMEOUT 900)
endforeach()
set_property(TEST ${VOLE_TEST_PREFIX}torture_storm APPEND PROPERTY ENVIRONMENT VOLE_DEBUG=storm=200)
set_property(TEST ${VOLE_TEST_PREFIX}torture_strict APPEND PROPERTY ENVIRONMENT VOLE_DEBUG=strictprocs=1)
