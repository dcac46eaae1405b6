#!/usr/bin/env bash
# usage: commands_test.sh TRUNKLINE PAGE: runs each line of PAGE that calls the release binary, with
# the binary given.
set -euo pipefail
cd "$(dirname "$0")/../.."
trunkline=$1 page=$2
count=0
while read -r command; do
  echo "$command"
  bash -c "${command/#build\/release\/bin\/trunkline/\"$trunkline\"}" >/dev/null </dev/null
  count=$((count + 1))
done < <(grep '^build/release/bin/trunkline ' "$page")
[ "$count" -gt 0 ]
echo "$count commands of $page ran"
