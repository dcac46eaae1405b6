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

# The recipe of docs/development.md, word for word: its project prints what the program finds.
docs=$source/../../docs/development.md
mkdir "$work/mine"
awk '/^## The installed package/ { on = 1 } /^## Style/ { on = 0 }
     on && /^```cmake$/ { file = "CMakeLists.txt"; next } on && /^```cpp$/ { file = "main.cc"; next }
     /^```$/ { file = ""; next } on && file { print > ("'"$work/mine/"'" file) }' "$docs"
cmake -G Ninja -S "$work/mine" -B "$work/mine/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/mine/build"
cat >"$work/scenario.yaml" <<'EOF'
cluster: {nodes: 4, fabric: {kind: single-switch, link: 400 Gb/s}, transport: {kind: ideal}}
workload: {collective: {primitive: all_reduce, size: 1 GiB, algorithm: ring, channels: 1}}
EOF
# 2 x 3 steps of 256 MiB at 50 GB/s are 32.21 ms; latencies are microseconds.
printed=$("$work/mine/build/mine" "$work/scenario.yaml")
case $printed in
  "0.0322"??" s") ;;
  *) echo "the project of docs/development.md printed: $printed"; exit 1 ;;
esac
