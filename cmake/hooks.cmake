# vole::hooks: the calls of libc that wait, caught on goroutines (src/hooks). And
# libvole-preload.so: the same for a program that was built without vole (src/preload).

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/hooks/*.cc)
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
add_library(vole_hooks_archive STATIC ${sources})
set_target_properties(vole_hooks_archive PROPERTIES
  OUTPUT_NAME vole-hooks EXPORT_NAME hooks_archive POSITION_INDEPENDENT_CODE ON)
target_link_libraries(vole_hooks_archive PUBLIC vole PRIVATE ${CMAKE_DL_LIBS})
target_compile_options(vole_hooks_archive PRIVATE -U_FORTIFY_SOURCE)  # libc's own twins of the names
vole_own_code(vole_hooks_archive)
if(VOLE_SANITIZE MATCHES "thread")  # as the library: cmake/races.cmake
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -fno-sanitize=thread)
  vole_hide_from_tsan(vole_hooks_archive)
endif()
vole_sees_rooms(vole_hooks_archive)

# Nobody refers to these functions by a name that is not libc's, too: all of the archive is taken,
# in one option, which keeps its place on the command line.
set(vole_hooks_file "$<TARGET_FILE:$<TARGET_NAME:vole_hooks_archive>>")
add_library(vole_hooks INTERFACE)
add_library(vole::hooks ALIAS vole_hooks)
set_target_properties(vole_hooks PROPERTIES EXPORT_NAME hooks)
target_link_options(vole_hooks INTERFACE
  "-Wl,--whole-archive,${vole_hooks_file},--no-whole-archive")
target_link_libraries(vole_hooks INTERFACE vole_hooks_archive vole)

if(VOLE_SANITIZE)  # a sanitizer's runtime belongs to the program
  return()
endif()
add_library(vole_preload SHARED ${PROJECT_SOURCE_DIR}/src/preload/start.cc)
set_target_properties(vole_preload PROPERTIES
  OUTPUT_NAME vole-preload
  INSTALL_RPATH "\$ORIGIN")
vole_own_code(vole_preload)
target_link_libraries(vole_preload PRIVATE vole_hooks)
# What it has beside the names of libc is its own: the program may have a vole, too.
target_link_options(vole_preload PRIVATE
  -Wl,-Bsymbolic
  -Wl,--version-script,${PROJECT_SOURCE_DIR}/cmake/preload.map)
set_property(TARGET vole_preload APPEND PROPERTY LINK_DEPENDS
  ${PROJECT_SOURCE_DIR}/cmake/preload.map)
