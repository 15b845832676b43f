# The gdb script: share/vole/gdb. For a shared library also where gdb looks by itself, which it does
# under its own prefix (/usr, most often).

set(vole_gdb_dir ${CMAKE_INSTALL_DATADIR}/vole/gdb)
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/vole.py DESTINATION ${vole_gdb_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/gdb/vole_gdb DESTINATION ${vole_gdb_dir}
  FILES_MATCHING PATTERN "*.py")

if(BUILD_SHARED_LIBS)
  # gdb puts the library's own path behind that of its folder.
  set(vole_gdb_auto ${CMAKE_INSTALL_DATADIR}/gdb/auto-load${CMAKE_INSTALL_FULL_LIBDIR})
  file(RELATIVE_PATH vole_gdb_relative "/x/${vole_gdb_auto}" "/x/${vole_gdb_dir}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/vole-gdb.py.in ${PROJECT_BINARY_DIR}/vole-gdb.py @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/vole-gdb.py DESTINATION ${vole_gdb_auto}
    RENAME $<TARGET_FILE_NAME:vole>-gdb.py)
endif()
