#!/bin/sh
# Builds the Debian packages into build/packages/packages: libvole, libvole-dev, vole-tools.
set -eu
cd "$(dirname "$0")/.."
command -v dpkg-deb >/dev/null || { echo "packages: there is no dpkg-deb here" >&2; exit 1; }
build=${1:-build/packages}
mkdir -p "$build"
build=$(cd "$build" && pwd)
cmake -S . -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
  -DBUILD_SHARED_LIBS=ON -DVOLE_PRECOMPILE=ON -DVOLE_BUILD_TESTS=OFF -DVOLE_BUILD_BENCH=OFF \
  -DVOLE_BUILD_EXAMPLES=OFF >/dev/null
cmake --build "$build" --parallel "${VOLE_JOBS:-$(nproc)}"
(cd "$build" && rm -rf packages && cpack -G DEB >cpack.log 2>&1) || { cat "$build/cpack.log" >&2; exit 1; }
ls "$build"/packages/*.deb
