#!/usr/bin/env bash
# Tests the installed package: installs it, moves it, builds the examples against it and compares
# their results with the right numbers.
#
#   package_test.sh BUILD_DIRECTORY [CMAKE_OPTION...]
set -euo pipefail
build=$1
examples=$(cd -- "$(dirname -- "$0")/../examples" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CUDA_VISIBLE_DEVICES=""  # without a visible GPU all programs use the CPU device

cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
"$work/prefix/bin/ooc-run" --version
for manual in man/man1/ooc-run.1 man/man1/ooc-run-histogram.1 \
  bash-completion/completions/ooc-run zsh/site-functions/_ooc-run \
  fish/vendor_completions.d/ooc-run.fish; do
  test -s "$work/prefix/share/$manual"
done
if grep -rE --include='*.cmake' 'FORTIFY|-fstack|-fcf|relro|noexecstack|-Wall' "$work/prefix"; then
  echo "the package passes build options of this project on to its users" >&2
  exit 1
fi

# accept: expects that the program on standard input compiles.
# refuse STANDARD TEXT: expects that the program on standard input does not compile, and that the
# first error contains TEXT.
compiler=c++
for option in "${@:2}"; do
  if [[ $option == -DCMAKE_CXX_COMPILER=* ]]; then compiler=${option#*=}; fi
done
accept() {
  echo "the compiler accepts a program"
  "$compiler" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I "$work/prefix/include" -x c++ -
}
refuse() {
  echo "the compiler says: $2"
  if "$compiler" "-std=$1" -fsyntax-only -I "$work/prefix/include" -x c++ - 2> "$work/errors.txt"
  then
    echo "it compiles" >&2
    exit 1
  fi
  if ! grep -m 1 'error:' "$work/errors.txt" | grep -qF "$2"; then
    cat "$work/errors.txt" >&2
    exit 1
  fi
}
cd "$work/prefix/include"
for header in ooc/*.hpp; do
  refuse c++17 'libooc needs C++20' <<< "#include <$header>"
done
accept <<'PROGRAM'
#include <ooc/fold.hpp>
using Of = ooc::Row<float>;
ooc::PassOptions options;
ooc::Stats stats;
const ooc::Source source = ooc::open("a.f32");
const auto both = ooc::zip(source, source);
PROGRAM
refuse c++20 'consume() and merge() of an operator must be const' <<'PROGRAM'
#include <ooc/ooc.hpp>
struct Sum {
  using Input = float;
  using Partial = double;
  void consume(ooc::Stream&, ooc::DeviceChunk<const float> in, Partial& sum) { sum += in[0]; }
  void merge(Partial& total, const Partial& part) const { total += part; }
};
double sum_of(ooc::Coordinator& coordinator, const ooc::Source& source) {
  const auto [sum, stats] = ooc::fold(coordinator, Sum{}, source);
  return sum;
}
PROGRAM
refuse c++20 'transform() of an operator must be const' <<'PROGRAM'
#include <ooc/ooc.hpp>
struct Halve {
  using Input = float;
  using Output = float;
  void transform(ooc::Stream&, ooc::DeviceChunk<const float> in, ooc::DeviceSpan<float> out) {
    out[0] = in[0] / 2;
  }
};
void halve(ooc::Coordinator& coordinator, const ooc::Source& source, const ooc::Target& target) {
  ooc::map(coordinator, Halve{}, source, target);
}
PROGRAM
refuse c++20 'use of deleted function' <<'PROGRAM'
#include <ooc/ooc.hpp>
const auto dangling = ooc::zip(ooc::open("a.f32"), ooc::open("b.f32"));
PROGRAM
refuse c++20 'use of deleted function' <<'PROGRAM'
#include <ooc/ooc.hpp>
ooc::Source copy_of(const ooc::Source& source) { return source; }
PROGRAM

cmake -S "$examples" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix" "${@:2}"
cmake --build "$work/build" --parallel 1

# Makes a file of 1,000,001 floats, and two matrices of small integers, which have an exact product.
cd "$work"
/usr/bin/python3 - <<'PYTHON'
import numpy as np

values = (np.arange(1_000_001) * 7919 % 1000 / 1000).astype(np.float32)
values.tofile("prices.f32")
(np.arange(1_000_001) * 31 % 3).astype(np.uint8).tofile("good.u8")
random = np.random.default_rng(5)
for name, shape in ("a.npy", (300, 500)), ("b.npy", (500, 70)):
    np.save(name, random.integers(-8, 9, shape).astype(np.float32))
points = random.integers(-8, 9, (70_001, 13)).astype(np.float32)
np.save("points.npy", points)
(points @ np.arange(13, dtype=np.float32) / 4).tofile("labels.f32")
# Fields in another order than that of the program, in the other byte order, and with one more.
particles = np.zeros(300_001, [("id", "<u4"), ("x", ">f4"), ("mass", ">f8"), ("y", "<f4")])
for name, values_of in ("x", 7), ("mass", 5), ("y", 11):
    particles[name] = np.arange(len(particles)) * values_of % 1000 + 1
np.save("particles.npy", particles)
PYTHON

# check PROGRAM RULE: expects that RULE, in Python, is true of the program's results.
check() {
  echo "$1: $2"
  /usr/bin/python3 - "$2" <<'PYTHON'
import sys

import numpy as np

values = np.fromfile("prices.f32", np.float32)
mean = np.float32(values.mean(dtype=np.float64))
stddev = np.float32(values.std(dtype=np.float64))
a, b, points = (np.load(name).astype(int) for name in ("a.npy", "b.npy", "points.npy"))
good = np.fromfile("good.u8", np.uint8)
particles = np.load("particles.npy")
until = np.concatenate(([0], values.cumsum(dtype=np.float64)))
index = np.arange(len(values))
ends = np.minimum(index + 4, len(values)), np.maximum(index - 3, 0)
around = (until[ends[0]] - until[ends[1]]) / (ends[0] - ends[1])
sys.exit(None if eval(sys.argv[1]) else "not so")
PYTHON
}

# prints NAME RULE...: runs all builds of an example, whose output is in output.txt for the rules.
prints() {
  local program rule
  for program in build/"$1"_*; do
    "$program" | tee output.txt
    for rule in "${@:2}"; do check "$program" "$rule"; done
  done
}

# writes NAME FILE RULE: runs all builds of an example that writes a file.
writes() {
  local program
  for program in build/"$1"_*; do
    "$program"
    check "$program" "$3"
    rm "$2"
  done
}

prints count_above "np.loadtxt('output.txt') == np.sum(values > 0.5)"
prints three_answers "np.loadtxt('output.txt')[0] == np.sum(values > 0.5)" \
  "np.isclose(np.loadtxt('output.txt')[1], mean, rtol=1e-5)" \
  "(np.loadtxt('output.txt')[2:] == np.histogram(values, 4, (0, 1))[0]).all()"
prints masked_sum "np.isclose(np.loadtxt('output.txt'), values[good != 0].sum(dtype=np.float64))"
writes standardise standardised.npy \
  "np.array_equal(np.load('standardised.npy'), (values - mean) / stddev)"
writes row_norms squared_norms.npy \
  "np.array_equal(np.load('squared_norms.npy'), (points ** 2).sum(axis=1))"
writes moving_average averages.npy \
  "np.allclose(np.load('averages.npy'), around, rtol=1e-5, atol=1e-6)"
prints keep_above "open('output.txt').read() == f'{np.sum(values > 0.5)} of {len(values)}\n'" \
  "np.array_equal(np.load('high.npy'), values[values > 0.5])"
prints heavy_particles "np.array_equal(np.load('heavy.npy'), particles[particles['mass'] > 500][
  ['mass', 'x', 'y']].astype(np.load('heavy.npy').dtype))" \
  "np.load('heavy.npy').dtype == [('mass', '<f8'), ('x', '<f4'), ('y', '<f4')]"
writes running_sum totals.npy "np.allclose(np.load('totals.npy'), until[1:], rtol=1e-12)"
writes quantise bytes.npy "np.array_equal(np.load('bytes.npy'), np.rint(points.astype(np.float32) /
  (np.abs(points).max(axis=1, keepdims=True).astype(np.float32) / np.float32(127))))"
prints device_loop "np.allclose(np.loadtxt('output.txt'), np.arange(13) / 4, atol=1e-6)"
for program in build/standard_input_*; do
  cat prices.f32 | "$program" | tee output.txt
  check "$program" "np.isclose(float(open('output.txt').read().split()[0]), until[-1]) and \
    ' 1000001 values' in open('output.txt').read()"
  if head -c 7 prices.f32 | "$program"; then exit 1; fi
done
build/multiply a.npy b.npy c.npy
check build/multiply "np.array_equal(np.load('c.npy'), a @ b)"
