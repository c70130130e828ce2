# Sourced by setup: assembling the toolchain folder.
#   manifest.txt   what is in it, with versions and hashes; written last
#   hip/           HIP headers          bitcode/     gfx942 device libraries
#   primitives/    rocPRIM and hipCUB   licenses/    of all of them

is_complete() {
  [[ -f $1/manifest.txt && -f $1/hip/hip/hip_runtime.h && -f $1/bitcode/ocml.bc && -f $1/bitcode/oclc_isa_version_942.bc ]]
}

# hip_version INCLUDE: "6.4", or nothing.
hip_version() {
  awk '$2 == "HIP_VERSION_MAJOR" { major = $3 } $2 == "HIP_VERSION_MINOR" { minor = $3 }
       END { if (major != "") print major "." minor }' "$1/hip/hip_version.h" 2>/dev/null || true
}

is_new_enough() { [[ $1 =~ ^([0-9]+)\.([0-9]+)$ ]] && ((BASH_REMATCH[1] > 6 || (BASH_REMATCH[1] == 6 && BASH_REMATCH[2] >= 2))); }

# rocm_problem FOLDER: why this ROCm cannot serve; empty when it can. common/toolchain.cpp decides by the same rules.
rocm_problem() {
  local rocm=$1 version
  version=$(hip_version "$rocm/include")
  if [[ ! -x $rocm/llvm/bin/clang++ && ! -x $rocm/lib/llvm/bin/clang++ ]]; then
    echo "it has no llvm/bin/clang++"
  elif ! is_new_enough "$version"; then
    echo "its HIP is ${version:-unknown}, 6.2 or newer is needed"
  elif ! compgen -G "$rocm/amdgcn/bitcode/ocml.bc" >/dev/null &&
    ! compgen -G "$rocm/*llvm/lib/clang/*/*amdgcn/bitcode/ocml.bc" >/dev/null &&
    ! compgen -G "$rocm/llvm/lib/clang/*/lib/amdgcn/bitcode/ocml.bc" >/dev/null; then
    echo "it has no device bitcode (amdgcn/bitcode/ocml.bc)"
  fi
}

tree_sha256() { (cd "$1" && find -L . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1); }

# The user's own folders: copied, so that they may go, and so that /usr/include brings nothing but HIP.
take_user_headers() {
  local from=$1 to=$2 version
  [[ -f $from/hip/hip_runtime.h ]] || fail "HIPBENCH_HIP_INCLUDE=$from has no hip/hip_runtime.h: name the folder that contains hip/"
  version=$(hip_version "$from")
  is_new_enough "$version" || fail "the headers in $from are HIP ${version:-of unknown version}; 6.2 or newer is needed (hip_fp8.h)"
  mkdir -p "$to/hip"
  cp -rL "$from/hip" "$to/hip/"
  printf 'hip-headers user %s %s\n' "$version" "$(tree_sha256 "$to/hip/hip")" >>"$to/manifest.part"
  local name
  for name in rocprim hipcub; do
    [[ -d $from/$name ]] || continue
    mkdir -p "$to/primitives"
    cp -rL "$from/$name" "$to/primitives/"
    printf '%s user - %s\n' "$name" "$(tree_sha256 "$to/primitives/$name")" >>"$to/manifest.part"
  done
}

take_user_bitcode() {
  local from=$1 to=$2
  [[ -f $from/ocml.bc && -f $from/oclc_isa_version_942.bc ]] ||
    fail "HIPBENCH_DEVICE_LIBS=$from has no ocml.bc and oclc_isa_version_942.bc: name the amdgcn/bitcode folder"
  mkdir -p "$to/bitcode"
  cp -L "$from"/*.bc "$to/bitcode/"
  printf 'device-libs user - %s\n' "$(tree_sha256 "$to/bitcode")" >>"$to/manifest.part"
}

has_sha256() { [[ -f $1 && $(sha256sum "$1" | cut -d' ' -f1) == "$2" ]]; }

# fetch_package PACKAGE SUITE NEED VERSION SHA256: sets package_file, package_version, package_sha256; from the cache without
# network when it has the tried version. An optional package that is gone, or too new, leaves package_file empty.
fetch_package() {
  local name=$1 suite=$2 need=$3
  package_version=$4 package_sha256=$5
  package_file=$cache/${name}_$package_version.${package_sha256:0:16}.deb
  if has_sha256 "$package_file" "$package_sha256"; then
    say "$name $package_version: from $cache"
    return
  fi
  [[ -n ${private_apt_config:-} ]] || prepare_private_apt "$scratch/apt"
  local tried=$package_version
  package_version=$(available_version "$name" "$suite" "$tried")
  if [[ -z $package_version ]]; then
    package_file=
    [[ $need == optional ]] || fail "Debian $suite has no package $name any more (tried version: $tried)" \
      "Set HIPBENCH_DEBIAN_MIRROR to a snapshot of the Debian archive that still has it, or supply the files:" \
      "HIPBENCH_HIP_INCLUDE=DIR for the headers, HIPBENCH_DEVICE_LIBS=DIR for the bitcode."
    warn "Debian $suite has no package $name any more: candidates that include its headers will not compile"
    return
  fi
  if [[ $package_version != "$tried" ]]; then
    if ! may_be_taken_untried "$name" "$need" "$package_version" "$tried"; then
      package_file=
      return
    fi
    package_sha256=$(sha256_in_lists "$name" "$package_version")
  fi
  package_file=$cache/${name}_$package_version.${package_sha256:0:16}.deb
  if ! has_sha256 "$package_file" "$package_sha256"; then
    say "$name $package_version: downloading"
    download_package "$name" "$package_version" "$scratch/package.deb"
    has_sha256 "$scratch/package.deb" "$package_sha256" ||
      fail "$name $package_version from the mirror is not the file that this release was tried with (its SHA-256 differs)" \
        "Use another mirror (HIPBENCH_DEBIAN_MIRROR), or supply the files (HIPBENCH_HIP_INCLUDE, HIPBENCH_DEVICE_LIBS)."
    mv "$scratch/package.deb" "$package_file.part.$$"
    mv "$package_file.part.$$" "$package_file"
  fi
}

# Another patch level is worth trying (the compile check below has the last word); another major version is the user's choice.
may_be_taken_untried() {
  local name=$1 need=$2 version=$3 tried=$4
  if [[ ${version%%.*} == "${tried%%.*}" || $accept_untried == yes ]]; then
    warn "$name $version was not tried yet (tried: $tried); going on"
    return 0
  fi
  local what="the mirror has $name $version, a major version that was not tried with hipbench yet (tried: $tried)"
  if [[ $need == optional ]]; then
    warn "$what: left out, so candidates that include its headers will not compile; scripts/setup --accept-untried takes it"
    return 1
  fi
  fail "$what" "Set HIPBENCH_DEBIAN_MIRROR to a snapshot of the Debian archive that has $tried," \
    "or try the new one anyway: scripts/setup --accept-untried"
}

unpack_package() {
  local name=$1 file=$2 to=$3 tree=$scratch/unpacked/$1
  mkdir -p "$tree" "$to/licenses"
  dpkg-deb -x "$file" "$tree" 2>"$log" || fail "cannot unpack $file: $(tail -n 1 "$log")" "$(diagnosis)"
  cp -L "$tree/usr/share/doc/$name/copyright" "$to/licenses/$name" 2>/dev/null || true
  case $name in
    rocm-device-libs-*)
      local bitcode
      bitcode=$(find "$tree" -name ocml.bc -print -quit)
      [[ -n $bitcode ]] || fail "$name no longer contains ocml.bc" "Supply the bitcode: HIPBENCH_DEVICE_LIBS=DIR"
      mkdir -p "$to/bitcode"
      cp "$(dirname "$bitcode")"/*.bc "$to/bitcode/"
      ;;
    libamdhip64-dev)
      [[ -f $tree/usr/include/hip/hip_runtime.h ]] ||
        fail "$name no longer contains usr/include/hip/hip_runtime.h" "Supply the headers: HIPBENCH_HIP_INCLUDE=DIR"
      mkdir -p "$to/hip"
      cp -r "$tree/usr/include/hip" "$to/hip/"
      ;;
    *)
      mkdir -p "$to/primitives"
      cp -r "$tree/usr/include/." "$to/primitives/"
      ;;
  esac
}

# A kernel with the FP8 and BF16 headers must become a gfx942 code object, or the headers and clang 19 do not fit.
check_that_it_compiles() {
  local folder=$1
  cat >"$scratch/check.hip" <<-'SOURCE'
	#include <hip/hip_runtime.h>
	#include <hip/hip_bf16.h>
	#include <hip/hip_fp8.h>
	__global__ void scale(const __hip_fp8_e4m3_fnuz* in, __hip_bfloat16* out, float factor) {
	  out[threadIdx.x] = __float2bfloat16(static_cast<float>(in[threadIdx.x]) * factor);
	}
	SOURCE
  clang++-19 -x hip --offload-arch=gfx942 -O1 -std=c++20 --cuda-device-only --rocm-path="$folder" \
    --hip-version="$(hip_version "$folder/hip")" --rocm-device-lib-path="$folder/bitcode" -isystem "$folder/hip" \
    "$scratch/check.hip" -o "$scratch/check.co" 2>"$log" ||
    fail "these headers and this bitcode do not work with clang 19: $(grep -m1 -E 'error:|unable' "$log")" \
      "See scripts/lib/tried_packages.txt for the versions that do, and supply them: HIPBENCH_HIP_INCLUDE=DIR HIPBENCH_DEVICE_LIBS=DIR"
}
