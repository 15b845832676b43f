# The tests of `vole`, the command; cmake/tools.cmake says which there are.

if(NOT TARGET vole_command)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

foreach(source IN LISTS vole_tool_tests)
  vole_test_name(name ${source} ${PROJECT_SOURCE_DIR}/tools/vole)
  vole_add_gtest(tools_${name} tools ${source})
  target_link_libraries(tools_${name} PRIVATE vole_tool)
  target_include_directories(tools_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endforeach()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/tools/*_child.cc)
foreach(source IN LISTS sources)
  get_filename_component(child ${source} NAME_WE)
  add_executable(tools_${child} ${source})
  set_target_properties(tools_${child} PROPERTIES
    OUTPUT_NAME ${child}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
  target_link_libraries(tools_${child} PRIVATE vole::vole)
  target_include_directories(tools_${child} PRIVATE ${PROJECT_SOURCE_DIR}/tools/vole)
  vole_own_code(tools_${child})
endforeach()

# As users have it: both optimised, vole without debug information. And with vole as a shared library.
if(vole_as_shipped AND NOT BUILD_SHARED_LIBS)
  file(WRITE ${PROJECT_BINARY_DIR}/shared_vole.cc "")
  add_library(tools_shared_vole SHARED ${PROJECT_BINARY_DIR}/shared_vole.cc)
  set_target_properties(tools_shared_vole PROPERTIES
    OUTPUT_NAME vole LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools
    VERSION ${PROJECT_VERSION})
  target_link_libraries(tools_shared_vole
    PRIVATE -Wl,--whole-archive vole -Wl,--no-whole-archive)
  foreach(kind IN ITEMS release shared)
    add_executable(tools_parked_${kind} ${PROJECT_SOURCE_DIR}/tests/tools/parked_child.cc)
    set_target_properties(tools_parked_${kind} PROPERTIES
      OUTPUT_NAME parked_${kind}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
    target_include_directories(tools_parked_${kind} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_compile_options(tools_parked_${kind} PRIVATE -O2 -g)
    vole_own_code(tools_parked_${kind})
  endforeach()
  # The same without any debug information, names by the symbol table alone; and with it.
  foreach(kind IN ITEMS release optimised)
    add_executable(tools_outside_${kind} ${PROJECT_SOURCE_DIR}/tests/tools/outside_child.cc)
    set_target_properties(tools_outside_${kind} PROPERTIES
      OUTPUT_NAME outside_${kind}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
    target_include_directories(tools_outside_${kind} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    vole_own_code(tools_outside_${kind})
    target_link_libraries(tools_outside_${kind} PRIVATE ${vole_as_shipped})
  endforeach()
  # Functions in functions, all inlined.
  add_executable(tools_lambdas_optimised ${PROJECT_SOURCE_DIR}/tests/tools/lambdas_child.cc)
  set_target_properties(tools_lambdas_optimised PROPERTIES
    OUTPUT_NAME lambdas_optimised
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
  target_include_directories(tools_lambdas_optimised PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(tools_lambdas_optimised PRIVATE -O2 -g)
  vole_own_code(tools_lambdas_optimised)
  target_link_libraries(tools_lambdas_optimised PRIVATE ${vole_as_shipped})
  target_compile_options(tools_outside_release PRIVATE -O2 -g0)
  target_compile_options(tools_outside_optimised PRIVATE -O2 -g)
  target_link_libraries(tools_parked_release PRIVATE ${vole_as_shipped})
  target_link_libraries(tools_parked_shared PRIVATE tools_shared_vole Threads::Threads)
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/tools/*_test.py)
if(NOT TARGET tools_parked_release)
  list(FILTER sources EXCLUDE REGEX "/(gdb|core)_test\\.py$")  # they look at these programs, too
endif()
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME ${VOLE_TEST_PREFIX}tools_${name}
    COMMAND Python3::Interpreter -B ${source} --verbose)
  vole_describe_test(tools_${name} tools)
  set_property(TEST ${VOLE_TEST_PREFIX}tools_${name} APPEND PROPERTY ENVIRONMENT
    "VOLE_COMMAND=$<TARGET_FILE:vole_command>"        # the command
    "VOLE_TOOLS_DIR=${PROJECT_BINARY_DIR}/tools"      # the children
    "VOLE_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
    "VOLE_BUILD_DIR=${PROJECT_BINARY_DIR}"
    "VOLE_CXX=${CMAKE_CXX_COMPILER}"
    "VOLE_CMAKE=${CMAKE_COMMAND}")
endforeach()

# Nonsense for everything that reads files and tables, by libFuzzer where clang brings it: a short run
# each, or as many seconds as VOLE_FUZZ_SECONDS says. They take minutes to compile, so the tests of
# `make test-slow` and `make test-all` build them first, and nobody else does: target vole_fuzzers.
find_program(VOLE_CLANG clang++)
mark_as_advanced(VOLE_CLANG)
set(vole_fuzz_corpus ${PROJECT_SOURCE_DIR}/tests/tools/corpus)  # good input, for those that need some
set(vole_fuzz_compile ${CMAKE_CXX_COMPILER_LAUNCHER} ${VOLE_CLANG} -std=c++20 -g1 -O1
  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I${PROJECT_SOURCE_DIR}/include
  -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/tools/vole -DVOLE_CORPUS=\"${vole_fuzz_corpus}\")
add_custom_target(vole_fuzzers)

# The object of a source, compiled once for all fuzzers that are linked with it.
function(vole_fuzz_object result source)
  set(object ${PROJECT_BINARY_DIR}/tools/fuzz/${source}.o)
  set(${result} ${object} PARENT_SCOPE)
  get_property(known GLOBAL PROPERTY vole_fuzz_objects)
  if(object IN_LIST known)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY vole_fuzz_objects ${object})
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${object}
    COMMAND ${vole_fuzz_compile} -MD -MF ${object}.d -MT ${object}
      -c ${PROJECT_SOURCE_DIR}/${source} -o ${object}
    DEPENDS ${PROJECT_SOURCE_DIR}/${source}
    DEPFILE ${object}.d
    COMMENT "Fuzzed: ${source}"
    VERBATIM)
endfunction()

function(vole_add_fuzzer name)  # the sources that it is linked with follow, and -l libraries
  set(libraries ${ARGN})
  list(FILTER libraries INCLUDE REGEX "^-l")
  list(FILTER ARGN EXCLUDE REGEX "^-l")
  set(corpus)
  if(EXISTS ${vole_fuzz_corpus}/${name})
    set(corpus ${vole_fuzz_corpus}/${name})
  endif()
  set(objects)
  foreach(source IN ITEMS tests/tools/${name}.cc ${ARGN})
    vole_fuzz_object(object ${source})
    list(APPEND objects ${object})
  endforeach()
  set(fuzzer ${PROJECT_BINARY_DIR}/tools/${name})
  add_custom_command(OUTPUT ${fuzzer}
    COMMAND ${VOLE_CLANG} -fsanitize=fuzzer,address,undefined ${objects} ${libraries} -o ${fuzzer}
    DEPENDS ${objects}
    COMMENT "Fuzzer ${name}"
    VERBATIM)
  add_custom_target(tools_${name} DEPENDS ${fuzzer})
  add_dependencies(vole_fuzzers tools_${name})
  # Objects are shared, and only one target at a time may make them.
  get_property(before GLOBAL PROPERTY vole_fuzz_target)
  if(before)
    add_dependencies(tools_${name} ${before})
  endif()
  set_property(GLOBAL PROPERTY vole_fuzz_target tools_${name})
  add_test(NAME ${VOLE_TEST_PREFIX}tools_${name} COMMAND sh -c
    # What it finds worth keeping goes into the first folder: not into the sources.
    "new=$(mktemp -d) || exit
     \"$0\" -max_total_time=\"\${VOLE_FUZZ_SECONDS:-4}\" -max_len=4096 -len_control=0 -print_final_stats=1 \"$new\" \"$@\"
     status=$?; rm -rf \"$new\"; exit $status"
    ${fuzzer} ${corpus})
  vole_describe_fuzzing(${name})
endfunction()

function(vole_describe_fuzzing name)
  vole_describe_test(tools_${name} tools)
  set_tests_properties(${VOLE_TEST_PREFIX}tools_${name} PROPERTIES
    LABELS "tools;slow" FIXTURES_REQUIRED vole_fuzzers)
endfunction()

if(VOLE_CLANG)
  add_test(NAME ${VOLE_TEST_PREFIX}tools_fuzzers_are_built
    COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target vole_fuzzers)
  vole_describe_test(tools_fuzzers_are_built tools)
  set_tests_properties(${VOLE_TEST_PREFIX}tools_fuzzers_are_built PROPERTIES
    LABELS "tools;slow" FIXTURES_SETUP vole_fuzzers TIMEOUT 1200 COST 200)
  set(parts crc32 file event tables scan order check history summary function_name summary_text summary_json words
    recover)
  list(TRANSFORM parts REPLACE "(.+)" "tools/vole/trace/\\1.cc")
  vole_add_fuzzer(trace_fuzz ${parts})
  add_test(NAME ${VOLE_TEST_PREFIX}tools_trace_fuzz_minute COMMAND ${PROJECT_BINARY_DIR}/tools/trace_fuzz
    -max_total_time=60 -max_len=8192 -print_final_stats=1)
  vole_describe_fuzzing(trace_fuzz_minute)
  vole_add_fuzzer(settings_fuzz src/sched/run/config.cc)
  vole_add_fuzzer(names_fuzz src/net/address.cc src/net/socket_address.cc src/net/dns_answer.cc)
endif()
if(VOLE_CLANG AND VOLE_LIBDW_INCLUDE)
  set(parts elf_image core_file target target_core target_process live_memory proc root_reader records
    sweep picture pause)
  list(TRANSFORM parts REPLACE "(.+)" "tools/vole/outside/\\1.cc")
  vole_add_fuzzer(core_fuzz ${parts})
  vole_add_fuzzer(notes_fuzz tools/vole/outside/elf_image.cc)
  vole_add_fuzzer(line_fuzz src/symbols/line_table.cc src/walk/bytes.cc)
  vole_add_fuzzer(scopes_fuzz src/symbols/scopes.cc src/symbols/dies.cc src/walk/bytes.cc)
  list(APPEND parts tools/vole/outside/core_threads.cc tools/vole/outside/core_output.cc)
  vole_add_fuzzer(threads_fuzz ${parts})
  vole_add_fuzzer(dwarf_fuzz tools/vole/outside/dwarf_index.cc src/symbols/scopes.cc
    src/symbols/dies.cc src/walk/bytes.cc -ldw -lelf)
  vole_add_fuzzer(walk_fuzz src/walk/bytes.cc src/walk/expression.cc src/walk/memory.cc
    src/walk/row.cc src/walk/walk.cc)
endif()
