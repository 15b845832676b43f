# The library as it is shipped, optimised and unchecked, in a build that makes it otherwise: the
# hot paths are counted in it (budget.cmake), and what depends on how it is built is tested in it.
#
# Of the rooms without the network: neither needs that. Not under sanitizers and not for another
# processor.

if(NOT VOLE_HOUSE_TESTS)
  return()
endif()
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT VOLE_CHECKED AND NOT BUILD_SHARED_LIBS)
  set(vole_as_shipped vole)
  return()
endif()

set(vole_as_shipped vole_optimised)
set(sources ${vole_sources})
list(FILTER sources EXCLUDE REGEX "/src/net/")
add_library(vole_optimised STATIC EXCLUDE_FROM_ALL ${sources})
set_target_properties(vole_optimised PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(vole_optimised
  PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(vole_optimised PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
target_compile_definitions(vole_optimised PRIVATE NDEBUG)
target_compile_options(vole_optimised PRIVATE -O2 -g0)
vole_own_code(vole_optimised)

# A checked build shuffles newborns and looks after itself. What users run does neither: who runs
# next, and what is stolen, is tested there, too. The tests themselves are compiled as always.
foreach(source IN ITEMS
    tests/api/order tests/api/runtime tests/api/wait_group tests/api/spawn tests/api/timer
    tests/api/blocking src/sched/steal src/sched/spawn)
  string(REGEX REPLACE "^(src|tests)/" "" name ${source})
  string(REPLACE "/" "_" name release_${name}_test)
  if(source MATCHES "^tests/")
    set(label api)
  else()
    set(label unit)
  endif()
  vole_add_gtest(${name} ${label} ${PROJECT_SOURCE_DIR}/${source}_test.cc)
  target_link_libraries(${name} PRIVATE vole_optimised)
  target_compile_definitions(${name} PRIVATE VOLE_TEST_RELEASE=1)
  if(label STREQUAL "api")
    target_precompile_headers(${name} REUSE_FROM vole_user_headers)
  else()
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  endif()
endforeach()
