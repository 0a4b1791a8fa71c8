# Installation: the libraries with their headers, for CMake (lib/ooc-config.cmake.in) and pkg-config
# (lib/ooc.pc.in), and ooc-run. The components are packages of their own (cmake/debian.cmake).

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ooc)

# A set of targets for each choice of the user, so that a program needs to find only what its own
# choice links.
install(TARGETS ooc_shared EXPORT ooc-targets
        LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS ooc EXPORT ooc-targets FILE_SET HEADERS COMPONENT development)
install(TARGETS ooc_static EXPORT ooc-static-targets ARCHIVE COMPONENT development)
install(TARGETS ooc_operators EXPORT ooc-operators-targets
        FILE_SET HEADERS COMPONENT development)
set(target_sets ooc-targets ooc-static-targets ooc-operators-targets)
if(OOC_MPI)
  install(TARGETS ooc_mpi EXPORT ooc-mpi-targets ARCHIVE COMPONENT development
          FILE_SET HEADERS COMPONENT development)
  list(APPEND target_sets ooc-mpi-targets)
endif()
foreach(set IN LISTS target_sets)
  install(EXPORT ${set} NAMESPACE ooc:: DESTINATION ${package_dir} COMPONENT development)
endforeach()
configure_package_config_file(lib/ooc-config.cmake.in ooc-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(ooc-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ooc-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ooc-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)

# Its paths follow the file, so that the package can be moved.
cmake_path(SET to_prefix "${CMAKE_INSTALL_PREFIX}")
cmake_path(RELATIVE_PATH to_prefix BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
cmake_path(APPEND pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
cmake_path(APPEND pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
# Not -pthread, which nvcc does not know.
set(pc_libs_private -luring -lpthread -l${CMAKE_DL_LIBS})
if(OOC_CUDA)
  list(APPEND pc_libs_private -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt)
endif()
list(JOIN pc_libs_private " " pc_libs_private)
configure_file(lib/ooc.pc.in ooc.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ooc.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(TARGETS ooc-run COMPONENT program)
# A package of its own, so that nothing else depends on libhdf5.
if(OOC_HDF5)
  install(TARGETS ooc-describe-hdf5 DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/ooc COMPONENT hdf5)
endif()
# A package of its own, so that nothing else depends on MPI.
if(OOC_MPI)
  install(TARGETS ooc-run-mpi COMPONENT mpi)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/ooc-run-mpi.1 ".so man1/ooc-run.1\n")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ooc-run-mpi.1
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mpi)
endif()
