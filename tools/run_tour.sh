#!/bin/sh
# What `make run` does: builds the library and the tour, runs the tour, and leaves a page that shows
# what the scheduler did, where Node is there to make it.
set -u
cd "$(dirname "$0")/.." || exit 1
build=build/run
begin=$(date +%s)

echo "building the library and the tour (the log: $build.log)"
mkdir -p build
if ! { cmake --preset run && cmake --build --preset run --parallel "${VOLE_JOBS:-$(nproc)}" --target vole_run; } \
    >"$build.log" 2>&1; then
  tail -n 40 "$build.log"
  echo "run: the build has failed; the whole log is $build.log" >&2
  exit 1
fi
echo "built in $(($(date +%s) - begin)) s"
echo

trace=$PWD/$build/tour.trace
page=$PWD/$build/tour.html
rm -f "$trace" "$page"
$build/examples/tour "$trace" || exit 1

echo
echo "What next"
if [ -x $build/bin/vole-page ] && $build/bin/vole-page "$trace" "$page"; then
  echo "  open in a browser      file://$page"
  echo "                         (the last line of part 2: which goroutine ran where, and when)"
else
  echo "  a trace of part 2      $trace"
  echo "                         (no page of it: that needs Node and npm. apt install nodejs npm, and again)"
fi
cat <<END
  watch the scheduler    VOLE_DEBUG=schedtrace=200 $build/examples/tour
  write a service        docs/getting-started.md
  read programs          examples/README.md
  everything else        README.md
END
