#!/usr/bin/env bash
# usage: install_test.sh BUILD_FOLDER COMPILER VERSION
set -euo pipefail
source=$(cd "$(dirname "$0")" && pwd)
build=$1 compiler=$2 version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
test -x "$work/prefix/bin/trunkline"
cmake -G Ninja -S "$source/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DEXPECTED_VERSION="$version" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/build"

# 64 KiB at 400 Gb/s is 65536 x 8 / 400e9 s = 1.31072 us.
printed=$("$work/build/consumer" "64 KiB" "400 Gb/s")
[ "$printed" = "1310720 ps" ] || { echo "the consumer printed: $printed"; exit 1; }
