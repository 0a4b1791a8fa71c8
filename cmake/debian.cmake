# Debian packages, made by `cpack` in the build directory: libooc0.3 (the shared library),
# libooc-dev (headers, the static libraries, CMake and pkg-config files), ooc-run and, with MPI,
# ooc-run-mpi, and with libhdf5 ooc-hdf5.
# cmake/debian/finish.cmake.in adds the documents that every Debian package has.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libooc)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})  # CPack appends the release
set(OOC_PACKAGE_CONTACT "libooc maintainers <maintainers@libooc.example>" CACHE STRING
    "The maintainer that packages name: \"NAME <ADDRESS>\"")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${OOC_PACKAGE_CONTACT}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# For packages of programs that link the library: any later one with its SONAME does.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

find_program(OOC_SHLIBDEPS dpkg-shlibdeps)
if(OOC_SHLIBDEPS)  # finds the packages of the libraries that the files link
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()

set(library_package libooc${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
# Loaded when a product of matrices is computed on the CPU.
set(openblas "libopenblas0-pthread | libopenblas0")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "${openblas}")
# Loaded when a file on a server is opened, and to decode chunks.
set(codecs "libzstd1, libdeflate0, liblz4-1")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "libcurl4, ooc-hdf5, ${codecs}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "out-of-core streaming compute, shared library
libooc sends files that are larger than memory through computations on the
CPU or a GPU, at the speed of the disk.
.
This package has what programs need that were built with libooc.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libooc-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "${library_package} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), liburing-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "out-of-core streaming compute, development files
libooc sends files that are larger than memory through computations on the
CPU or a GPU, at the speed of the disk.
.
This package has the headers, the static library, and the files by which
CMake and pkg-config find them.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME ooc-run)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "${openblas}")
# rsvg-convert makes PNG files of pictures, libcurl reads files of servers, the others decode.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "librsvg2-bin, libcurl4, ooc-hdf5, ${codecs}")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "statistics and products of files larger than memory
ooc-run sends files that are larger than memory through computations on the
CPU or a GPU, at the speed of the disk: statistics, histograms, conversions
of element types and products of matrices, of raw and .npy files.")

set(other_pairs)
if(OOC_HDF5)
  list(APPEND other_pairs hdf5=ooc-hdf5)
  list(APPEND CPACK_COMPONENTS_ALL hdf5)
  set(CPACK_DEBIAN_HDF5_PACKAGE_NAME ooc-hdf5)
  set(CPACK_DEBIAN_HDF5_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_HDF5_DESCRIPTION "out-of-core streaming compute, arrays of HDF5 files
libooc sends files that are larger than memory through computations on the
CPU or a GPU, at the speed of the disk.
.
This package has the program by which ooc-run and the library find the
arrays of HDF5 and NetCDF-4 files.")
endif()
if(OOC_MPI)
  list(APPEND other_pairs mpi=ooc-run-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME ooc-run-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS
      "ooc-run (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
  set(CPACK_DEBIAN_MPI_DESCRIPTION "statistics of files by several processes, over MPI
ooc-run sends files that are larger than memory through computations on the
CPU or a GPU, at the speed of the disk.
.
This package has ooc-run-mpi, which is ooc-run for several processes, on one
machine or many. Each reads a part of the data.")
endif()

# The changelog of a Debian package names its date. That of the release is in CHANGELOG.md.
file(STRINGS CHANGELOG.md release REGEX "^## ${PROJECT_VERSION}, [0-9-]+$")
string(REGEX REPLACE ".*, " "" release_date "${release}")
execute_process(COMMAND date --utc --rfc-email --date "${release_date}"
                OUTPUT_VARIABLE debian_date OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
list(JOIN other_pairs " " other_pairs)
configure_file(cmake/debian/changelog.in debian/changelog @ONLY)
configure_file(cmake/debian/finish.cmake.in debian/finish.cmake @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_BINARY_DIR}/debian/finish.cmake)

include(CPack)
