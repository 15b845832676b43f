# The library: every room of src/, and of the ports only the one for this processor.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(VOLE_ARCH amd64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(VOLE_ARCH arm64)
else()
  message(FATAL_ERROR "vole has no port to ${CMAKE_SYSTEM_PROCESSOR}: see src/arch")
endif()
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "vole has no port to ${CMAKE_SYSTEM_NAME}: see src/os")
endif()

# Compiled room by room the library takes a sixth of the time. Debug builds compile each file by
# itself: there one sees that it includes what it needs, and the mutants replace single files.
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT VOLE_SANITIZE)
  set(vole_together_default OFF)
else()
  set(vole_together_default ON)
endif()
option(VOLE_TOGETHER "Compile the files of a room as one" ${vole_together_default})

# Files of one room must then not use a name twice, not even in an anonymous namespace; those that do
# are named here and compiled alone.
set(vole_apart
  api/trace.cc net/listen.cc os/linux/clock.cc os/linux/events.cc os/linux/futex.cc os/linux/heard_sig.cc os/linux/preempt_sig.cc os/linux/quit_sig.cc
  sched/report/cycles.cc symbols/names.cc sync/barrier.cc sync/latch.cc sync/mutex.cc sync/once.cc sync/wait_group.cc
  walk/row.cc)
function(vole_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

set(vole_sources)
foreach(room IN ITEMS base os os/linux arch arch/${VOLE_ARCH} walk symbols stack gmp queue timer poll trace sched sched/life sched/work sched/hold sched/policy sched/wake_policy sched/watch sched/wait sched/run sched/report chan sync time net file process io root control api)
  file(GLOB found CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/${room}/*.cc ${PROJECT_SOURCE_DIR}/src/${room}/*.S)
  list(APPEND vole_sources ${found})
endforeach()
list(FILTER vole_sources EXCLUDE REGEX "_test\\.cc$|/src/symbols/lookup_")

foreach(source IN LISTS vole_sources)
  file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR}/src ${source})
  if(source MATCHES "\\.cc$" AND NOT file IN_LIST vole_apart)
    get_filename_component(room ${file} DIRECTORY)
    string(REPLACE "/" "_" room ${room})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room})
  endif()
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/backtrace.cmake)
list(APPEND vole_sources ${vole_symbol_lookup})

math(EXPR vole_version_number
  "${PROJECT_VERSION_MAJOR} * 10000 + ${PROJECT_VERSION_MINOR} * 100 + ${PROJECT_VERSION_PATCH}")
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/api/version.cc PROPERTIES
  COMPILE_DEFINITIONS "VOLE_LIBRARY_VERSION=\"${PROJECT_VERSION}\";VOLE_LIBRARY_VERSION_NUMBER=${vole_version_number}"
  SKIP_UNITY_BUILD_INCLUSION ON)

add_library(vole ${vole_sources})
add_library(vole::vole ALIAS vole)
set_target_properties(vole PROPERTIES
  POSITION_INDEPENDENT_CODE ON
  LINKER_LANGUAGE CXX
  DEFINE_SYMBOL ""
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_include_directories(vole PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(vole PUBLIC Threads::Threads PRIVATE ${CMAKE_DL_LIBS})
if(BUILD_SHARED_LIBS)
  set(vole_map ${PROJECT_BINARY_DIR}/vole.map)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/vole.map.in ${vole_map} @ONLY)
  target_link_options(vole PRIVATE LINKER:--version-script=${vole_map})
  set_target_properties(vole PROPERTIES LINK_DEPENDS ${vole_map})
endif()
vole_own_code(vole)
vole_sees_rooms(vole)
if(VOLE_TSAN_RUNTIME)
  vole_sanitize(vole)
  target_compile_definitions(vole PUBLIC VOLE_TSAN_RUNTIME=1)
else()
  vole_sanitize(vole UNSEEN)
  vole_hide_from_tsan(vole)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(vole PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)  # src/base/thread_safety.h
endif()
vole_precompile(vole ${vole_common_headers} <thread>)
if(VOLE_TOGETHER)
  vole_together(vole)
endif()

# What vole_preemptible() links to a target.
include(${CMAKE_CURRENT_LIST_DIR}/vole-preemptible.cmake)
add_library(vole_preemptible STATIC ${PROJECT_SOURCE_DIR}/src/preemptible/entry.cc)
add_library(vole::preemptible ALIAS vole_preemptible)
set_target_properties(vole_preemptible PROPERTIES
  POSITION_INDEPENDENT_CODE ON EXPORT_NAME preemptible)
target_link_libraries(vole_preemptible PUBLIC vole)
vole_own_code(vole_preemptible)

# What tests that see src/ link: under TSan a library whose own accesses are in sight.
set(vole_of_rooms vole)
if(VOLE_SANITIZE MATCHES "thread" AND NOT VOLE_TSAN_RUNTIME)
  set(vole_of_rooms vole_watched)
  add_library(vole_watched STATIC EXCLUDE_FROM_ALL ${vole_sources})
  set_target_properties(vole_watched PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
  target_include_directories(vole_watched PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(vole_watched PUBLIC Threads::Threads PRIVATE ${CMAKE_DL_LIBS})
  target_compile_definitions(vole_watched PUBLIC VOLE_TSAN_RUNTIME=1)
  vole_own_code(vole_watched)
  vole_sees_rooms(vole_watched)
  vole_sanitize(vole_watched)
endif()
