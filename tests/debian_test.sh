#!/usr/bin/env bash
# Tests the Debian packages: makes them, and then
#
#   debian_test.sh lint BUILD_DIRECTORY      checks their parts, and runs lintian
#   debian_test.sh install BUILD_DIRECTORY   installs them into a new root, with what they depend on
#                                            and a compiler, and builds and runs all examples there
#   debian_test.sh mirror                    only says whether the mirror of apt answers
#
# Ends with 77 where a tool for that is missing, or an answer of the mirror for `install`.
set -euo pipefail
tests=$(cd -- "$(dirname -- "$0")" && pwd)
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
distribution=$(. /etc/os-release && echo "${ID:-}")

# Prints the distribution's own sources of this machine's apt for its release, with the updates, as
# lines of sources.list. Prints nothing if there are none, or before the first apt-get update.
sources() {
  apt-get indextargets --format '$(CREATED_BY) $(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' |
    awk -v distribution="$distribution" -v release="$release" '
      $1 == "Packages" && tolower($2) == distribution && index($4 "-", release "-") == 1 {
        print "deb", $3, $4, $5
      }' | sort -u
}

# With the settings of this machine's apt, as mmdebstrap.
mirror() {
  local to site status=0
  site=$(sources | awk -v release="$release" '$3 == release && !found++ { print $2 }')
  [[ -n $site ]] || return 1
  to=$(mktemp -d)
  timeout 60 /usr/lib/apt/apt-helper -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \
    download-file "${site%/}/dists/$release/InRelease" "$to/InRelease" \
    >/dev/null 2>&1 || status=$?
  rm -rf "$to"
  return "$status"
}
if [[ $1 == mirror ]]; then
  mirror
  exit
fi
build=$(cd -- "$2" && pwd)

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
  install)
    need mmdebstrap mmdebstrap
    if grep -qx 'OOC_CUDA:BOOL=ON' "$build/CMakeCache.txt"; then
      echo "skipped: examples of a build with CUDA need the CUDA toolkit, which Debian has not"
      exit 77
    fi
    ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }

(cd "$build" && cpack -B "$work" >"$work/cpack.log") || { cat "$work/cpack.log" >&2; exit 1; }
rm -rf "$work/_CPack_Packages"
for package in libooc0.3 libooc-dev ooc-run; do
  [[ -e $(echo "$work/$package"_*.deb) ]] || fail "$package was not made"
done

# depends PACKAGE TEXT: expects that PACKAGE depends on TEXT.
depends() {
  dpkg-deb --field "$work/$1"_*.deb Depends | grep -qF "$2" || fail "$1 does not depend on $2"
}

lint() {
  depends libooc0.3 liburing2
  depends libooc0.3 libstdc++6
  depends libooc-dev "libooc0.3 (= "
  depends libooc-dev liburing-dev
  depends ooc-run libboost-program-options
  [[ ! -e $(echo "$work"/ooc-hdf5_*.deb) ]] || depends ooc-hdf5 libhdf5
  local package file
  for package in libooc0.3 libooc-dev ooc-run; do
    dpkg-deb --contents "$work/$package"_*.deb >"$work/$package.txt"
    for file in copyright changelog.Debian.gz; do
      grep -q "/usr/share/doc/$package/$file\$" "$work/$package.txt" || fail "$package has no $file"
    done
  done
  grep -q '/libooc\.so\.0\.3 -> ' "$work/libooc0.3.txt" || fail "libooc0.3 has no library"
  grep -q '/ooc-run-reduce\.1\.gz$' "$work/ooc-run.txt" || fail "ooc-run has no manual"
  if grep -E '/bin/|/include/|\.(a|so|cmake|pc)$| -> libooc\.so\.0\.3$' "$work/libooc0.3.txt"; then
    fail "libooc0.3 has files of another package"
  fi
  # Not for these packages: they are not uploaded to Debian; CPack calls ldconfig, too;
  # the libraries are in /usr/lib unless the build was configured for the prefix /usr.
  local other=initial-upload-closes-no-bugs,maintscript-calls-ldconfig
  other+=,pkg-config-unavailable-for-cross-compilation
  lintian --allow-root --fail-on error,warning --suppress-tags "$other" "$work"/*.deb
}

install() {
  local root=$work/root cccl status=0 lines=()
  mapfile -t lines < <(sources)
  if ((${#lines[@]} == 0)); then
    echo "skipped: this machine's apt has no sources of its distribution (apt-get update)"
    exit 77
  fi
  mkdir "$root"
  cp -r "$work"/*.deb "$tests/../examples" "$tests/examples_test.sh" "$root"
  # Debian's packages of Thrust are too old. CCCL comes from where the build has it.
  cccl=$(sed -n 's/^CCCL_DIR:PATH=//p' "$build/CMakeCache.txt")/../../..
  mkdir -p "$root/cccl/lib/cmake" "$root/cccl/include"
  cp -rL "$cccl"/lib/cmake/{cccl,cub,libcudacxx,thrust} "$root/cccl/lib/cmake"
  cp -rL "$cccl/include/cccl" "$root/cccl/include"

  cat >"$root/install_packages" <<'SCRIPT'
set -eux
cd /tmp/root
apt-get install -qq --yes --install-recommends ./*.deb >apt.log 2>&1 || { cat apt.log; exit 1; }
touch installed
SCRIPT
  cat >"$root/build_and_run" <<'SCRIPT'
set -eux
cd /tmp/root
ooc-run --version
cmake -S examples -B build -G Ninja -DCCCL_DIR=/tmp/root/cccl/lib/cmake/cccl
cmake --build build
./examples_test.sh build
ooc-run reduce a.npy
g++ -std=c++20 -O2 examples/multiply.cpp $(pkg-config --cflags --libs ooc) -o multiply
./multiply a.npy b.npy d.npy
cmp c.npy d.npy
SCRIPT
  cd "$work"
  mmdebstrap --quiet --variant=apt --format=null \
    --include=g++,pkg-config,cmake,ninja-build,python3-numpy \
    --customize-hook='copy-in root /tmp' \
    --customize-hook='chroot "$1" sh /tmp/root/install_packages' \
    --customize-hook='copy-out /tmp/root/installed .' \
    --customize-hook='chroot "$1" sh /tmp/root/build_and_run' \
    "$release" - "${lines[@]}" || status=$?
  if ((status != 0)) && [[ ! -e installed ]] && ! mirror; then
    echo "skipped: no mirror of apt answers, so that there is no root to install into"
    exit 77
  fi
  return "$status"
}

"$1"
