#!/usr/bin/env bash
# Runs the checks that need a GPU: the tests of the CUDA device, compute-sanitizer, a comparison of
# the bits of results from both devices, and several programs on one GPU. To be run by hand.
#
#   bench/gpu_check.sh OUT [PART...]
#
# Writes OUT/PART.txt for each PART: tests, sanitizer, bits and together; all of them by default.
# lib_test, kernels_test, ooc-run and compute-sanitizer must be on the PATH.
set -uo pipefail
out=${1:?usage: bench/gpu_check.sh OUT [tests|sanitizer|bits|together]...}
parts=("${@:2}")
((${#parts[@]})) || parts=(tests sanitizer bits together)
mkdir -p "$out"
work=$(mktemp -d ./gpu-check.XXXXXX)
trap 'rm -rf "$work"' EXIT
status=0

# note FILE LINES COMMAND...: runs a command, and appends it, the last LINES lines of its output and
# its exit code to FILE.
note() {
  local file=$1 result=0 lines=$2
  shift 2
  "$@" >"$work/said" 2>&1 || result=$?
  { printf '$ %s\n' "$*"; tail -n "$lines" "$work/said"; printf 'exit %s\n\n' "$result"; } >>"$file"
  ((result == 0)) || status=1
}

check_tests() {
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$1"
  local program
  for program in lib_test kernels_test; do
    # Use the full path: tests that lose a GPU start the program again.
    note "$1" 200 "$(command -v "$program")" '--gtest_filter=*cuda*:*Gpu*' --gtest_print_time=0
  done
}

check_sanitizer() {
  local dtype tool
  for dtype in u1 u2 u4 u8 i1 i2 i4 i8 f2 '>f4' f8 bf16; do
    ooc-run gen -o "$work/${dtype#>}.raw" --count 200001 --dtype "$dtype" --quiet >/dev/null
  done
  ooc-run gen -o "$work/square.f32" --count $((447 * 447)) --pattern normal --quiet >/dev/null
  # One process for each element type, with bins in shared and in global memory.
  cat >"$work/all_types" <<'SCRIPT'
set -e
for dtype in u1 u2 u4 u8 i1 i2 i4 i8 f2 '>f4' f8 bf16; do
  file=$1/${dtype#>}.raw
  $2 ooc-run reduce "$file" --dtype "$dtype" --device cuda --quiet --exact
  $2 ooc-run histogram "$file" --dtype "$dtype" --device cuda --quiet --bins 300
  for to in '>f2' i4; do
    $2 ooc-run convert "$file" -o "$1/$3.raw" --dtype "$dtype" --to "$to" --device cuda \
      --quiet --force
  done
done
$2 ooc-run histogram "$1/f4.raw" --dtype '>f4' --device cuda --quiet --bins 100000
$2 ooc-run histogram "$1/f8.raw" --dtype f8 --device cuda --quiet --edges 0,0.1,0.5,1
# Run matmul only under memcheck: the other tools would check cuBLAS's kernels and take very long.
[[ $2 == *memcheck* ]] || exit 0
for compute in f32 tf32 bf16 f64; do
  $2 ooc-run matmul "$1/square.f32" "$1/square.f32" -o "$1/$3.raw" --shape-a 447x447 \
    --shape-b 447x447 --compute $compute --vram 1M --device cuda --quiet --force
done
SCRIPT
  # Run the tools concurrently, since most of the time is program start-up.
  local -A running
  for tool in memcheck racecheck initcheck synccheck; do
    bash "$work/all_types" "$work" "compute-sanitizer --error-exitcode 99 --tool $tool" "$tool" \
      >"$work/$tool.said" 2>&1 &
    running[$tool]=$!
  done
  for tool in memcheck racecheck initcheck synccheck; do
    wait "${running[$tool]}" || { status=1; tail -n 50 "$work/$tool.said" >>"$1"; }
    printf '%s, how many programs said what:\n' "$tool" >>"$1"
    grep SUMMARY "$work/$tool.said" | sort | uniq -c >>"$1"
  done
}

check_bits() {
  cat >"$work/bits.py" <<'PYTHON'
"""Checks that all combinations of device and options give the same answer."""
import itertools
import json
import os
import subprocess
import sys

work = sys.argv[1]
failed = False
for dtype, pattern in (("f4", "normal"), ("f8", "uniform")):
    path = f"{work}/bits.{dtype}"
    size = 8 if dtype[1] == "8" else int(dtype[1])
    subprocess.run(["ooc-run", "gen", "-o", path, "--count", "40000001", "--dtype", dtype,
                    "--pattern", pattern, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    answers = {}
    for device, elements, streams, engine, direct in itertools.product(
            ("cpu", "cuda"), (65536, 1 << 20, 3 << 20, (16 << 20) + 65536), (1, 2, 3, 8),
            ("uring", "threads"), ("yes", "no")):
        done = subprocess.run(["ooc-run", "reduce", path, "--dtype", dtype, "--json", "--quiet",
                               "--device", device, "--chunk", str(elements * size), "--streams",
                               str(streams), "--engine", engine, "--direct", direct],
                              check=True, stdout=subprocess.PIPE)
        answer = json.dumps(json.loads(done.stdout)["result"])
        answers.setdefault(answer, []).append((device, elements, streams, engine, direct))
    print(f"{dtype}: {sum(map(len, answers.values()))} runs, {len(answers)} answer(s)")
    for answer, ways in answers.items():
        print(" ", answer, "" if len(answers) == 1 else ways)
    failed |= len(answers) != 1
    os.remove(path)

# Convert every type to every type, with an odd number of elements.
types = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "bf16"]
different = []
for source in types:
    path = f"{work}/from-{source}.raw"
    subprocess.run(["ooc-run", "gen", "-o", path, "--count", "300001", "--dtype", source,
                    "--pattern", "position", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    for target in types:
        files = []
        for device in ("cpu", "cuda"):
            out = f"{work}/to-{device}.raw"
            done = subprocess.run(["ooc-run", "convert", path, "-o", out, "--dtype", source, "--to",
                                   target, "--device", device, "--json", "--quiet", "--force"],
                                  check=True, stdout=subprocess.PIPE)
            with open(out, "rb") as file:
                files.append((file.read(), json.loads(done.stdout)["result"]["inexact"]))
        if files[0] != files[1]:
            different.append((source, target))
print(f"convert: {len(types) ** 2} pairs of types, different between CPU and GPU: {different}")
failed |= bool(different)
sys.exit(failed)
PYTHON
  note "$1" 40 python3 "$work/bits.py" "$work"
}

check_together() {
  cat >"$work/together.py" <<'PYTHON'
"""Checks that programs that share one GPU exit with 0 and give the same answer."""
import json
import subprocess
import sys

work = sys.argv[1]
path = f"{work}/together.f4"
subprocess.run(["ooc-run", "gen", "-o", path, "--size", "1G", "--dtype", "f4", "--pattern",
                "normal", "--quiet"], check=True, stdout=subprocess.DEVNULL)
command = ["ooc-run", "reduce", path, "--dtype", "f4", "--device", "cuda", "--json", "--quiet"]
for count in (1, 2, 8):
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(count)]
    documents = [run.communicate()[0] for run in runs]
    codes = {run.returncode for run in runs}
    answers = {json.dumps(json.loads(document)["result"]) for document in documents}
    if count == 1:
        alone = answers
    print(f"{count} at once: exit codes {codes}, {len(answers)} answer(s)")
    if codes != {0} or answers != alone:
        sys.exit(1)
PYTHON
  note "$1" 40 python3 "$work/together.py" "$work"
}

for part in "${parts[@]}"; do
  declare -F "check_$part" >/dev/null || { echo "no such part: $part" >&2; exit 2; }
done
for part in "${parts[@]}"; do
  file=$out/$part.txt
  : >"$file"
  "check_$part" "$file"
  if [[ $part == tests ]]; then tail -n 4 "$file"; else cat "$file"; fi
done
exit $status
