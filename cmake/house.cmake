# The tests of the house itself: its plan, its locks, its documents, its front door.
# They do not depend on how the code is built, so one plain build runs them.

set(vole_house_default ON)
if(VOLE_SANITIZE OR CMAKE_CROSSCOMPILING)
  set(vole_house_default OFF)
endif()
option(VOLE_HOUSE_TESTS "Run the checks in tools/ as tests" ${vole_house_default})
if(NOT VOLE_HOUSE_TESTS)
  return()
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)

# vole_add_check(<name> <script> <arguments...>)
function(vole_add_check name script)
  add_test(NAME ${VOLE_TEST_PREFIX}${name}
    COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tools/${script} ${ARGN})
  vole_describe_test(${name} house)
endfunction()

vole_add_check(house_layers check_layers.py --root ${PROJECT_SOURCE_DIR})
vole_add_check(house_locks check_locks.py --root ${PROJECT_SOURCE_DIR})
vole_add_check(house_links check_links.py --root ${PROJECT_SOURCE_DIR})
vole_add_check(house_names check_names.py --root ${PROJECT_SOURCE_DIR})
vole_add_check(house_messages check_messages.py --root ${PROJECT_SOURCE_DIR})
vole_add_check(house_reference reference.py --check --root ${PROJECT_SOURCE_DIR})
vole_add_check(house_packaging check_packaging.py --root ${PROJECT_SOURCE_DIR})
vole_add_check(house_site make_site.py --root ${PROJECT_SOURCE_DIR} --out ${PROJECT_BINARY_DIR}/site)
set_tests_properties(${VOLE_TEST_PREFIX}house_site PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(${VOLE_TEST_PREFIX}house_site PROPERTIES LABELS "house;slow")
vole_add_check(house_mutants mutants/run.py --check --root ${PROJECT_SOURCE_DIR})
vole_add_check(house_checks checks_test.py)

# A few of the mutants; `make mutants` has them all. They are linked beside a static debug build.
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND VOLE_CHECKED AND CMAKE_GENERATOR STREQUAL "Ninja"
    AND NOT BUILD_SHARED_LIBS)
  vole_add_check(mutants_sample mutants/run.py --sample --no-build --jobs 1
    --root ${PROJECT_SOURCE_DIR} --build ${PROJECT_BINARY_DIR}
    --scratch ${PROJECT_BINARY_DIR}/mutants)
  # A dozen programs are compiled and linked, one after the other.
  set_tests_properties(${VOLE_TEST_PREFIX}mutants_sample PROPERTIES
    TIMEOUT 900 COST 40 LABELS "house;slow")
endif()

# How a user's file is compiled against the library as it stands in this build.
set(vole_user_compile ${CMAKE_CXX_COMPILER} -std=c++20 -Wall -Wextra
  -I${PROJECT_SOURCE_DIR}/include)
set(vole_user_link $<TARGET_FILE:vole> -Wl,-rpath,$<TARGET_FILE_DIR:vole> -pthread)
if(CMAKE_DL_LIBS)
  list(APPEND vole_user_link -l${CMAKE_DL_LIBS})
endif()

# <vole/vole.h> is most of what such a file takes: it is compiled once, ahead of all.
set(vole_user_ahead ${PROJECT_BINARY_DIR}/user/ahead.h)
file(CONFIGURE OUTPUT ${vole_user_ahead} CONTENT "#include <vole/vole.h>\n")
add_custom_command(OUTPUT ${vole_user_ahead}.gch
  COMMAND ${vole_user_compile} -MD -MF ${vole_user_ahead}.d -MT ${vole_user_ahead}.gch
    -x c++-header ${vole_user_ahead} -o ${vole_user_ahead}.gch
  DEPENDS ${vole_user_ahead}
  DEPFILE ${vole_user_ahead}.d
  COMMENT "The public headers, for a user's files"
  VERBATIM)
add_custom_target(vole_user_ahead ALL DEPENDS ${vole_user_ahead}.gch)
set(vole_user_compile_ahead ${vole_user_compile} -include ${vole_user_ahead})

vole_add_check(house_documents doc_examples.py --root ${PROJECT_SOURCE_DIR}
  --compile ${vole_user_compile_ahead} --link ${vole_user_link})
# Some thirty programs are compiled, one after the other.
set_tests_properties(${VOLE_TEST_PREFIX}house_documents PROPERTIES TIMEOUT 900 COST 60)

# Each file of tests/compile_fail is refused with the words of its first line. The control
# shows that it is the file which is refused, not the flags.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/compile_fail/*.cc)
if(sources)
  vole_add_check(compile_fail_control compile_fail.py --control --compile ${vole_user_compile_ahead})
endif()
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  vole_add_check(compile_fail_${name} compile_fail.py ${source} --compile ${vole_user_compile_ahead})
endforeach()

# A user who looks for mistakes compiles our headers with sanitizers.
foreach(sanitizers IN ITEMS undefined address,undefined thread)
  string(REPLACE "," "_" name ${sanitizers})
  vole_add_check(compile_with_${name} compile_fail.py --accept
    ${PROJECT_SOURCE_DIR}/tests/compile/uses.cc
    --compile ${vole_user_compile} -fsanitize=${sanitizers})
endforeach()

# Every public name, as the documents write it, with both compilers.
foreach(compiler IN ITEMS g++ clang++)
  find_program(vole_found_${compiler} ${compiler})
  if(vole_found_${compiler})
    vole_add_check(compile_api_${compiler} compile_fail.py --accept
      ${PROJECT_SOURCE_DIR}/tests/compile/api.cc
      --compile ${vole_found_${compiler}} -std=c++20 -Wall -Wextra -I${PROJECT_SOURCE_DIR}/include)
  endif()
endforeach()

# A user's project, by find_package and by pkg-config, against an installed copy.
if(VOLE_INSTALL AND EXISTS ${PROJECT_SOURCE_DIR}/include/vole/vole.h)
  vole_add_check(house_install check_install.py
    --build ${PROJECT_BINARY_DIR} --cmake ${CMAKE_COMMAND} --compiler ${CMAKE_CXX_COMPILER})
endif()

# A header alone, with both compilers; and what the README tells a user to type.
vole_add_check(house_headers check_headers.py --root ${PROJECT_SOURCE_DIR}
  --compilers g++ clang++)
set_tests_properties(${VOLE_TEST_PREFIX}house_headers PROPERTIES
  TIMEOUT 900 COST 40 LABELS "house;slow")  # seventy files, one after the other
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # once: the dev preset
  vole_add_check(house_readme check_readme.py --root ${PROJECT_SOURCE_DIR})
  set_tests_properties(${VOLE_TEST_PREFIX}house_readme PROPERTIES
    TIMEOUT 900 COST 100 LABELS "house;slow")  # builds the library
endif()
