# `cmake --install` puts headers, libraries, CMake package, pkg-config files and licences in place. C++: find_package(tamis) and
# tamis::tamis, or pkg-config tamis++ (static). C: tamis::c, or pkg-config tamis (shared).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tamis EXPORT tamis-targets)
install(DIRECTORY include/tamis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} PATTERN README.md EXCLUDE)
# A set of its own: only who asks for the component `guard` needs RocksDB.
install(TARGETS tamis_guard EXPORT tamis-guard-targets)
install(EXPORT tamis-guard-targets NAMESPACE tamis:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
install(EXPORT tamis-targets NAMESPACE tamis:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)

# The C interface: sets of their own, because they need neither C++ nor RocksDB's headers.
install(TARGETS tamis_c EXPORT tamis-c-targets)
install(EXPORT tamis-c-targets NAMESPACE tamis:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
if(TARGET tamis_guard_c)
  set_target_properties(tamis_guard_c PROPERTIES INSTALL_RPATH $ORIGIN)  # libtamis.so.0 is beside it, wherever that is
  install(TARGETS tamis_guard_c EXPORT tamis-guard-c-targets)
  install(EXPORT tamis-guard-c-targets NAMESPACE tamis:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
endif()

configure_package_config_file(cmake/tamis-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/tamis-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tamis-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tamis-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/tamis-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)

# The way from the .pc file back to the prefix, so that the installed tree can be moved.
file(RELATIVE_PATH TAMIS_PREFIX_FROM_PC /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
foreach(name tamis tamis++)
  configure_file(cmake/${name}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
if(TARGET tamis_guard_c)
  configure_file(cmake/tamis-guard.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tamis-guard.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tamis-guard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# The library holds xxHash's code, whose licence wants its notice to come with binaries.
install(FILES LICENSE THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
