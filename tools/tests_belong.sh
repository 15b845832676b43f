#!/usr/bin/env bash
# Asks each test program whether every test of it belongs to exactly one entry (tests/main.cc).
#
#   tools/tests_belong.sh <words before a program; may be empty> <program>...
#
# <program>.files beside a program lists its files. Status 1 if something is left out.
set -uo pipefail

read -r -a runner <<<"$1"
shift
[ $# -gt 0 ] || { echo "tests_belong: no program" >&2; exit 2; }

failed=0
for program in "$@"; do
  printf '%-32s' "${program##*/}"
  "${runner[@]}" "$program" "--all-of=$program.files" || failed=1
done
exit $failed
