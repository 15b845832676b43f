# How a program becomes a test.

# What each sanitizer is told. Goroutine stacks are not the threads' own, so ASan's fake
# stacks stay off.
set(vole_test_environment
  ASAN_OPTIONS=detect_stack_use_after_return=0:strict_string_checks=1
  UBSAN_OPTIONS=print_stacktrace=1
  TSAN_OPTIONS=second_deadlock_stack=1)

# TSan's shadow does not fit the layouts that newer kernels draw at random: there the
# program runs with a fixed one.
set(vole_test_launcher)
if(VOLE_SANITIZE MATCHES "thread")
  set(vole_test_launcher ${PROJECT_SOURCE_DIR}/tools/fixed_layout.sh)
endif()

# vole_add_test(<name> <label> <target>): one ctest entry for a whole executable.
function(vole_add_test name label target)
  add_test(NAME ${VOLE_TEST_PREFIX}${name}
    COMMAND ${vole_test_launcher} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${target}>)
  vole_describe_test(${name} ${label})
endfunction()

# What takes long begins first, so that nothing long is left alone at the end: seconds, roughly.
set(vole_cost_stress 12)
set(vole_cost_crash 20)
set(vole_cost_tools 30)
set(vole_cost_viewer 30)
set(vole_cost_model 8)
set(vole_cost_torture 60)

# vole_describe_test(<name> <label>): what all entries have in common.
function(vole_describe_test name label)
  if(DEFINED vole_cost_${label})
    set_tests_properties(${VOLE_TEST_PREFIX}${name} PROPERTIES COST ${vole_cost_${label}})
  endif()
  set_tests_properties(${VOLE_TEST_PREFIX}${name} PROPERTIES
    LABELS ${label}
    TIMEOUT 300
    ENVIRONMENT "${vole_test_environment}")
endfunction()
