# The viewer's tests: its types and its reader in Node, the page in Chromium, both readers beside each
# other. They do not depend on how the library is built, so the dev preset's build runs them. Without
# Chromium the tests of the page are skipped, and say so; without a command that sums up traces, the
# comparison of the readers.

if(NOT TARGET vole_viewer OR NOT CMAKE_BUILD_TYPE STREQUAL "Debug"
    OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  return()
endif()

set(vole_viewer_environment
  VOLE_VIEWER_MODULES=${vole_viewer_build}
  VOLE_VIEWER_READER=${vole_viewer_reader}
  VOLE_VIEWER_PAGE=${vole_viewer_page})
if(TARGET vole_command)
  list(APPEND vole_viewer_environment VOLE_COMMAND=$<TARGET_FILE:vole_command>)
endif()

add_test(NAME ${VOLE_TEST_PREFIX}viewer_types
  COMMAND ${VOLE_NODE} ${vole_viewer_build}/node_modules/typescript/bin/tsc
    --project ${vole_viewer_source})
vole_describe_test(viewer_types viewer)
foreach(name IN ITEMS reader damage both page choice)
  add_test(NAME ${VOLE_TEST_PREFIX}viewer_${name}
    COMMAND ${VOLE_NODE} --test --test-reporter=tap ${vole_viewer_source}/test/${name}_test.mjs)
  vole_describe_test(viewer_${name} viewer)
  set_property(TEST ${VOLE_TEST_PREFIX}viewer_${name} APPEND PROPERTY ENVIRONMENT
    ${vole_viewer_environment})
  set_tests_properties(${VOLE_TEST_PREFIX}viewer_${name} PROPERTIES
    TIMEOUT 600
    SKIP_REGULAR_EXPRESSION "SKIP there is no")
endforeach()
# A browser is slow to start.
set_tests_properties(${VOLE_TEST_PREFIX}viewer_page ${VOLE_TEST_PREFIX}viewer_choice PROPERTIES
  LABELS "viewer;slow")
