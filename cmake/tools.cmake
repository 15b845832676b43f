# `vole`, the command: tools/vole/*.cc, with CLI11; tools/vole/trace/*.cc; and tools/vole/outside/*.cc, with libdw and
# libelf too. What is missing is said in one line and left out; the library itself needs neither.
#
# Tests: tools/vole/**/*_test.cc are unit tests of its parts, one executable each, linked with all
# but main.cc; tests/tools/*_test.py run the command itself, on the programs tests/tools/*_child.cc.

# Debian's is a header library without a compiled part.
find_path(VOLE_CLI11_INCLUDE CLI/CLI.hpp)
find_path(VOLE_LIBDW_INCLUDE elfutils/libdwfl.h)
find_library(VOLE_LIBDW_LIBRARY dw)
find_library(VOLE_LIBELF_LIBRARY elf)
mark_as_advanced(VOLE_CLI11_INCLUDE VOLE_LIBDW_INCLUDE VOLE_LIBDW_LIBRARY VOLE_LIBELF_LIBRARY)

if(NOT VOLE_CLI11_INCLUDE)
  message(STATUS "vole: no CLI11 (libcli11-dev): the command `vole` is left out")
  return()
endif()

file(GLOB vole_tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/vole/*.cc)
file(GLOB vole_trace_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/vole/trace/*.cc)
set(vole_tool_libraries)
if(VOLE_LIBDW_INCLUDE AND VOLE_LIBDW_LIBRARY AND VOLE_LIBELF_LIBRARY)
  file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/vole/outside/*.cc)
  list(APPEND vole_tool_sources ${found})
  list(FILTER vole_tool_sources EXCLUDE REGEX "/absent\\.cc$")
  list(APPEND vole_tool_libraries ${VOLE_LIBDW_LIBRARY} ${VOLE_LIBELF_LIBRARY})
  # Dumps from outside and from inside are worded by the same code. It asks for names of addresses:
  # in the library of symbols/, here of outside/names.cc.
  foreach(shared IN ITEMS sched/report/frames sched/report/captured sched/report/holders sched/report/cycles
      sched/report/dump_text gmp/status symbols/names symbols/scopes symbols/dies walk/bytes base/fatal
      os/linux/memory os/linux/stderr os/linux/futex os/linux/clock)
    list(APPEND vole_tool_sources ${PROJECT_SOURCE_DIR}/src/${shared}.cc)
  endforeach()
else()
  message(STATUS "vole: no libdw (libdw-dev): `vole dump`, `vole top` and `vole core` are left out")
endif()
file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/vole/export/*.cc)
find_path(VOLE_PROTOZERO_INCLUDE protozero/pbf_writer.hpp)
mark_as_advanced(VOLE_PROTOZERO_INCLUDE)
if(VOLE_PROTOZERO_INCLUDE)
  list(FILTER found EXCLUDE REGEX "/export/absent\\.cc$")
else()
  message(STATUS "vole: no protozero (libprotozero-dev): `vole trace export` writes only Chrome's JSON")
  list(FILTER found EXCLUDE REGEX "/export/(perfetto|pprof)\\.cc$")
endif()
list(APPEND vole_tool_sources ${found})
set(vole_tool_tests ${vole_tool_sources})
list(APPEND vole_tool_tests ${vole_trace_sources})
list(FILTER vole_tool_tests INCLUDE REGEX "_test\\.cc$")
list(FILTER vole_tool_sources EXCLUDE REGEX "_test\\.cc$|/tools/vole/main\\.cc$")

# Where `vole run` finds headers and library: from bin/vole in the installed tree, and by a file
# beside it in this one.
set(vole_tool_include ${CMAKE_INSTALL_INCLUDEDIR})
set(vole_tool_lib ${CMAKE_INSTALL_LIBDIR})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}")
  foreach(folder IN ITEMS vole_tool_include vole_tool_lib)
    if(NOT IS_ABSOLUTE "${${folder}}")
      file(RELATIVE_PATH ${folder} "/x/${CMAKE_INSTALL_BINDIR}" "/x/${${folder}}")
    endif()
  endforeach()
else()
  set(vole_tool_include ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  set(vole_tool_lib ${CMAKE_INSTALL_FULL_LIBDIR})
endif()
set(vole_tool_flags)
if(VOLE_SANITIZE)
  set(vole_tool_flags -fsanitize=${VOLE_SANITIZE})
endif()
if(TARGET vole_preload)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/bin/preload.txt
    CONTENT "$<TARGET_FILE:vole_preload>\n")
endif()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/bin/tree.txt
  CONTENT "${PROJECT_SOURCE_DIR}/include\n$<TARGET_LINKER_FILE:vole>\n")

# What reads execution traces, by itself: the tracer's tests check with it what they recorded.
list(FILTER vole_trace_sources EXCLUDE REGEX "_test\\.cc$")
add_library(vole_trace_reader STATIC ${vole_trace_sources})
target_include_directories(vole_trace_reader PUBLIC ${PROJECT_SOURCE_DIR}/tools/vole)
vole_own_code(vole_trace_reader)
vole_no_false_alarms(vole_trace_reader)

# All of it but main, so that its tests see the same.
add_library(vole_tool STATIC ${vole_tool_sources})
target_include_directories(vole_tool
  PUBLIC ${PROJECT_SOURCE_DIR}/tools/vole ${PROJECT_SOURCE_DIR}/include
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(vole_tool SYSTEM PUBLIC ${VOLE_CLI11_INCLUDE})
if(VOLE_PROTOZERO_INCLUDE)
  target_include_directories(vole_tool SYSTEM PRIVATE ${VOLE_PROTOZERO_INCLUDE})
endif()
target_link_libraries(vole_tool PUBLIC ${vole_tool_libraries} vole_trace_reader)
target_compile_definitions(vole_tool PRIVATE
  VOLE_TOOL_VERSION="${PROJECT_VERSION}"
  VOLE_TOOL_INCLUDE="${vole_tool_include}"
  VOLE_TOOL_LIBRARY="${vole_tool_lib}/$<TARGET_LINKER_FILE_NAME:vole>"
  VOLE_TOOL_FLAGS="${vole_tool_flags}")
vole_own_code(vole_tool)
vole_no_false_alarms(vole_tool)
# CLI11 costs each file that includes it five seconds: the commands are compiled in two pieces.
foreach(command IN ITEMS exec run run_build run_cache version outside/core outside/dump)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tools/vole/${command}.cc PROPERTIES
    UNITY_GROUP commands)
endforeach()
file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/vole/trace*.cc)
set_source_files_properties(${found} PROPERTIES UNITY_GROUP trace_commands)
vole_together(vole_tool)
vole_precompile(vole_tool ${vole_common_headers} <filesystem> <fstream> <map> <unordered_map>)

# A page with a trace in it is smaller with zlib.
find_package(ZLIB QUIET)
if(ZLIB_FOUND)
  target_link_libraries(vole_tool PRIVATE ZLIB::ZLIB)
  target_compile_definitions(vole_tool PRIVATE VOLE_HAVE_ZLIB)
endif()

add_executable(vole_command ${PROJECT_SOURCE_DIR}/tools/vole/main.cc)
set_target_properties(vole_command PROPERTIES
  OUTPUT_NAME vole
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
target_link_libraries(vole_command PRIVATE vole_tool)
vole_own_code(vole_command)
vole_no_false_alarms(vole_command)
if(VOLE_INSTALL)
  install(TARGETS vole_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT vole-tools)
endif()
