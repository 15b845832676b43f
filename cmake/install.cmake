# What `cmake --install` leaves: headers, library, a CMake package and a pkg-config file.
# Both of the latter find the library relative to themselves, so the tree may be moved.

include(CMakePackageConfigHelpers)

set(vole_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vole)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libvole-dev)  # packages.cmake makes a package of each
install(TARGETS vole vole_preemptible vole_hooks_archive vole_hooks EXPORT vole-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libvole-dev
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT libvole NAMELINK_COMPONENT libvole-dev)
if(TARGET vole_preload)
  install(TARGETS vole_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT vole-tools)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/vole
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT vole-targets NAMESPACE vole:: DESTINATION ${vole_package_dir})

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/vole-config.cmake.in ${PROJECT_BINARY_DIR}/vole-config.cmake
  INSTALL_DESTINATION ${vole_package_dir}
  PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vole-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/vole-config.cmake
  ${PROJECT_BINARY_DIR}/vole-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/vole-preemptible.cmake
  DESTINATION ${vole_package_dir})

# A static library brings no list of what it needs, so its users are told always; of a
# shared one only those who ask for --static.
set(vole_pc_needs "-pthread")
if(CMAKE_DL_LIBS)
  string(APPEND vole_pc_needs " -l${CMAKE_DL_LIBS}")
endif()
if(BUILD_SHARED_LIBS)
  set(vole_pc_libs "")
  set(vole_pc_libs_private "${vole_pc_needs}")
else()
  set(vole_pc_libs " ${vole_pc_needs}")
  set(vole_pc_libs_private "")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(vole_pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(vole_pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(vole_pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  file(RELATIVE_PATH vole_pc_up "/x/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/x")
  string(REGEX REPLACE "/$" "" vole_pc_up "${vole_pc_up}")
  set(vole_pc_prefix "\${pcfiledir}/${vole_pc_up}")
  set(vole_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(vole_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/vole.pc.in ${PROJECT_BINARY_DIR}/vole.pc @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/vole-hooks.pc.in ${PROJECT_BINARY_DIR}/vole-hooks.pc
  @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/vole.pc ${PROJECT_BINARY_DIR}/vole-hooks.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(${CMAKE_CURRENT_LIST_DIR}/install_gdb.cmake)

# cmake --build <folder> --target uninstall
if(PROJECT_IS_TOP_LEVEL)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake.in
    ${PROJECT_BINARY_DIR}/uninstall.cmake @ONLY)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_BINARY_DIR}/uninstall.cmake)
endif()
