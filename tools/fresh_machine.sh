#!/bin/bash
# What a newcomer meets on a machine that has nothing: in a debootstrap chroot of each Debian named,
# the two commands, each way in, the packages, and `vole run`. Every step's time is printed.
#
#   tools/fresh_machine.sh [--without-tests] [bookworm [trixie ...]]     (bookworm, if none is named)
#
# Needs root, debootstrap and Debian's mirror. Status 77: one of them is missing; 1: a step failed.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
mirror=${VOLE_DEBIAN_MIRROR:-$(awk '/^deb / { for (i = 2; i <= NF; ++i) if ($i ~ /:\/\//) { print $i; exit } }' \
  /etc/apt/sources.list 2>/dev/null)}
mirror=${mirror:-$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/*.sources 2>/dev/null)}
work=$(mktemp -d /var/tmp/vole-fresh.XXXXXX)
failed=0
tests=yes
if [ "${1:-}" = --without-tests ]; then
  tests=no
  shift
fi

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null || [ -z "$mirror" ]; then
  echo "fresh_machine: this needs root, debootstrap and a mirror (VOLE_DEBIAN_MIRROR)" >&2
  rmdir "$work"
  exit 77
fi

leave() {
  for folder in proc dev sys; do
    mountpoint -q "$work/$1/$folder" && umount -l "$work/$1/$folder"
  done
}
trap 'for each in "$work"/*; do [ -d "$each" ] && leave "${each##*/}"; done; rm -rf --one-file-system "$work"' EXIT

inside() { chroot "$work/$release" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive VOLE_JOBS="${VOLE_JOBS:-$(nproc)}" bash -c "$1"; }

# step <what> <command>: in the chroot, in the clone.
step() {
  local begin took log=$work/$release.log
  begin=$(date +%s.%N)
  inside "cd /root/vole && { $2
}" >"$log" 2>&1
  local status=$?
  took=$(echo "$(date +%s.%N) $begin" | awk '{ printf "%.1f", $1 - $2 }')
  if [ $status = 0 ]; then
    printf '%-9s %-58s %7s s\n' "$release" "$1" "$took"
  else
    printf '%-9s %-58s FAILED (%s) after %s s\n' "$release" "$1" $status "$took"
    tail -n 30 "$log" | sed 's/^/    /'
    failed=1
  fi
  return $status
}

program='#include <vole/vole.h>
#include <cstdio>
int main() { return vole::run([] { std::puts("hello"); }); }'

try_release() {
  local begin
  begin=$(date +%s)
  if ! debootstrap --variant=minbase --include=ca-certificates "$release" "$work/$release" "$mirror" \
      >"$work/$release.debootstrap" 2>&1; then
    tail -n 5 "$work/$release.debootstrap"
    echo "$release: debootstrap has failed"
    failed=1
    return
  fi
  printf '%-9s %-58s %7s s\n' "$release" "debootstrap" $(($(date +%s) - begin))
  for folder in proc dev sys; do mount --rbind "/$folder" "$work/$release/$folder"; done
  mount --make-rslave "$work/$release/dev"; mount --make-rslave "$work/$release/sys"; mount --make-rslave "$work/$release/proc"
  cp /etc/resolv.conf "$work/$release/etc/" 2>/dev/null
  for file in /etc/apt/apt.conf.d/*proxy* /etc/apt/apt.conf; do
    [ -f "$file" ] && cp "$file" "$work/$release/etc/apt/apt.conf.d/"
  done
  git clone -q "$root" "$work/$release/root/vole"

  step "apt-get install make git" "apt-get -qq update && apt-get -qq -y install --no-install-recommends make git" || return
  step "what make run needs (make setup-run)" "make setup-run" || return
  step "make run" "make run"
  step "what a build needs (make setup)" "make setup"
  [ $tests = no ] || { step "what make test needs (make setup-test)" "make setup-test" &&
    step "make test: configured, and its unit tests" \
      "cmake --preset dev >/dev/null && cmake --build --preset dev --target unit_tests --parallel \$VOLE_JOBS >/dev/null &&
       build/dev/tests/unit_tests --gtest_brief=1"; }
  step "README: build and install" "$(sed -n '/^## Add it to your project/,/^## /p' "$root/README.md" |
    sed -n '/^```sh/,/^```/p' | sed '1d;/^```/,$d')"
  inside "mkdir -p /root/app && cat > /root/app/app.cc" <<<"$program"
  step "way in: find_package" "cd /root/app && printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' \
    'project(app LANGUAGES CXX)' 'find_package(vole 0.1 REQUIRED)' 'add_executable(app app.cc)' \
    'target_link_libraries(app PRIVATE vole::vole)' > CMakeLists.txt && cmake -S . -B b && cmake --build b && b/app"
  step "way in: pkg-config" "apt-get -qq -y install --no-install-recommends pkg-config >/dev/null && cd /root/app && g++ -std=c++20 app.cc \$(pkg-config --cflags --libs vole) -o app && ./app"
  step "way in: FetchContent" "mkdir -p /root/fetch && cd /root/fetch && cp ../app/app.cc . && printf '%s\n' \
    'cmake_minimum_required(VERSION 3.22)' 'project(app LANGUAGES CXX)' 'include(FetchContent)' \
    'FetchContent_Declare(vole GIT_REPOSITORY /root/vole GIT_TAG HEAD)' 'FetchContent_MakeAvailable(vole)' \
    'add_executable(app app.cc)' 'target_link_libraries(app PRIVATE vole::vole)' > CMakeLists.txt &&
    git config --global --add safe.directory '*' && cmake -G Ninja -S . -B b -DCMAKE_BUILD_TYPE=Release &&
    cmake --build b && b/app"
  step "uninstall" "cmake --build build/install --target uninstall && test ! -e /usr/local/include/vole"
  step "make packages" "make packages" &&
    step "apt install ./*.deb" "apt-get -qq -y install ./build/packages/packages/*.deb && dpkg -s vole-tools >/dev/null" &&
    step "vole run hello.cc" "cd /root/app && cp app.cc hello.cc && vole run hello.cc" &&
    step "the packages' library, by pkg-config" "cd /root/app && g++ -std=c++20 app.cc \$(pkg-config --cflags --libs vole) -o by_package && ./by_package" &&
    step "dpkg -r" "dpkg -r vole-tools libvole-dev libvole && test ! -e /usr/include/vole && test ! -e /usr/bin/vole"
}

for release in "${@:-bookworm}"; do
  try_release
  leave "$release"
done
exit $failed
