# Sourced by setup: the distribution's packages that building and running hipbench needs.

readonly kSystemPackages=(
  clang-19 clang-tools-19 lld-19 llvm-19-dev libclang-rt-19-dev            # compiler of hipbench and of the candidates
  cmake ninja-build ccache                                                 # build
  bubblewrap libseccomp-dev                                                # sandbox
  libcli11-dev libfmt-dev libtomlplusplus-dev nlohmann-json3-dev           # command line, text, files
  libsqlite3-dev libsqlitecpp-dev libcurl4-openssl-dev                     # results, agents
  libcpp-httplib-dev pkgconf                                               # hipbench serve
  libopenblas-pthread-dev zlib1g-dev libzstd-dev                           # oracle, compressed code objects
  libgtest-dev libgmock-dev libbenchmark-dev                               # tests
  ca-certificates debian-archive-keyring                                   # checking what setup downloads
)

missing_system_packages() {
  # One call for all: dpkg-query fails when any is unknown, and still lists the others.
  local installed package
  installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${kSystemPackages[@]}" 2>/dev/null |
    sed -n 's/ installed$//p' || true)
  for package in "${kSystemPackages[@]}"; do
    grep -qxF "$package" <<<"$installed" || printf '%s\n' "$package"
  done
}

install_system_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    command -v clang++-19 >/dev/null || fail "this system has no apt-get, and clang++-19 is not in PATH" \
      "Install by hand what Debian calls: ${kSystemPackages[*]}"
    warn "this system has no apt-get: that the libraries are installed is not checked"
    return
  fi
  local missing
  mapfile -t missing < <(missing_system_packages)
  if ((${#missing[@]} == 0)); then
    say "system packages: all ${#kSystemPackages[@]} installed"
    return
  fi
  local command="apt-get install -y --no-install-recommends ${missing[*]}" as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      fail "${#missing[@]} packages are missing, and installing them needs root. Run this, then scripts/setup again:" \
        "sudo apt-get update && sudo $command" "(without sudo: the same as root)"
    fi
    as_root=(sudo)
  fi
  say "system packages: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -o APT::Update::Error-Mode=any -qq >"$log" 2>&1 ||
    warn "apt-get update failed ($(first_error)); going on with the package lists as they are"
  local package unknown=()
  for package in "${missing[@]}"; do
    apt-cache show "$package" >/dev/null 2>&1 || unknown+=("$package")
  done
  if ((${#unknown[@]} > 0)); then
    fail "the package lists of $(os_name) do not have: ${unknown[*]}" \
      "If the machine is offline, connect it; with a fresh image run: apt-get update" \
      "hipbench is tried on Debian 12, Debian 13 and Ubuntu 24.04 (there with the component universe enabled)."
  fi
  # shellcheck disable=SC2086  # the command is words
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $command >"$log" 2>&1 ||
    fail "could not install the missing packages: $(first_error)" "$(diagnosis)" "The command was: $command"
  say "system packages: installed"
}

os_name() { (. /etc/os-release 2>/dev/null && printf '%s' "${PRETTY_NAME:-this system}") || printf 'this system'; }
