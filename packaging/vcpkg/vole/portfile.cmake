# An overlay port: it builds the clone that it lies in.
#
#   vcpkg install vole --overlay-ports=<clone>/packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DVOLE_BUILD_TESTS=OFF
    -DVOLE_BUILD_BENCH=OFF
    -DVOLE_BUILD_EXAMPLES=OFF
    -DVOLE_BUILD_TOOLS=OFF
    -DVOLE_CCACHE=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME vole CONFIG_PATH lib/cmake/vole)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/vole")
