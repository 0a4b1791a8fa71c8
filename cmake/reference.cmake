# The reference of the installed headers, by Doxygen: target `reference` makes it, in
# reference/html/ of the build directory, and tests/doxygen_test.sh tests it.

set(OOC_REFERENCE_DIR ${PROJECT_BINARY_DIR}/reference)
foreach(target IN ITEMS ooc ooc_operators)
  get_target_property(headers ${target} HEADER_SET)
  get_target_property(roots ${target} HEADER_DIRS)
  list(APPEND OOC_REFERENCE_INPUT ${headers})
  list(APPEND OOC_REFERENCE_ROOTS ${roots})
endforeach()
foreach(list IN ITEMS OOC_REFERENCE_INPUT OOC_REFERENCE_ROOTS)
  list(REMOVE_DUPLICATES ${list})
  list(TRANSFORM ${list} REPLACE "(.+)" "\"\\1\"")
  list(JOIN ${list} " \\\n    " ${list})
endforeach()
configure_file(docs/Doxyfile.in ${OOC_REFERENCE_DIR}/Doxyfile @ONLY)

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(reference COMMAND doxygen ${OOC_REFERENCE_DIR}/Doxyfile VERBATIM)
endif()
