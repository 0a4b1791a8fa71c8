# ctest includes this file to label the tests of a GoogleTest program (ooc_label in CMakeLists.txt).

# Adds `label` to each of `tests` with a name that matches one of `patterns`, in which * matches any
# text. A pattern without a match is an error: its test was probably renamed, and would lose its
# label unnoticed.
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
        string(MD5 key "${test}")  # its spaces and brackets cannot be in a variable's name
        list(APPEND labels_${key} ${label})
        set(labels_${key} ${labels_${key}} PARENT_SCOPE)
        set_tests_properties("${test}" PROPERTIES LABELS "${labels_${key}}")
      endif()
    endforeach()
    if(NOT found)
      message(FATAL_ERROR "no test is named ${pattern}, which is to get the label ${label}")
    endif()
  endforeach()
endfunction()
