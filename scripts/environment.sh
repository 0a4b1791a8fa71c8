# Sourced by the other scripts of this directory. Sets `root`, the directory of the project;
# `preset` (release, or cpu without a CUDA toolkit of 13.0 or later); `why`, the reason for the
# preset; and `gpus`, the architectures that release is built for, which CUDAARCHS may say.
# OOC_NO_CUDA=1 hides a toolkit.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
started=$SECONDS

say() { printf '== %s\n' "$*" >&2; }
fail() { printf '== failed: %s\n' "$*" >&2; exit 1; }

# Prints the release of the CUDA compiler, e.g. 13.0; nothing if there is none.
nvcc_release() {
  nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p' || true
}

# Prints the architectures of this machine's GPUs as CMake names them, e.g. "80-real;90-real".
# Prints all-major if there is no GPU, or one for which this toolkit generates no code: one that is
# too old, or so new that it needs PTX.
architectures_here() {
  local known capability number names=()
  known=$(nvcc --list-gpu-code 2>/dev/null) || known=
  while read -r capability; do
    number=${capability//./}
    if [[ ! $capability =~ ^[0-9]+\.[0-9]$ ]] || ! grep -qx "sm_$number" <<<"$known"; then
      names=()
      break
    fi
    names+=("$number-real")
  done < <(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -u)
  local IFS=';'
  echo "${names[*]:-all-major}"
}

choose_preset() {
  preset=cpu
  gpus=
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
    why="the CUDA toolkit $release ($(command -v nvcc)) is ignored, since it is older than 13.0"
  else
    preset=release
    gpus=${CUDAARCHS:-$(architectures_here)}
    why="there is a CUDA toolkit $release; code for GPUs: $gpus"
  fi
}
choose_preset

# build PRESET [-DNAME=VALUE...] [TARGET...]: configures and builds with BUILD_JOBS jobs, by default
# one per core.
build() {
  local log=build/$1.log began=$SECONDS word options=() targets=()
  # With paths relative to this directory, ccache serves another checkout of the same files too.
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
  [[ $1 != release ]] || options=("-DCMAKE_CUDA_ARCHITECTURES=$gpus")
  for word in "${@:2}"; do
    if [[ $word == -D* ]]; then options+=("$word"); else targets+=("$word"); fi
  done
  mkdir -p "$root/build"
  say "building preset $1 (log: $log)"
  if ! { cmake -S "$root" --preset "$1" "${options[@]}" &&
         cmake --build "$root/build/$1" --parallel "${BUILD_JOBS:-$(nproc)}" \
           ${targets[0]:+--target "${targets[@]}"}; } >"$root/$log" 2>&1; then
    tail -n 60 "$root/$log" >&2
    fail "building preset $1; the end of $log is above"
  fi
  say "built preset $1 in $((SECONDS - began)) s"
}

# run_tests PRESET [OPTION...]: runs the tests of a build. Many tests wait for disks and signals, so
# 1.5 tests per core at once take a fifth less time than one per core.
run_tests() { (cd "$root" && ctest --preset "$1" --parallel $(($(nproc) * 3 / 2)) "${@:2}"); }
