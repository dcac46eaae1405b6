# What the scripts share. Sourced, never run; the caller has set -euo pipefail.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
jobs=${TRUNKLINE_JOBS:-$(nproc)}

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Says on stderr what happens next, so that stdout stays the result's.
say() { printf '\n== %s\n' "$*" >&2; }

# Runs a command as root: as it is for root, through sudo for anyone else.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "needs root for: $* (install sudo, or run this command as root and start again)"
  fi
}

# Configures a preset: always, since what was missing when it was first configured may be there
# now (it takes a fraction of a second). Only the first time shows the summary.
configure() {
  local preset=$1
  if [ -f "build/$preset/build.ninja" ]; then
    cmake --preset "$preset" >/dev/null
  else
    say "configure $preset"
    cmake --preset "$preset" >&2
  fi
}

# build PRESET [TARGET…]
build() {
  local preset=$1
  shift
  configure "$preset"
  say "build $preset"
  cmake --build --preset "$preset" -j "$jobs" ${@:+--target "$@"} >&2
}

# Our own C++ files.
sources() { git ls-files -- '*.cc' '*.h'; }
