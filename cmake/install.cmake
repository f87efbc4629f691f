# `cmake --install` puts headers, library, CMake package, pkg-config file and licences in place: find_package(tamis) or pkg-config tamis.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tamis EXPORT tamis-targets)
install(DIRECTORY include/tamis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# A set of its own: only who asks for the component `guard` needs RocksDB.
install(TARGETS tamis_guard EXPORT tamis-guard-targets)
install(EXPORT tamis-guard-targets NAMESPACE tamis:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
install(EXPORT tamis-targets NAMESPACE tamis:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)

configure_package_config_file(cmake/tamis-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/tamis-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tamis-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tamis-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/tamis-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)

# The way from the .pc file back to the prefix, so that the installed tree can be moved.
file(RELATIVE_PATH TAMIS_PREFIX_FROM_PC /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/tamis.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tamis.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tamis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The library holds xxHash's code, whose licence wants its notice to come with binaries.
install(FILES LICENSE THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
