# Read by ctest (see ooc_label in CMakeLists.txt): gives tests of a GoogleTest program their labels.

# Adds `label` to those of the list `tests` whose name matches one of `patterns`, in which * stands
# for any text. A pattern that matches nothing is an error: its test has been renamed, and would
# lose its label unnoticed.
function(ooc_label_tests tests label patterns)
  if(NOT tests)
    return()  # the program is not built
  endif()
  foreach(pattern IN LISTS patterns)
    string(REPLACE "." "\\." regex "${pattern}")
    string(REPLACE "*" ".*" regex "${regex}")
    set(found FALSE)
    foreach(test IN LISTS tests)
      # CMake appends the value of a parameter: "Suite.Test/name  # GetParam() = ...".
      string(REGEX REPLACE " +#.*" "" name "${test}")
      if(name MATCHES "^${regex}$")
        set(found TRUE)
        string(MD5 key "${test}")  # a variable's name may not have its spaces and brackets
        list(APPEND labels_${key} ${label})
        set(labels_${key} ${labels_${key}} PARENT_SCOPE)
        set_tests_properties("${test}" PROPERTIES LABELS "${labels_${key}}")
      endif()
    endforeach()
    if(NOT found AND NOT ooc_patterns_may_match_nothing)
      message(FATAL_ERROR "no test is named ${pattern}, which is to get the label ${label}")
    endif()
  endforeach()
endfunction()
