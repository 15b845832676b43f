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
vole_precompile(vole_optimised ${vole_common_headers} <thread>)
vole_together(vole_optimised)  # as it is shipped

# A checked build shuffles newborns and looks after itself. What users run does neither: who runs
# next, and what is stolen, is tested there, too. The tests themselves are compiled as always.
set(depends_on_order_api order runtime wait_group spawn timer blocking)
set(depends_on_order_unit sched/work/steal sched/life/spawn)
foreach(label IN ITEMS api unit)
  if(label STREQUAL "api")
    set(root ${PROJECT_SOURCE_DIR}/tests)
    list(TRANSFORM depends_on_order_api PREPEND api/)
  else()
    set(root ${PROJECT_SOURCE_DIR}/src)
  endif()
  set(sources ${depends_on_order_${label}})
  list(TRANSFORM sources REPLACE "(.+)" "${root}/\\1_test.cc")
  vole_add_test_programs(programs ${label} release_ ${root} ${sources})
  foreach(program IN LISTS programs)
    target_link_libraries(${program} PRIVATE vole_optimised)
    target_compile_definitions(${program} PRIVATE VOLE_TEST_RELEASE=1)
    if(label STREQUAL "api")
      target_precompile_headers(${program} REUSE_FROM vole_user_headers)
    else()
      target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    endif()
  endforeach()
endforeach()
