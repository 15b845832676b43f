# The gdb script: share/vole/gdb. And where gdb looks for it by itself: under its own prefix (/usr, most
# often) it trusts share/gdb/auto-load. A program that links vole statically has the path of the file
# there in a section of its own (src/root/note.S); of a shared library gdb goes by its name.

set(vole_gdb_dir ${CMAKE_INSTALL_DATADIR}/vole/gdb)
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/vole.py DESTINATION ${vole_gdb_dir} COMPONENT vole-tools)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/gdb/vole_gdb DESTINATION ${vole_gdb_dir} COMPONENT vole-tools
  FILES_MATCHING PATTERN "*.py")

set(vole_gdb_auto ${CMAKE_INSTALL_DATADIR}/gdb/auto-load/vole)
file(RELATIVE_PATH vole_gdb_relative "/x/${vole_gdb_auto}" "/x/${vole_gdb_dir}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/vole-gdb.py.in ${PROJECT_BINARY_DIR}/gdb/vole-gdb.py @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gdb/vole-gdb.py DESTINATION ${vole_gdb_auto} COMPONENT vole-tools)
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/root/note.S APPEND PROPERTY COMPILE_DEFINITIONS
  "VOLE_GDB_SCRIPT=\"${CMAKE_INSTALL_FULL_DATADIR}/gdb/auto-load/vole/vole-gdb.py\"")

if(BUILD_SHARED_LIBS)
  # gdb puts the library's own path behind that of its folder.
  set(vole_gdb_auto ${CMAKE_INSTALL_DATADIR}/gdb/auto-load${CMAKE_INSTALL_FULL_LIBDIR})
  file(RELATIVE_PATH vole_gdb_relative "/x/${vole_gdb_auto}" "/x/${vole_gdb_dir}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/vole-gdb.py.in ${PROJECT_BINARY_DIR}/vole-gdb.py @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/vole-gdb.py DESTINATION ${vole_gdb_auto} COMPONENT vole-tools
    RENAME $<TARGET_FILE_NAME:vole>-gdb.py)
endif()
