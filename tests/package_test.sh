#!/usr/bin/env bash
# Tests the installed package: installs it, moves it, builds the examples against it and compares
# their results with the right numbers.
#
#   package_test.sh BUILD_DIRECTORY [CMAKE_OPTION...]
set -euo pipefail
build=$1
tests=$(cd -- "$(dirname -- "$0")" && pwd)
examples=$(cd -- "$tests/../examples" && pwd)
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

echo "the tutorial"
cd "$work"
CXX=$compiler /usr/bin/python3 "$tests/tutorial_test.py" "$work/prefix/bin/ooc-run"

# If ccache calls the compiler, it finds what an earlier run has compiled in another directory, if
# the headers were the same.
export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
cmake -S "$examples" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix" "${@:2}"
cmake --build "$work/build" --parallel 1

cd "$work"
"$tests/examples_test.sh" build
