# The viewer's page, for `vole trace view`: tools/viewer, bundled into share/vole/viewer.html. It
# needs Node and npm, and the packages of its lock file, which npm fetches once for each build
# folder. If one of these is missing, one line says so and everything else is built.

find_program(VOLE_NODE NAMES node nodejs)
find_program(VOLE_NPM npm)
mark_as_advanced(VOLE_NODE VOLE_NPM)
if(NOT VOLE_NODE OR NOT VOLE_NPM)
  message(STATUS "vole: no Node or no npm: the viewer is left out")
  return()
endif()

set(vole_viewer_source ${PROJECT_SOURCE_DIR}/tools/viewer)
set(vole_viewer_build ${PROJECT_BINARY_DIR}/viewer)
file(SHA256 ${vole_viewer_source}/package-lock.json vole_viewer_lock)
set(vole_viewer_stamp ${vole_viewer_build}/fetched-${vole_viewer_lock})
if(NOT EXISTS ${vole_viewer_stamp})
  file(COPY ${vole_viewer_source}/package.json ${vole_viewer_source}/package-lock.json
    ${vole_viewer_source}/.npmrc DESTINATION ${vole_viewer_build})
  execute_process(
    COMMAND ${VOLE_NPM} ci --ignore-scripts --no-audit --no-fund --fetch-retries=1
    WORKING_DIRECTORY ${vole_viewer_build}
    TIMEOUT 120 RESULT_VARIABLE vole_npm_failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT vole_npm_failed STREQUAL "0")
    message(STATUS "vole: npm could not fetch its packages: the viewer is left out")
    return()
  endif()
  file(TOUCH ${vole_viewer_stamp})
endif()

set(vole_viewer_page ${PROJECT_BINARY_DIR}/share/vole/viewer.html)
set(vole_viewer_reader ${vole_viewer_build}/reader.mjs)
file(GLOB vole_viewer_files CONFIGURE_DEPENDS ${vole_viewer_source}/src/*)
add_custom_command(
  OUTPUT ${vole_viewer_page} ${vole_viewer_reader}
  COMMAND ${CMAKE_COMMAND} -E env VOLE_VIEWER_MODULES=${vole_viewer_build}
    ${VOLE_NODE} ${vole_viewer_source}/build.mjs
    --out ${vole_viewer_page} --reader ${vole_viewer_reader}
  DEPENDS ${vole_viewer_files} ${vole_viewer_source}/build.mjs ${vole_viewer_stamp}
  COMMENT "Bundling the viewer"
  VERBATIM)
add_custom_target(vole_viewer ALL DEPENDS ${vole_viewer_page} ${vole_viewer_reader})

# What `make run` writes its page with.
add_executable(vole_viewer_writer EXCLUDE_FROM_ALL ${vole_viewer_source}/page.cc
  ${PROJECT_SOURCE_DIR}/tools/vole/trace_page.cc ${PROJECT_SOURCE_DIR}/tools/vole/gzip.cc)
set_target_properties(vole_viewer_writer PROPERTIES
  OUTPUT_NAME vole-page
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
target_include_directories(vole_viewer_writer PRIVATE ${PROJECT_SOURCE_DIR}/tools/vole)
vole_own_code(vole_viewer_writer)
find_package(ZLIB QUIET)
if(ZLIB_FOUND)
  target_link_libraries(vole_viewer_writer PRIVATE ZLIB::ZLIB)
  target_compile_definitions(vole_viewer_writer PRIVATE VOLE_HAVE_ZLIB)
endif()
add_dependencies(vole_viewer_writer vole_viewer)

if(VOLE_INSTALL)
  install(FILES ${vole_viewer_page} DESTINATION ${CMAKE_INSTALL_DATADIR}/vole OPTIONAL
    COMPONENT vole-tools)
endif()
