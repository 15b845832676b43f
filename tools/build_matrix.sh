#!/bin/sh
# The library in every way a user may build it: build types x compilers x static and shared. Each
# must compile without a warning, a small program linked with it must run, one with hooks, too, and a
# shared library must show the API's names only. Then with the options that distributions and users
# build with: a static library, and the examples that need nothing, compiled and linked with the same
# options, must run.
#
#   tools/build_matrix.sh [--compilers "g++ clang++"] [--types "Debug Release ..."]
#                         [--kinds "static shared"] [--options "O0 lto ..."] [--dir build/matrix] [--jobs N]
#
# An empty list leaves that part out.
#
# One line for each; status 1 if one of them failed or warned, 2 for a wrong option.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
compilers="g++ clang++"
# And the newest that there is beside them.
for family in g++ clang++; do
  newest=$(ls /usr/bin/"$family"-[0-9]* 2>/dev/null | sort -V | tail -n 1)
  if [ -n "$newest" ] && [ "$("$newest" -dumpversion)" != "$($family -dumpversion)" ]; then
    compilers="$compilers ${newest##*/}"
  fi
done
types="Debug Release RelWithDebInfo MinSizeRel"
kinds="static shared"
options="O0 O1 O2 O3 lto cf-protection stack-clash fortify pie no-pie"
dir="$root/build/matrix"
jobs=${VOLE_JOBS:-$(nproc)}

while [ $# -gt 0 ]; do
  case $1 in
    --compilers | --types | --kinds | --options | --dir | --jobs)
      [ $# -ge 2 ] || { echo "build_matrix: $1 needs a value" >&2; exit 2; }
      name=${1#--}
      eval "$name=\$2"
      shift 2 ;;
    *) echo "build_matrix: unknown option '$1'" >&2; exit 2 ;;
  esac
done
for kind in $kinds; do
  case $kind in
    static | shared) ;;
    *) echo "build_matrix: unknown kind '$kind': static or shared" >&2; exit 2 ;;
  esac
done

mkdir -p "$dir" || exit 1
cat > "$dir/smoke.cc" <<'END'
#include <vole/vole.h>

int main() {
  return vole::run([] {
    vole::chan<int> squares(4);
    for (int i = 0; i < 4; ++i) vole::go([squares, i] { squares.send(i * i); });
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += *squares.recv();
    return sum == 14 ? 0 : 1;
  });
}
END

cat > "$dir/hooked.cc" <<'END'
#include <unistd.h>
#include <vole/vole.h>

int main() {
  return vole::run([] {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    auto writer = vole::spawn([&] {
      usleep(10'000);
      return write(ends[1], "x", 1);
    });
    char c;
    const bool right = read(ends[0], &c, 1) == 1 && writer.join() == 1;
    return right && vole::stats().hooked_waits != 0 ? 0 : 1;
  });
}
END

# try <compiler> <type> <kind>: the verdict is in $verdict, the log beside the build.
try() {
  build="$dir/$1-$2-$3"
  log="$build.log"
  shared=OFF
  [ "$3" = shared ] && shared=ON
  verdict="does not configure"
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE="$2" -DCMAKE_CXX_COMPILER="$1" \
    -DBUILD_SHARED_LIBS=$shared -DVOLE_BUILD_TESTS=OFF -DVOLE_BUILD_BENCH=OFF \
    -DVOLE_BUILD_EXAMPLES=OFF -DVOLE_WERROR=OFF > "$log" 2>&1 || return 1
  verdict="does not build"
  cmake --build "$build" --parallel "$jobs" --target vole vole_hooks_archive >> "$log" 2>&1 || return 1
  verdict="builds with warnings"
  ! grep -q 'warning:' "$log" || return 1
  if [ "$3" = shared ]; then
    verdict="it shows names that are not the API's"
    python3 -B "$root/tools/check_symbols.py" --root "$root" --library "$build/libvole.so" >> "$log" 2>&1 || return 1
  fi
  verdict="the smoke program does not build"
  "$1" -std=c++20 -Wall -Wextra -Werror -I"$root/include" "$dir/smoke.cc" -o "$build/smoke" \
    -L"$build" -Wl,-rpath,"$build" -lvole -pthread -ldl >> "$log" 2>&1 || return 1
  verdict="the smoke program fails"
  "$build/smoke" >> "$log" 2>&1 || return 1
  verdict="the hooked program does not build"
  "$1" -std=c++20 -Wall -Wextra -Werror -I"$root/include" "$dir/hooked.cc" -o "$build/hooked" \
    -Wl,--whole-archive,"$build/libvole-hooks.a",--no-whole-archive \
    -L"$build" -Wl,-rpath,"$build" -lvole -pthread -ldl >> "$log" 2>&1 || return 1
  verdict="the hooked program fails"
  "$build/hooked" >> "$log" 2>&1 || return 1
  verdict=ok
}

# flags_of <option>: in $compile, for the library and the programs, and in $link.
flags_of() {
  link=
  case $1 in
    O0 | O1 | O2 | O3) compile=-$1 ;;
    lto) compile="-O2 -flto"; link="-flto" ;;  # the library is inlined into the programs
    cf-protection) compile="-O2 -fcf-protection=full"; link="-Wl,-z,ibt,-z,shstk" ;;
    stack-clash) compile="-O2 -fstack-clash-protection" ;;
    fortify) compile="-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3" ;;
    pie) compile="-O2 -fPIE"; link=-pie ;;
    no-pie) compile="-O2 -fno-pie"; link=-no-pie ;;
    *) echo "build_matrix: unknown option '$1'" >&2; exit 2 ;;
  esac
}

# try_option <compiler> <option>: as try.
try_option() {
  flags_of "$2"
  build="$dir/$1-$2"
  log="$build.log"
  archiver=
  case $1-$2 in  # the archive needs an index of what only the compiler can read
    g++*-lto) archiver="-DCMAKE_AR=$(command -v gcc-ar) -DCMAKE_RANLIB=$(command -v gcc-ranlib)" ;;
    clang++*-lto)
      archiver="-DCMAKE_AR=$("$1" -print-prog-name=llvm-ar) -DCMAKE_RANLIB=$("$1" -print-prog-name=llvm-ranlib)"
      link="$link -fuse-ld=lld" ;;
  esac
  verdict="does not configure"
  # shellcheck disable=SC2086  # words on purpose
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER="$1" \
    -DCMAKE_CXX_FLAGS="$compile" $archiver -DBUILD_SHARED_LIBS=OFF -DVOLE_BUILD_TESTS=OFF \
    -DVOLE_BUILD_BENCH=OFF -DVOLE_BUILD_EXAMPLES=OFF -DVOLE_WERROR=OFF > "$log" 2>&1 || return 1
  verdict="does not build"
  cmake --build "$build" --parallel "$jobs" --target vole >> "$log" 2>&1 || return 1
  verdict="builds with warnings"
  ! grep -q 'warning:' "$log" || return 1
  for program in hello squares fan_in fan_out worker_pool pipeline from_threads tour; do
    verdict="the example $program does not build"
    # shellcheck disable=SC2086
    "$1" -std=c++20 $compile -I"$root/include" "$root/examples/$program.cc" -o "$build/$program" $link \
      -L"$build" -lvole -pthread -ldl >> "$log" 2>&1 || return 1
    verdict="the example $program fails"
    timeout 60 "$build/$program" < /dev/null >> "$log" 2>&1 || return 1
  done
  verdict=ok
}

failed=0
for compiler in $compilers; do
  for type in $types; do
    for kind in $kinds; do
      try "$compiler" "$type" "$kind" || failed=1
      printf '%-10s %-15s %-7s %s\n' "$compiler" "$type" "$kind" "$verdict"
      [ "$verdict" = ok ] || printf '    see %s\n' "$log"
    done
  done
done
for compiler in $compilers; do
  for option in $options; do
    try_option "$compiler" "$option" || failed=1
    printf '%-10s %-23s %s\n' "$compiler" "$option" "$verdict"
    [ "$verdict" = ok ] || printf '    see %s\n' "$log"
  done
done
exit $failed
