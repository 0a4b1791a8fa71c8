#!/usr/bin/env bash
# Runs all programs of examples/, which are built in BUILD_DIRECTORY, and compares their results
# with those of NumPy. package_test.sh and debian_test.sh call it. Its files are in the current
# directory.
#
#   examples_test.sh BUILD_DIRECTORY
set -euo pipefail
build=$(cd -- "$1" && pwd)
export CUDA_VISIBLE_DEVICES=""  # without a visible GPU all programs use the CPU device

# Makes a file of 1,000,001 floats, and two matrices of small integers, which have an exact product.
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


def clusters_of(rows):
    """Returns the centres that Lloyd's algorithm finds in 20 steps, from some on a diagonal."""
    centres = np.repeat((np.arange(8)[:, None] + 0.5) / 8, rows.shape[1], axis=1)
    for _ in range(20):
        apart = [((rows - centre) ** 2).sum(axis=1) for centre in centres]
        nearest = np.argmin(apart, axis=0)
        for cluster in np.unique(nearest):
            centres[cluster] = rows[nearest == cluster].mean(axis=0)
    return centres


sys.exit(None if eval(sys.argv[1]) else "not so")
PYTHON
}

ran=()  # the names of the examples, as they are checked

# prints NAME RULE...: runs all builds of an example, whose output is in output.txt for the rules.
prints() {
  local program rule
  ran+=("$1")
  for program in "$build/$1"_*; do
    "$program" | tee output.txt
    for rule in "${@:2}"; do check "$program" "$rule"; done
  done
}

# writes NAME FILE RULE: runs all builds of an example that writes a file.
writes() {
  local program
  ran+=("$1")
  for program in "$build/$1"_*; do
    "$program"
    check "$program" "$3"
    rm "$2"
  done
}

prints count_above "np.loadtxt('output.txt') == np.sum(values > 0.5)"
prints shards "np.loadtxt('output.txt') == np.sum(values > 0.5)"
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
prints k_means "np.allclose(np.loadtxt('output.txt').reshape(8, 13), clusters_of(points), 1e-4)"
prints covariance "np.allclose(np.loadtxt('output.txt'), np.cov(points.T), rtol=1e-9, atol=1e-9)"

ran+=(standard_input)
for program in "$build"/standard_input_*; do
  cat prices.f32 | "$program" | tee output.txt
  check "$program" "np.isclose(float(open('output.txt').read().split()[0]), until[-1]) and \
    ' 1000001 values' in open('output.txt').read()"
  if head -c 7 prices.f32 | "$program"; then exit 1; fi
done

ran+=(multiply)
"$build/multiply" a.npy b.npy c.npy
check multiply "np.array_equal(np.load('c.npy'), a @ b)"

# fails STATUS TEXT COMMAND...: expects that COMMAND ends with STATUS and an error that has TEXT.
fails() {
  local status=0
  "${@:3}" 2> errors.txt || status=$?
  cat errors.txt
  [[ $status == "$1" ]] && grep -qF "$2" errors.txt && return
  echo "expected status $1 and \"$2\", not status $status" >&2
  exit 1
}

ran+=(ranks)
if [[ -x $build/ranks ]]; then
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 \
    "$build/ranks" prices.f32 | tee output.txt
  check ranks "np.isclose(float(open('output.txt').read().split(',')[0]), mean, rtol=1e-5) and \
    'by 3 ranks' in open('output.txt').read()"
fi

ran+=(plain_loop)
"$build/plain_loop" | tee output.txt
check plain_loop "np.loadtxt('output.txt') == np.sum(values > 0.5)"

ran+=(in_memory)
"$build/in_memory" | tee output.txt
check in_memory "np.isclose(float(open('output.txt').read()), 1e18 / 3, rtol=1e-5)"

ran+=(embedded)
"$build/embedded" prices.f32 </dev/null | tee output.txt
check embedded "np.isclose(float(open('output.txt').read().split()[1]), mean, rtol=1e-5) and \
  ' of 1000001' in open('output.txt').read()"
fails 1 "absent.f32: open failed" "$build/embedded" absent.f32 </dev/null
truncate -s 1T endless.f32  # a hole; reading it takes minutes
fails 130 " %" "$build/embedded" endless.f32 < <(sleep 1; echo)
test -e endless.f32.part  # from which the next call would go on
rm endless.f32 endless.f32.part

for program in $(find "$build" -maxdepth 1 -type f -executable -printf '%f\n'); do
  name=${program%_cpu}
  name=${name%_cuda}
  if [[ " ${ran[*]} " != *" $name "* ]]; then
    echo "$program is not checked here" >&2
    exit 1
  fi
done
