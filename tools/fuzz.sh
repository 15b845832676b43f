#!/usr/bin/env bash
# Runs every fuzzer of a folder for a while.
#
#   tools/fuzz.sh [--seconds N] <folder with *_fuzz programs>
#
# VOLE_SEED=n sets the seed; without it libFuzzer draws one and prints it.
set -uo pipefail

seconds=60
if [ "${1:-}" = --seconds ]; then
  seconds=$2
  shift 2
fi
shopt -s nullglob
fuzzers=("${1:?a folder}"/*_fuzz)
[ ${#fuzzers[@]} -gt 0 ] || { echo "fuzz: no fuzzer in $1 (they need clang)" >&2; exit 1; }

failed=0
for fuzzer in "${fuzzers[@]}"; do
  name=${fuzzer##*/}
  corpus=build/test-all/corpus/$name
  mkdir -p "$corpus"
  good=(tests/tools/corpus/"$name"/)  # input to begin with, if there is any
  [ -d "${good[0]}" ] || good=()
  if "$fuzzer" "-max_total_time=$seconds" "-seed=${VOLE_SEED:-0}" -max_len=4096 -print_final_stats=1 \
      "-artifact_prefix=build/test-all/$name-" "$corpus" ${good[@]+"${good[@]}"}; then
    echo "$name: nothing found in $seconds s"
  else
    echo "$name: FAILED; the input is in build/test-all"
    failed=1
  fi
done
exit $failed
