# Sourced by the scripts: how they speak, where things are.
# Exit statuses are those of hipbench: 2 wrong usage, 3 the environment failed.

checkout=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
script_name=$(basename -- "$0")

say() { printf '%s: %s\n' "$script_name" "$*"; }
warn() { printf '%s: warning: %s\n' "$script_name" "$*" >&2; }

# fail WHAT [WHAT TO DO, one line each]
fail() {
  printf '%s: %s\n' "$script_name" "$1" >&2
  shift
  local line
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  exit 3
}
