#!/usr/bin/env bash
# scripts/setup says what is wrong and what to do, and leaves nothing half made. No network: the mirror it is given is a closed port.
set -euo pipefail

checkout=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

export XDG_CACHE_HOME=$work/cache TMPDIR=$work HIPBENCH_TOOLCHAIN=$work/toolchain HIPBENCH_DEBIAN_MIRROR=http://localhost:1/debian
export npm_config_registry=http://localhost:1/
unset ROCM_PATH HIPBENCH_HIP_INCLUDE HIPBENCH_DEVICE_LIBS

# expect NAME STATUS TEXT COMMAND...: the command ends with the status and says the text.
expect() {
  local name=$1 status=$2 text=$3 got=0 output
  shift 3
  output=$("$@" 2>&1) || got=$?
  if [[ $got != "$status" || $output != *"$text"* ]]; then
    printf 'FAILED: %s: status %s (expected %s), expected text: %s\n%s\n' "$name" "$got" "$status" "$text" "$output"
    failures=$((failures + 1))
  fi
}

make_user_folders() {
  mkdir -p "$work/include/hip" "$work/bitcode"
  touch "$work/include/hip/hip_runtime.h" "$work/bitcode/ocml.bc" "$work/bitcode/oclc_isa_version_942.bc"
  printf '#define HIP_VERSION_MAJOR %s\n#define HIP_VERSION_MINOR %s\n' "$1" "$2" >"$work/include/hip/hip_version.h"
}

expect 'an unknown option' 2 'no such option: --fast' "$checkout/scripts/setup" --fast
expect 'no network' 3 'mirror cannot be reached' "$checkout/scripts/setup"
expect 'headers that are not there' 3 'has no hip/hip_runtime.h' env HIPBENCH_HIP_INCLUDE="$work/none" "$checkout/scripts/setup"
make_user_folders 5 7
expect 'headers that are too old' 3 'HIP 5.7; 6.2 or newer' env HIPBENCH_HIP_INCLUDE="$work/include" "$checkout/scripts/setup"
make_user_folders 6 4
expect 'bitcode that is not there' 3 'has no ocml.bc' \
  env HIPBENCH_HIP_INCLUDE="$work/include" HIPBENCH_DEVICE_LIBS="$work/none" "$checkout/scripts/setup"
expect 'headers that do not compile' 3 'do not work with clang 19' \
  env HIPBENCH_HIP_INCLUDE="$work/include" HIPBENCH_DEVICE_LIBS="$work/bitcode" "$checkout/scripts/setup"
expect 'an unusable ROCm that the user names' 3 'it has no llvm/bin/clang++' \
  env -u HIPBENCH_TOOLCHAIN ROCM_PATH="$work" "$checkout/scripts/setup"
mkdir "$work/foreign" && touch "$work/foreign/file"
expect 'a folder of somebody else' 3 'did not put there' env HIPBENCH_TOOLCHAIN="$work/foreign" "$checkout/scripts/setup"

left=$(find "$work" -maxdepth 1 \( -name 'toolchain*' -o -name 'hipbench-setup*' \))
[[ -z $left ]] || { printf 'FAILED: left behind: %s\n' "$left" && failures=$((failures + 1)); }

# Folders supplied by the user need no network; without it there are no charts, which is said and is no error.
if [[ -f $checkout/.toolchain/hip/hip/hip_runtime.h ]]; then
  export HIPBENCH_HIP_INCLUDE=$checkout/.toolchain/hip HIPBENCH_DEVICE_LIBS=$checkout/.toolchain/bitcode
  expect 'folders of the user' 0 "in $work/toolchain" "$checkout/scripts/setup"
  expect 'the second run' 0 "in $work/toolchain" "$checkout/scripts/setup"
  expect 'no chart libraries' 0 'tables without charts; to have them: run scripts/setup again' "$checkout/scripts/setup"
  [[ ! -e $work/toolchain/web ]] || { echo 'FAILED: half made chart libraries' && failures=$((failures + 1)); }
  # A download that is not what was tried is not taken.
  mkdir "$work/bin" && cat >"$work/bin/npm" <<'NPM'
#!/usr/bin/env bash
for name in d3-7.9.0 observablehq-plot-0.6.17 interval-tree-1d-1.0.4 binary-search-bounds-2.0.5 isoformat-0.2.1; do echo other >"$name.tgz"; done
NPM
  chmod +x "$work/bin/npm"
  expect 'another chart library' 0 'd3 7.9.0 from the npm registry is not the file' env PATH="$work/bin:$PATH" "$checkout/scripts/setup"
  [[ ! -e $work/toolchain/web ]] || { echo 'FAILED: unchecked chart libraries' && failures=$((failures + 1)); }
  grep -q '^hip-headers user ' "$work/toolchain/manifest.txt" || { echo 'FAILED: manifest' && failures=$((failures + 1)); }
fi

# Setup looks into Debian sid with an apt configuration of its own; were it exported, a later apt-get install would take sid's packages.
if grep -rnE 'export +APT_CONFIG' "$checkout/scripts"; then
  echo 'FAILED: APT_CONFIG is exported' && failures=$((failures + 1))
fi

((failures == 0)) || exit 1
echo 'all as expected'
