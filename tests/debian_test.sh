#!/usr/bin/env bash
# Tests the Debian packages: makes them, and then
#
#   debian_test.sh lint BUILD_DIRECTORY      checks their parts, and runs lintian
#   debian_test.sh install BUILD_DIRECTORY   installs them into a new root, with what they depend on
#                                            and a compiler, and builds and runs an example there
#
# Ends with 77 where a tool for that is missing.
set -euo pipefail
build=$(cd -- "$2" && pwd)
examples=$(cd -- "$(dirname -- "$0")/../examples" && pwd)

# need COMMAND PACKAGE
need() {
  command -v "$1" >/dev/null && return
  echo "skipped: no $1 here (apt-get install $2)"
  exit 77
}
need dpkg-deb dpkg
need dpkg-shlibdeps dpkg-dev
case $1 in
  lint) need lintian lintian ;;
  install) need mmdebstrap mmdebstrap ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }

(cd "$build" && cpack -B "$work" >"$work/cpack.log") || { cat "$work/cpack.log" >&2; exit 1; }
rm -rf "$work/_CPack_Packages"
for package in libooc0.2 libooc-dev ooc-run; do
  [[ -e $(echo "$work/$package"_*.deb) ]] || fail "$package was not made"
done

# depends PACKAGE TEXT: expects that PACKAGE depends on TEXT.
depends() {
  dpkg-deb --field "$work/$1"_*.deb Depends | grep -qF "$2" || fail "$1 does not depend on $2"
}

lint() {
  depends libooc0.2 liburing2
  depends libooc0.2 libstdc++6
  depends libooc-dev "libooc0.2 (= "
  depends libooc-dev liburing-dev
  depends ooc-run libboost-program-options
  local package file
  for package in libooc0.2 libooc-dev ooc-run; do
    dpkg-deb --contents "$work/$package"_*.deb >"$work/$package.txt"
    for file in copyright changelog.Debian.gz; do
      grep -q "/usr/share/doc/$package/$file\$" "$work/$package.txt" || fail "$package has no $file"
    done
  done
  grep -q '/libooc\.so\.0\.2 -> ' "$work/libooc0.2.txt" || fail "libooc0.2 has no library"
  grep -q '/ooc-run-reduce\.1\.gz$' "$work/ooc-run.txt" || fail "ooc-run has no manual"
  if grep -E '/bin/|/include/|\.(a|so|cmake|pc)$| -> libooc\.so\.0\.2$' "$work/libooc0.2.txt"; then
    fail "libooc0.2 has files of another package"
  fi
  # Not for these packages: they are not uploaded to Debian; CPack calls ldconfig, too;
  # the libraries are in /usr/lib unless the build was configured for the prefix /usr.
  local other=initial-upload-closes-no-bugs,maintscript-calls-ldconfig
  other+=,pkg-config-unavailable-for-cross-compilation
  lintian --allow-root --fail-on error,warning --suppress-tags "$other" "$work"/*.deb
}

install() {
  cp "$examples/multiply.cpp" "$work"
  cat >"$work/build_and_run" <<'SCRIPT'
set -eux
cd /tmp
apt-get install -qq --yes --install-recommends ./*.deb >apt.log 2>&1 || { cat apt.log; exit 1; }
ooc-run --version
ooc-run reduce a.npy
g++ -std=c++20 -O2 multiply.cpp $(pkg-config --cflags --libs ooc) -o multiply
./multiply a.npy b.npy c.npy
SCRIPT
  cd "$work"
  /usr/bin/python3 - <<'PYTHON'
import numpy as np

random = np.random.default_rng(5)
for name, shape in ("a.npy", (300, 500)), ("b.npy", (500, 70)):
    np.save(name, random.integers(-8, 9, shape).astype(np.float32))
PYTHON
  mmdebstrap --quiet --variant=apt --format=null --include=g++,pkg-config \
    --customize-hook="copy-in $(echo *.deb) multiply.cpp a.npy b.npy build_and_run /tmp" \
    --customize-hook='chroot "$1" sh /tmp/build_and_run' \
    --customize-hook='copy-out /tmp/c.npy .' \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")"
  /usr/bin/python3 - <<'PYTHON'
import sys

import numpy as np

a, b = (np.load(name).astype(int) for name in ("a.npy", "b.npy"))
sys.exit(None if np.array_equal(np.load("c.npy"), a @ b) else "the product is wrong")
PYTHON
}

"$1"
