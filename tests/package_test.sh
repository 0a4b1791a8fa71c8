#!/usr/bin/env bash
# The installed package serves a user: installs it, moves it, builds the example against it and
# compares what the example counts with the right number.
#
#   package_test.sh BUILD_DIRECTORY [CMAKE_OPTION...]
set -euo pipefail
build=$1
example=$(cd -- "$(dirname -- "$0")" && pwd)/example
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
"$work/prefix/bin/ooc-run" --version

cmake -S "$example" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix" "${@:2}"
cmake --build "$work/build" --parallel 1

# One million and one floats, of which the right number is above a half.
cd "$work"
expected=$(python3 - <<'PYTHON'
import array

values = array.array("f", (k * 7919 % 1000 / 1000 for k in range(1_000_001)))
with open("prices.f32", "wb") as file:
    values.tofile(file)
print(sum(value > 0.5 for value in values))
PYTHON
)

# Without a visible GPU both programs use the CPU device.
for program in build/count_above_*; do
  test -x "$program" || continue
  counted=$(CUDA_VISIBLE_DEVICES="" "$program")
  echo "$program: $counted of 1000001 are above 0.5, expected $expected"
  test "$counted" = "$expected"
done
