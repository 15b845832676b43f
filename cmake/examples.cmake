# Every examples/*.cc is a program, and running it without arguments is a test.

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cc)

# These need a library of somebody else's (libsqlite3-dev, libssl-dev) and are left out where it is
# missing.
function(vole_example_needs name header library)
  find_path(VOLE_EXAMPLE_${name}_INCLUDE ${header})
  set(found ${VOLE_EXAMPLE_${name}_INCLUDE})
  foreach(each IN ITEMS ${library} ${ARGN})
    find_library(VOLE_EXAMPLE_${name}_${each} ${each})
    mark_as_advanced(VOLE_EXAMPLE_${name}_${each})
    list(APPEND found ${VOLE_EXAMPLE_${name}_${each}})
  endforeach()
  mark_as_advanced(VOLE_EXAMPLE_${name}_INCLUDE)
  set(vole_example_${name} "${found}" PARENT_SCOPE)
endfunction()
vole_example_needs(sqlite sqlite3.h sqlite3)
vole_example_needs(tls openssl/ssl.h ssl crypto)
vole_example_needs(postgres postgresql/libpq-fe.h pq)
vole_example_needs(redis hiredis/hiredis.h hiredis)
vole_example_needs(mariadb mariadb/mysql.h mariadb)
vole_example_needs(curl curl/curl.h curl)
vole_example_needs(httplib httplib.h cpp-httplib)

# What the header is to be compiled with, so that it agrees with the library.
if(NOT "${vole_example_httplib}" MATCHES "NOTFOUND")
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(VOLE_HTTPLIB QUIET cpp-httplib)
  endif()
endif()

# Linked with vole::hooks; and those that ask a server, which the test starts.
set(vole_examples_hooked postgres redis mariadb curl httplib)
set(vole_examples_served postgres redis mariadb)

# Their dumps name functions and lines, in every build.
set(vole_example_flags)
if(CMAKE_BUILD_TYPE MATCHES "^(Release|MinSizeRel)$")
  set(vole_example_flags -g)
endif()

if(VOLE_PRECOMPILE)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/example_headers.cc CONTENT "")
  add_library(vole_example_headers STATIC ${PROJECT_BINARY_DIR}/example_headers.cc)
  target_link_libraries(vole_example_headers PRIVATE vole::vole)
  vole_own_code(vole_example_headers)
  target_compile_options(vole_example_headers PRIVATE ${vole_example_flags})
  vole_precompile(vole_example_headers <vole/vole.h>)
endif()

foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  if("${vole_example_${name}}" MATCHES "NOTFOUND")
    continue()
  endif()
  if(VOLE_SANITIZE AND name IN_LIST vole_examples_hooked)
    continue()  # libraries of others, which no sanitizer has seen
  endif()
  add_executable(example_${name} ${source})
  set_target_properties(example_${name} PROPERTIES
    OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  target_link_libraries(example_${name} PRIVATE vole::vole)
  if(DEFINED vole_example_${name})
    list(POP_FRONT vole_example_${name} include)
    target_include_directories(example_${name} SYSTEM PRIVATE ${include})
    target_link_libraries(example_${name} PRIVATE ${vole_example_${name}})
  endif()
  if(name IN_LIST vole_examples_hooked)
    target_link_libraries(example_${name} PRIVATE vole::hooks)
  endif()
  if(name STREQUAL "httplib")
    target_compile_options(example_httplib PRIVATE ${VOLE_HTTPLIB_CFLAGS})
  endif()
  vole_own_code(example_${name})
  target_compile_options(example_${name} PRIVATE ${vole_example_flags})
  if(TARGET vole_example_headers)
    vole_precompile(example_${name} REUSE_FROM vole_example_headers)
  endif()
  if(NOT name IN_LIST vole_examples_served)
    vole_add_test(example_${name} example example_${name})
    if(name STREQUAL "tls" AND VOLE_SANITIZE MATCHES "thread")
      set_property(TEST ${VOLE_TEST_PREFIX}example_tls APPEND PROPERTY
        ENVIRONMENT TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/../examples/tsan.supp)
    endif()
  elseif(NOT CMAKE_CROSSCOMPILING)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    add_test(NAME ${VOLE_TEST_PREFIX}example_${name} COMMAND Python3::Interpreter -B
      ${PROJECT_SOURCE_DIR}/tests/servers/with_server.py ${name} $<TARGET_FILE:example_${name}>)
    vole_describe_test(example_${name} example)
    set_tests_properties(${VOLE_TEST_PREFIX}example_${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endforeach()

# All that `make run` needs: the tour and, where there is Node what makes a page.
add_custom_target(vole_run DEPENDS example_tour)
if(TARGET vole_viewer_writer)
  add_dependencies(vole_run vole_viewer_writer)
endif()
