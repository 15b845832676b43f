#!/usr/bin/env bash
# Installs what is missing for the named jobs, on Debian and its relatives; elsewhere says
# what is missing. Quiet when there is nothing to do.
#
#   tools/setup.sh [run|build|test|site|packages|matrix|fresh|bench|arm64|lint]...     (build, if none is named)
set -euo pipefail

# What must be there, and the Debian package that brings it. A word with a slash is a file.
declare -A needs=(
  [run]="g++=g++ cmake=cmake ninja=ninja-build"
  [build]="g++=g++ cmake=cmake ninja=ninja-build python3=python3
    /usr/include/gtest/gtest.h=libgtest-dev /usr/include/gmock/gmock.h=libgmock-dev
    /usr/include/benchmark/benchmark.h=libbenchmark-dev
    /usr/include/CLI/CLI.hpp=libcli11-dev /usr/include/elfutils/libdwfl.h=libdw-dev
    /usr/include/gelf.h=libelf-dev /usr/include/protozero/pbf_writer.hpp=libprotozero-dev
    /usr/include/zlib.h=zlib1g-dev"
  [test]="clang++=clang ld.lld=lld ccache=ccache pkg-config=pkg-config gdb=gdb eu-stack=elfutils
    lldb=lldb valgrind=valgrind /usr/include/valgrind/callgrind.h=valgrind
    protoc=protobuf-compiler go=golang-go promtool=prometheus
    pg_ctlcluster=postgresql psql=postgresql-client redis-server=redis-server redis-cli=redis-tools
    mariadb-install-db=mariadb-server curl=curl
    /usr/include/postgresql/libpq-fe.h=libpq-dev /usr/include/hiredis/hiredis.h=libhiredis-dev
    /usr/include/mariadb/mysql.h=libmariadb-dev /usr/include/httplib.h=libcpp-httplib-dev
    curl-config=libcurl4-openssl-dev"
  [site]="python3=python3 mkdocs=mkdocs /usr/share/doc/mkdocs-material=mkdocs-material aspell=aspell
    /usr/lib/aspell/en_GB.multi=aspell-en"
  [packages]="file=file dpkg-shlibdeps=dpkg-dev"
  [matrix]="clang++=clang ld.lld=lld clang++-19=clang-19"
  [fresh]="debootstrap=debootstrap git=git"
  [bench]="go=golang-go wrk=wrk /usr/include/boost/fiber/all.hpp=libboost-fiber1.81-dev
    /usr/include/boost/context/fiber.hpp=libboost-context1.81-dev
    /usr/include/oneapi/tbb.h=libtbb-dev /usr/include/asio.hpp=libasio-dev
    cargo=cargo rustc=rustc /usr/share/doc/librust-tokio-dev=librust-tokio-dev
    /usr/share/doc/librust-async-channel-dev=librust-async-channel-dev"
  [arm64]="aarch64-linux-gnu-g++=g++-aarch64-linux-gnu qemu-aarch64=qemu-user
    /usr/src/googletest/CMakeLists.txt=googletest"
  [lint]="clang-format=clang-format clang-tidy=clang-tidy"
)

missing_packages() {
  local pair what
  for pair in "$@"; do
    what=${pair%%=*}
    case $what in
      /*) [ -e "$what" ] || echo "${pair#*=}" ;;
      *) command -v "$what" >/dev/null || echo "${pair#*=}" ;;
    esac
  done
}

# clang's sanitizers come in a package of their own, named after its version.
missing_clang_runtime() {
  command -v clang++ >/dev/null || return 0
  echo 'int main() {}' | clang++ -x c++ - -fsanitize=thread -o /dev/null 2>/dev/null && return 0
  echo "libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"
}

# Chromium, for the tests of the trace viewer's page: half a minute and 350 MB, and only where the
# viewer itself can be built. Without it those tests are skipped.
offer_chromium() {
  command -v node >/dev/null && command -v npm >/dev/null || return 0
  command -v chromium >/dev/null && return 0
  (install chromium) || echo "setup: no Chromium: the tests of the viewer's page are skipped" >&2
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install() {
  if ! command -v apt-get >/dev/null; then
    echo "setup: these Debian packages, or their like, are missing and there is no apt-get:" >&2
    echo "  $*" >&2
    exit 1
  fi
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    echo "setup: neither root nor sudo; please have somebody install:" >&2
    echo "  apt-get install $*" >&2
    exit 1
  fi
  echo "setup: installing $*"
  local log
  log=$(mktemp)
  # The package lists may be absent or stale: they are fetched only if it fails without.
  if ! apt_install "$@" >"$log" 2>&1 &&
     ! { as_root apt-get -qq update && apt_install "$@"; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "setup: apt-get could not install: $*" >&2
    exit 1
  fi
  rm -f "$log"
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y install --no-install-recommends "$@"
}

for job in "${@:-build}"; do
  pairs=${needs[$job]:-}
  if [ -z "$pairs" ]; then
    echo "setup: unknown job: $job" >&2
    exit 2
  fi
  # shellcheck disable=SC2086  # a list of words on purpose
  packages=$(missing_packages $pairs | sort -u)
  # shellcheck disable=SC2086
  if [ -n "$packages" ]; then install $packages; fi
  if [ "$job" = test ]; then
    runtime=$(missing_clang_runtime)
    if [ -n "$runtime" ]; then install "$runtime"; fi
    offer_chromium
  fi
done
