#!/usr/bin/env bash
# Plants one violation of each rule in a small tree of its own and expects the layer check to name it.
set -euo pipefail
check=$(cd "$(dirname "$0")/../.." && pwd)/scripts/check-layers
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# expect TEXT FILE INCLUDE: a tree with this one line in FILE fails and the complaint holds TEXT.
expect() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/src" "$tree/include" "$tree/$(dirname "$2")"
  printf '#include <vector>\n#include %s\n' "$3" >"$tree/$2"
  if found=$("$check" "$tree"); then
    printf 'not refused: %s in %s\n' "$3" "$2"
    exit 1
  fi
  if [[ $found != *"$2:2: "*"$1"* ]]; then
    printf 'expected "%s", got: %s\n' "$1" "$found"
    exit 1
  fi
}

expect 'base includes fabric' src/base/units.cc '"trunkline/fabric/fabric.h"'
expect 'fabric includes engine' src/fabric/router.cc '"engine/flow/network.h"'
expect 'engine/flow includes engine/analytic' src/engine/flow/a.cc '"engine/analytic/b.h"'
expect 'engine/analytic includes engine/flow' src/engine/analytic/a.h '"engine/flow/b.h"'
expect 'includes <fmt/format.h>' include/trunkline/base/units.h '<fmt/format.h>'
expect 'includes <metis.h>' include/trunkline/fabric/fabric.h '<metis.h>'
expect 'which is not public' include/trunkline/base/units.h '"base/yaml_reader.h"'
expect 'not in the order' src/gossip/a.cc '"trunkline/base/units.h"'
expect 'from the folder of its layer' src/base/units.cc '"units_table.h"'

rm -rf "${tree:?}"/*
mkdir -p "$tree/src/base" "$tree/include"
printf '#include <vector>\nstruct Cut {\n' >"$tree/src/base/a.h"
printf 'class Cut final : Base {\n' >"$tree/src/base/b.cc"
printf 'namespace {\nstruct Cut {\n}  // namespace\nstruct Cut;\n' >"$tree/src/base/c.cc"
if found=$("$check" "$tree") || [[ $found != *'src/base/b.cc:1: ::Cut is also src/base/a.h:2' ]]; then
  printf 'two types of one name, got: %s\n' "$found"
  exit 1
fi

# And a clean tree passes.
rm -rf "${tree:?}"/*
mkdir -p "$tree/src/engine/flow" "$tree/include"
printf '#include "trunkline/base/units.h"\n#include "engine/engine.h"\n' >"$tree/src/engine/flow/a.cc"
"$check" "$tree"
