# Finds the dependencies of the build. Reports all missing ones in one message, with the command
# that installs them.

set(missing)   # names for the message
set(packages)  # their Debian packages

# ooc_need(FOUND WHAT PACKAGE...): notes that WHAT is missing, unless the variable FOUND is true.
macro(ooc_need found what)
  if(NOT ${found})
    list(APPEND missing "${what}")
    list(APPEND packages ${ARGN})
  endif()
endmacro()

# A wheel runs on systems that lack these libraries.
set(library_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
if(OOC_BUILD_PYTHON)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(Boost_USE_STATIC_LIBS ON)
endif()
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
ooc_need(PkgConfig_FOUND "pkg-config" pkg-config)
if(PkgConfig_FOUND)
  pkg_check_modules(liburing QUIET IMPORTED_TARGET liburing>=2.3)
endif()
ooc_need(liburing_FOUND "liburing 2.3 or later" liburing-dev)
# Only the header of xxHash is used. The functions of the library are compiled for SSE2, half as
# fast, and not every distribution has the variants that dispatch by processor.
find_path(XXHASH_INCLUDE_DIR xxhash.h)
ooc_need(XXHASH_INCLUDE_DIR "xxhash.h (xxHash 0.8 or later)" libxxhash-dev)
find_package(Boost 1.74 QUIET COMPONENTS program_options)
ooc_need(Boost_FOUND "Boost.Program_options 1.74 or later" libboost-program-options-dev)
find_package(fmt 9 QUIET)
ooc_need(fmt_FOUND "fmt 9 or later" libfmt-dev)
set(CMAKE_FIND_LIBRARY_SUFFIXES ${library_suffixes})  # CMake knows a toolkit by libcudart.so
find_package(nlohmann_json 3.11 QUIET)
ooc_need(nlohmann_json_FOUND "nlohmann-json 3.11 or later" nlohmann-json3-dev)
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_writer.hpp)  # header-only, without a CMake package
ooc_need(PROTOZERO_INCLUDE_DIR "protozero" libprotozero-dev)
# Only the headers of libcurl are used: a program loads the library when it opens an address.
if(OOC_HTTP)
  find_path(CURL_INCLUDE_DIR curl/curl.h)
  if(OOC_HTTP STREQUAL "AUTO" AND NOT CURL_INCLUDE_DIR)
    set(OOC_HTTP OFF)
  endif()
endif()
if(OOC_HTTP)
  ooc_need(CURL_INCLUDE_DIR "curl/curl.h (-DOOC_HTTP=OFF does without)" libcurl4-openssl-dev)
endif()
if(OOC_MPI)
  set(MPI_CXX_SKIP_MPICXX TRUE)  # its C interface is used, and no other
  find_package(MPI QUIET COMPONENTS CXX)
  if(OOC_MPI STREQUAL "AUTO")
    set(OOC_MPI ${MPI_CXX_FOUND})
  endif()
endif()
if(OOC_MPI)
  ooc_need(MPI_CXX_FOUND "MPI (-DOOC_MPI=OFF does without)" libopenmpi-dev openmpi-bin)
endif()
# Only a program of its own links libhdf5. The memory that it may take has no room for sanitizers.
if(OOC_SANITIZE)
  set(OOC_HDF5 OFF)
endif()
if(OOC_HDF5 AND PkgConfig_FOUND)
  pkg_search_module(hdf5 QUIET IMPORTED_TARGET hdf5-serial>=1.10.7 hdf5>=1.10.7)
endif()
if(OOC_HDF5 STREQUAL "AUTO" AND NOT hdf5_FOUND)
  set(OOC_HDF5 OFF)
endif()
if(OOC_HDF5)
  ooc_need(hdf5_FOUND "libhdf5 1.10.7 or later (-DOOC_HDF5=OFF does without)" libhdf5-dev)
endif()
if(OOC_BUILD_TESTS)
  find_package(GTest 1.12 QUIET)
  ooc_need(GTest_FOUND "GoogleTest 1.12 or later (-DOOC_BUILD_TESTS=OFF does without)" libgtest-dev)
  # The system's Python, for which Debian packages what some tests need (NumPy, jsonschema).
  find_program(OOC_PYTHON python3 HINTS /usr/bin)
  ooc_need(OOC_PYTHON "Python 3 (for the tests)" python3)
endif()

set(remedies)
if(OOC_CUDA)
  # Check the release of nvcc first. An older one does not know the C++ standard or the GPUs, and
  # its error messages do not mention its age.
  set(nvcc nvcc)
  if(CMAKE_CUDA_COMPILER)
    set(nvcc "${CMAKE_CUDA_COMPILER}")
  elseif(DEFINED ENV{CUDACXX})
    separate_arguments(nvcc UNIX_COMMAND "$ENV{CUDACXX}")
  endif()
  execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE nvcc_says ERROR_QUIET
                  RESULT_VARIABLE ignored)
  if(NOT nvcc_says MATCHES "release ([0-9.]+)")
    list(APPEND missing "the CUDA toolkit 13.0 or later: no ${nvcc} was found")
  elseif(CMAKE_MATCH_1 VERSION_LESS 13.0)
    list(APPEND missing "the CUDA toolkit 13.0 or later: ${nvcc} is of ${CMAKE_MATCH_1}")
  else()
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      set(CMAKE_CUDA_ARCHITECTURES all-major)
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit 13.0 REQUIRED)
  endif()
  if(NOT CUDAToolkit_FOUND)
    string(APPEND remedies "  put nvcc of CUDA 13 on the PATH, or build for the CPU only with "
                           "-DOOC_CUDA=OFF (preset cpu)\n")
  endif()
else()
  set(CCCL_THRUST_DEVICE_SYSTEM CPP)
endif()
# Debian's Thrust 1.17 is too old: CCCL 3 comes with the toolkit or as a wheel (scripts/setup).
find_package(CCCL 3.0 CONFIG QUIET
  HINTS ${CUDAToolkit_LIBRARY_ROOT} "${PROJECT_SOURCE_DIR}/.deps/cccl")
if(NOT CCCL_FOUND AND (CUDAToolkit_FOUND OR NOT OOC_CUDA))
  list(APPEND missing "CCCL 3 (Thrust, CUB)")
  string(APPEND remedies "  scripts/setup --cpu fetches CCCL; or give its place with "
                         "-DCCCL_DIR=<...>/lib/cmake/cccl\n")
endif()

if(packages)
  list(JOIN packages " " names)
  string(PREPEND remedies "  apt-get install ${names}\n"
                          "  (docs/building.md has the names for dnf, pacman and conda)\n")
endif()
if(missing)
  list(JOIN missing "\n  " lines)
  # CMake wraps lines of a message unless they are indented.
  message(FATAL_ERROR "Missing:\n  ${lines}\nRemedy:\n${remedies}")
endif()
