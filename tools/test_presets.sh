#!/usr/bin/env bash
# Runs the tests of several built presets as one ctest, so that there is one summary.
#
#   tools/test_presets.sh <preset>... [-- <arguments of ctest>]
#
# build/all is a test directory that consists of the presets' directories. The entries are
# told apart by their names, which begin with the preset's (VOLE_TEST_PREFIX).
set -euo pipefail
cd "$(dirname "$0")/.."

presets=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  presets+=("$1")
  shift
done
[ $# -eq 0 ] || shift

mkdir -p build/all
for preset in "${presets[@]}"; do
  if [ ! -f "build/$preset/CTestTestfile.cmake" ]; then
    echo "test: build/$preset is not built; make build-$preset" >&2
    exit 1
  fi
  echo "subdirs(../$preset)"
done >build/all/CTestTestfile.cmake

# Twice as many at a time as there are processors: most tests wait more than they compute.
exec ctest --test-dir build/all --parallel $((2 * ${VOLE_JOBS:-$(nproc)})) \
  --output-on-failure --no-tests=error --no-label-summary "$@"
