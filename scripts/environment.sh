# Sourced by the scripts beside it: where the project is, and what can be built on this machine.
# Sets `root` and `preset`. OOC_NO_CUDA=1 hides a CUDA toolkit.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
started=$SECONDS

say() { printf '== %s\n' "$*" >&2; }
fail() { printf '== failed: %s\n' "$*" >&2; exit 1; }

# Prints the release of the CUDA compiler, e.g. 13.0; nothing if there is none.
nvcc_release() {
  nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p' || true
}

choose_preset() {
  preset=cpu
  if [[ -n ${OOC_NO_CUDA:-} ]]; then
    why="OOC_NO_CUDA is set"
    return
  fi
  command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
  local release
  release=$(nvcc_release)
  if [[ -z $release ]]; then
    why="there is no CUDA toolkit on this machine"
  elif ((${release%%.*} < 13)); then
    why="the CUDA toolkit $release is older than 13.0"
  else
    preset=cuda
    why="there is a CUDA toolkit $release"
  fi
}
choose_preset

# build PRESET [TARGET...]: configures and builds, with all cores (or BUILD_JOBS of them).
build() {
  local log=build/$1.log
  mkdir -p "$root/build"
  say "building preset $1 (log: $log)"
  if ! { cmake -S "$root" --preset "$1" &&
         cmake --build "$root/build/$1" --parallel "${BUILD_JOBS:-$(nproc)}" \
           ${2:+--target "${@:2}"}; } >"$root/$log" 2>&1; then
    tail -n 60 "$root/$log" >&2
    fail "building preset $1; the end of $log stands above"
  fi
}

# run_tests PRESET [OPTION...]: of what has been built. Many tests wait for disks and signals: half
# as many again as there are cores take a fifth less time.
run_tests() { (cd "$root" && ctest --preset "$1" --parallel $(($(nproc) * 3 / 2)) "${@:2}"); }
