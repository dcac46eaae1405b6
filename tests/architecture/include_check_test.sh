#!/usr/bin/env bash
# Plants names without their headers in a small tree of its own and expects the include check to say so.
set -euo pipefail
check=$(cd "$(dirname "$0")/../.." && pwd)/scripts/check-includes
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/base" "$tree/include/trunkline"

# refused TEXT CODE: a file of this code fails, and the complaint names the line.
refused() {
  printf '%b\n' "$2" >"$tree/src/base/a.cc"
  if found=$("$check" "$tree"); then
    printf 'not refused: %s\n' "$2"
    exit 1
  fi
  if [[ $found != "src/base/a.cc:2: $1" ]]; then
    printf 'expected "%s", got: %s\n' "$1" "$found"
    exit 1
  fi
}
# accepted CODE: a file of this code passes.
accepted() {
  printf '%b\n' "$1" >"$tree/src/base/a.cc"
  "$check" "$tree"
}

printf '#include <string>\n' >"$tree/src/base/names.h"
printf '#include "base/names.h"\n' >"$tree/include/trunkline/names.h"

refused 'std::vector needs <vector>' '#include <string>\nstd::vector<int> v;'
refused 'std::string needs <string>' '#include <string_view>\nstd::string s;'
refused 'std::ranges needs <algorithm>' '#include "base/names.h"\nvoid f() { std::ranges::sort(v); }'
refused 'fmt::format needs <fmt/format.h>' '#include <string>\nstd::string s = fmt::format("");'
accepted '#include <vector>\nstd::vector<int> v;'
accepted '#include <vector>  // std::map\nstd::vector<int> v;'
accepted '#include "base/names.h"\nstd::string s;'
accepted '#include "trunkline/names.h"\nstd::string s;'
