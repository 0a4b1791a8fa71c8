#!/usr/bin/env bash
# Tests the Python package: builds its wheel, installs it in a new environment that has nothing
# else, and runs python/tests there. Needs access to PyPI.
#
#   python_test.sh BUILD_DIRECTORY
set -euo pipefail
build_tested=$(realpath -- "$1")
build=$build_tested-python
python=$(cd -- "$(dirname -- "$0")/../python" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
export CCACHE_BASEDIR=${python%/python} CCACHE_NOHASHDIR=1  # as scripts/environment.sh

/usr/bin/python3 -m venv "$work/tools"
pip() { "$work/$1/bin/python" -m pip --quiet --disable-pip-version-check "${@:2}"; }
if ! pip tools download --no-deps --dest "$work" nanobind-backend; then
  echo "PyPI does not answer" >&2
  exit 77
fi

# Its objects are those of the build directory beside it, with the same options, so ccache has them.
unity=$(sed -n 's/^CMAKE_UNITY_BUILD:.*=//p' "$build_tested/CMakeCache.txt")
CXX=${CXX-c++} CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache} \
  pip tools wheel --no-deps --wheel-dir "$work/dist" --config-settings=build-dir="$build" \
  --config-settings=cmake.define.OOC_CUDA=OFF --config-settings=cmake.define.OOC_WERROR=ON \
  --config-settings=cmake.define.CMAKE_UNITY_BUILD="$unity" "$python"
wheel=("$work"/dist/*.whl)
echo "${wheel[0]##*/}"
[[ ${wheel[0]##*/} == ooc-*-cp310-abi3-linux_x86_64.whl ]]
(($(stat --format=%s "${wheel[0]}") < 40000000))
/usr/bin/python3 -m zipfile --list "${wheel[0]}" | awk 'NR > 1 { print $1 }' |
  sed -E 's/ooc-[0-9.]+\./ooc-VERSION./' | LC_ALL=C sort >"$work/contents"
diff "$python/tests/contents.txt" "$work/contents"

# Only libraries that every Linux has.
unzip_to=$work/unpacked
/usr/bin/python3 -m zipfile --extract "${wheel[0]}" "$unzip_to"
for file in "$unzip_to"/ooc/_ooc.abi3.so "$unzip_to"/*.data/scripts/ooc-run; do
  if readelf --dynamic "$file" | grep NEEDED |
    grep -vE '\[(libc|libm|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so\.'; then
    echo "$file needs more than the libraries above" >&2
    exit 1
  fi
done

/usr/bin/python3 -m venv "$work/user"
pip user install "${wheel[0]}"
cd "$work"
env -i "$work/user/bin/python" -c 'import ooc; print("ooc", ooc.__version__, ooc.devices())'
env -i "$work/user/bin/ooc-run" --version
pip user install pytest mypy h5py pyarrow safetensors
"$work/user/bin/python" -m pytest --quiet -p no:cacheprovider "$python/tests"
"$work/user/bin/python" -m mypy --strict --cache-dir="$work/mypy" "$unzip_to/ooc"

# The stubs are those of the module.
pip user install "nanobind>=3.1"
"$work/user/bin/python" -m nanobind.stubgen --quiet --module ooc._ooc --output-file "$work/_ooc.pyi"
diff "$python/src/ooc/_ooc.pyi" "$work/_ooc.pyi"

# A wheel with code for GPUs takes minutes to compile, so here it is configured only.
if command -v nvcc >/dev/null; then
  cmake -S "$python/.." -B "$work/cuda" -DOOC_BUILD_PYTHON=ON -DOOC_BUILD_TESTS=OFF \
    -DOOC_BUILD_BENCH=OFF -DCMAKE_CUDA_ARCHITECTURES=90-real \
    -DPython_EXECUTABLE="$work/user/bin/python" >"$work/cuda.log" 2>&1 ||
    { cat "$work/cuda.log" >&2; exit 1; }
fi
