#!/usr/bin/env bash
# usage: commands_test.sh TRUNKLINE PAGE [SHORTER]: runs each line of PAGE that calls the release
# binary, with the binary given. SHORTER (shorter.txt says its form) appends to some of them; all
# that it names must be shown in README.md or docs/.
set -euo pipefail
cd "$(dirname "$0")/../.."
trunkline=$1 page=$2 shorter=${3:-/dev/null}

declare -A appended
while IFS= read -r line; do
  case $line in
    '#'*) ;;
    ' '*) appended[$shown]=$line ;;
    *)
      shown=$line
      grep -qxF -- "$shown" README.md docs/*.md || {
        echo "$shorter names a command that no page shows: $shown" >&2
        exit 1
      }
      ;;
  esac
done <"$shorter"

count=0
while read -r command; do
  command+=${appended[$command]:-}
  echo "$command"
  bash -c "${command/#build\/release\/bin\/trunkline/\"$trunkline\"}" >/dev/null </dev/null
  count=$((count + 1))
done < <(grep '^build/release/bin/trunkline ' "$page")
[ "$count" -gt 0 ]
echo "$count commands of $page ran"
