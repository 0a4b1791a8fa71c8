# Sourced by .ci/run and .ci/full: the checks that both make, and the counts of their results.
# `usual_checks` makes the checks of .ci/run. `finish` prints the counts, and fails if a check did.
source "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/environment.sh"
cd "$root"

results=$root/build/ci
rm -rf "$results"
mkdir -p "$results"
passed=0 failed=0 skipped=0
failures=$results/failures.log
: >"$failures"

# The labels of tests (tests/CMakeLists.txt) for features that this machine lacks. Only tests with
# one of these labels may be skipped.
missing=$(/usr/bin/python3 - "$results/probe" <<'PYTHON'
import ctypes
import importlib.util
import mmap
import os
import shutil
import sys

libc = ctypes.CDLL(None)
path = sys.argv[1]
labels = []
if not os.path.exists("/dev/nvidia0"):
    labels.append("needs-gpu")
if libc.syscall(425, 1, ctypes.create_string_buffer(120)) < 0:  # io_uring_setup
    labels.append("needs-uring")
try:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_DIRECT))
except OSError:
    labels.append("needs-direct-io")

PAGES = 256
SIZE = PAGES * mmap.PAGESIZE


def cached_pages(descriptor, flags):
    """The number of pages in the page cache by mincore()."""
    with mmap.mmap(descriptor, SIZE, flags=mmap.MAP_SHARED | flags) as mapped:
        address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        states = ctypes.create_string_buffer(PAGES)
        libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(SIZE), states)
        return sum(state[0] & 1 for state in states)


with open(path, "w+b") as file:
    file.write(os.urandom(SIZE))
    file.flush()
    os.fsync(file.fileno())
    warm = cached_pages(file.fileno(), mmap.MAP_POPULATE)
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if warm != PAGES or cached_pages(file.fileno(), 0) != 0:
        labels.append("needs-page-cache")
if shutil.which("doxygen") is None:
    labels.append("needs-doxygen")
if shutil.which("clang++") is None:
    labels.append("needs-clang")
for tool in "lintian", "mmdebstrap":
    if shutil.which(tool) is None or shutil.which("dpkg-shlibdeps") is None:
        labels.append(f"needs-{tool}")
for package, label in ("distributed", "dask"), ("ray", "ray"), ("h5py", "h5py"):
    if importlib.util.find_spec(package) is None:
        labels.append(f"needs-{label}")
if os.geteuid() != 0 or not all(map(shutil.which, ("munged", "slurmctld", "slurmd", "sbatch"))):
    labels.append("needs-slurm")
space = f"ooc-probe-{os.getpid()}"
if os.geteuid() != 0 or os.system(f"ip netns add {space} 2>&- && ip netns del {space}") != 0:
    labels.append("needs-namespaces")
print(*labels)
PYTHON
)
if [[ $missing != *needs-mmdebstrap* ]] && ! tests/debian_test.sh mirror; then
  missing+=" needs-mmdebstrap"  # which has nothing to install
fi
if ! /usr/bin/python3 -m pip download --quiet --no-deps --dest "$results" nanobind-backend; then
  missing+=" needs-pypi"
fi
say "may be skipped here: tests with a label of ${missing:-(none)}"

# check NAME COMMAND...: runs a command that counts as one test.
check() {
  say "$1"
  if "${@:2}"; then
    passed=$((passed + 1))
  else
    say "failed: $1"
    failed=$((failed + 1))
    printf '== %s\n' "$1" >>"$failures"
  fi
}

# tests NAME PRESET COMMAND...: runs a command that calls ctest in the build of PRESET, with options
# that write the results to a file, and counts them.
tests() {
  local name=$1 build=$root/build/$2 file=$results/$1.xml list=$results/$1.json status=0 counts
  "${@:3}" --no-tests=error --output-junit "$file" || status=$?
  [[ ! -d $build ]] || ctest --test-dir "$build" --show-only=json-v1 >"$list" || true
  counts=$(/usr/bin/python3 - "$name" "$file" "$list" "$missing" "$failures" <<'PYTHON'
import json
import os
import sys
import xml.etree.ElementTree

name, results, listing, missing, failures = sys.argv[1:]
labels = {}
if os.path.exists(listing) and os.path.getsize(listing):
    with open(listing, encoding="utf-8") as file:
        for test in json.load(file)["tests"]:
            properties = {each["name"]: each["value"] for each in test.get("properties", [])}
            labels[test["name"]] = set(properties.get("LABELS", []))
cases = xml.etree.ElementTree.parse(results).iter("testcase") if os.path.exists(results) else []
counts = {"run": 0, "fail": 0, "notrun": 0}
for case in cases:
    status, test = case.get("status"), case.get("name")
    if status == "notrun" and not labels.get(test, set()) & set(missing.split()):
        print(f"== skipped, but this machine has what it needs: {test}", file=sys.stderr)
        status = "fail"
    if status not in counts:
        status = "fail"
    if status == "fail":
        with open(failures, "a", encoding="utf-8") as log:
            output = case.findtext("system-out") or ""
            print(f"== {name}: {test}\n{output[-4000:]}", file=log)
    counts[status] += 1
print(*counts.values())
PYTHON
)
  local run fail notrun
  read -r run fail notrun <<<"$counts"
  if ((status != 0 && fail == 0)); then
    say "failed before or after the tests: $name"
    fail=1
  fi
  say "$name: $run passed, $fail failed, $notrun skipped ($((SECONDS - started)) s so far)"
  passed=$((passed + run)) failed=$((failed + fail)) skipped=$((skipped + notrun))
}

build_and_test() {
  (build "$1") && run_tests "$@"
}

# Tests preset cpu. Compiles several sources at once, which takes half of the time; with `complete`
# set each by itself, as developers do: only so a missing #include or a hidden name is found.
build_and_test_cpu() {
  local unity=ON
  [[ -z ${complete:-} ]] || unity=OFF
  (build cpu "-DCMAKE_UNITY_BUILD=$unity") && run_tests cpu "$@"
}

check_format() {
  git ls-files -z --cached --others --exclude-standard '*.cpp' '*.hpp' '*.cu' |
    xargs -0 clang-format --dry-run -Werror
}

# Checks that every public header compiles without others before it.
check_headers() {
  cmake --preset cpu -DCMAKE_VERIFY_INTERFACE_HEADER_SETS=ON >"$results/headers.log" 2>&1 &&
    cmake --build --preset cpu --target all_verify_interface_header_sets \
      >>"$results/headers.log" 2>&1 || { tail -n 40 "$results/headers.log" >&2; return 1; }
}

# Compiles all code for devices and links the programs, and tests these: without a GPU, all other
# tests run the same code as those of preset cpu.
build_and_test_programs() {
  scripts/setup
  local programs=(ooc-run ooc_manual ooc-bench lib_test)  # lib_test has all tests for devices
  (build "$preset" "${programs[@]}") &&
    run_tests "$preset" --tests-regex '^cli_' --label-exclude '^(full|once)$' "$@"
}

# With `complete` set, all tests of all builds.
usual_checks() {
  local other
  if [[ $preset != cpu ]]; then
    if [[ $missing == *needs-gpu* && -z ${complete:-} ]]; then
      tests "$preset" "$preset" build_and_test_programs
    else
      tests "$preset" "$preset" scripts/test --label-exclude '^full$'
    fi
  fi
  # The CPU presets are built as on a machine without the CUDA toolkit.
  scripts/setup --cpu || { [[ $preset != cpu ]] && say "no CCCL from PyPI; the toolkit's is used"; }
  tests cpu cpu build_and_test_cpu --label-exclude '^full$'
  for other in cpu-asan cpu-tsan; do
    if [[ -n ${complete:-} ]]; then
      tests "$other" "$other" build_and_test "$other"
    else
      tests "$other" "$other" build_and_test "$other" --label-exclude '^full$'
    fi
  done
  check "headers stand alone" check_headers

  # The output of clang-format depends on its version. The code is formatted by that of Debian 12.
  if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    check "formatting" check_format
  else
    say "formatting is not checked: no clang-format 14 here"
  fi
}

# Prints the tests that took longest, of all builds.
slowest_tests() {
  /usr/bin/python3 - "$results"/*.xml <<'PYTHON'
import pathlib
import sys
import xml.etree.ElementTree

times = [(float(case.get("time")), pathlib.Path(file).stem, case.get("name").split("  #")[0])
         for file in sys.argv[1:]
         for case in xml.etree.ElementTree.parse(file).iter("testcase")]
print("slowest tests (s):")
for seconds, build, name in sorted(times, reverse=True)[:30]:
    print(f"{seconds:7.1f}  {build:9} {name}")
PYTHON
}

finish() {
  slowest_tests
  [[ $preset != cpu ]] || say "nothing was built for GPUs: $why"
  say "took $((SECONDS - started)) s"
  cat "$failures"  # again at the end, where they are easy to find
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0))
}
