#!/usr/bin/env bash
# Tests that every public name of the installed headers has a comment, and that Doxygen understands
# all of them.
#
#   doxygen_test.sh DOXYFILE
#
# Ends with 77 if there is no Doxygen.
set -euo pipefail
doxyfile=$1
if ! command -v doxygen >/dev/null; then
  echo "skipped: no doxygen here (apt-get install doxygen)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# refer INPUT...: makes the reference of files, in a directory of its own.
refer() {
  { cat "$doxyfile"; echo "OUTPUT_DIRECTORY = $work"; (($# == 0)) || echo "INPUT = $*"; } |
    doxygen - 2>&1
}
refer

# The settings find what has no comment.
for declaration in 'struct Name { int member; };' 'void name();' '/// A type.
struct Type { int name; };' '/// A type.
class Type { public: void name(); };' 'template <class T> using Name = T;' 'constexpr int name = 1;'
do
  printf '/// A library.\nnamespace ooc {}\nnamespace ooc {\n%s\n}\n' "$declaration" \
    >"$work/input.hpp"
  if refer "$work/input.hpp" >"$work/said.txt" || ! grep -q 'is not documented' "$work/said.txt"
  then
    echo "no comment is missed in: $declaration" >&2
    exit 1
  fi
done
# Implementation needs none.
printf '/// A library.\nnamespace ooc {}\nnamespace ooc::detail {\nvoid name();\n}\n' \
  >"$work/input.hpp"
refer "$work/input.hpp"
