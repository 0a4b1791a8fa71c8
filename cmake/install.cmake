# Installation: the libraries with their headers, for CMake (lib/ooc-config.cmake.in) and pkg-config
# (lib/ooc.pc.in), and ooc-run.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ooc)

# A set of targets for each choice of the user, so that a program needs to find only what its own
# choice links.
install(TARGETS ooc ooc_shared EXPORT ooc-targets FILE_SET HEADERS)
install(TARGETS ooc_static EXPORT ooc-static-targets)
install(TARGETS ooc_operators EXPORT ooc-operators-targets FILE_SET HEADERS)
foreach(set IN ITEMS ooc-targets ooc-static-targets ooc-operators-targets)
  install(EXPORT ${set} NAMESPACE ooc:: DESTINATION ${package_dir})
endforeach()
configure_package_config_file(lib/ooc-config.cmake.in ooc-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(ooc-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ooc-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ooc-config-version.cmake
        DESTINATION ${package_dir})

install(TARGETS ooc-run)
