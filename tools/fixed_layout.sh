#!/bin/sh
# Runs a program without address space randomisation, where that is allowed. TSan of
# clang 14 refuses to start on most of the layouts that kernels with 32 random bits draw.
if setarch -R true 2>/dev/null; then exec setarch -R "$@"; fi
exec "$@"
