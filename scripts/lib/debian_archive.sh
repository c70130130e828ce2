# Sourced by setup: downloading a few Debian packages from other Debian releases without touching the system's apt. Everything
# of apt's (sources, lists, caches) lies in a folder of ours; nothing gets installed. apt checks signatures and hashes.

readonly kDebianKeyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The mirror that this machine already uses, so that proxies and local mirrors keep working.
debian_mirror() {
  if [[ -n ${HIPBENCH_DEBIAN_MIRROR:-} ]]; then
    printf '%s\n' "${HIPBENCH_DEBIAN_MIRROR%/}"
    return
  fi
  local id codename
  id=$(. /etc/os-release && printf '%s' "${ID:-}")
  codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  [[ $id == debian ]] || return 0
  # The release's own entry first: other entries may be security updates or third parties.
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -v codename="$codename" '
      $2 != "main" || $3 ~ /security|^cdrom:/ { next }
      $1 == codename || $1 == "stable" || $1 == "testing" || $1 == "unstable" || $1 == "sid" { print $3; exit }' |
    sed 's,/*$,,'
}

# private_apt COMMAND...: an apt command that looks into the folder only. Never exported: the same variable in an apt-get of the system's
# would install packages of sid there.
private_apt() { APT_CONFIG=$private_apt_config "$@"; }

# prepare_private_apt FOLDER: what private_apt uses. The system's own download settings (proxies) are kept; its hooks are
# not, since docker images clean the system's caches in one.
prepare_private_apt() {
  local folder=$1 mirror
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || fail "the HIP headers come from Debian packages, and $(os_name) names no Debian mirror in its apt sources" \
    "Set HIPBENCH_DEBIAN_MIRROR to the URL of a Debian mirror (the folder that has dists/ and pool/) and run scripts/setup again," \
    "or supply the files: HIPBENCH_HIP_INCLUDE=DIR (has hip/hip_runtime.h, HIP 6.2 or newer)" \
    "and HIPBENCH_DEVICE_LIBS=DIR (has ocml.bc and oclc_isa_version_942.bc), or install ROCm."
  [[ -r $kDebianKeyring ]] || fail "$kDebianKeyring is missing: Debian's packages cannot be verified" \
    "Run: apt-get install debian-archive-keyring"
  mkdir -p "$folder"/{lists/partial,archives/partial}
  : >"$folder/status"
  : >"$folder/preferences"
  local suite
  for suite in sid trixie; do
    printf 'deb [arch=amd64 signed-by=%s] %s %s main\n' "$kDebianKeyring" "$mirror" "$suite"
  done >"$folder/sources.list"
  {
    apt-config dump | grep -E '^Acquire::[^ ]+ ".+";$' | grep -vE '^Acquire::(IndexTargets|Languages)'
    # Snapshots and slow mirrors have lists that apt calls expired. That protects against withheld updates, of no concern here:
    # the tried versions are pinned by hash.
    echo 'Acquire::Check-Valid-Until "false";'
    cat <<-CONF
	Dir::Etc::main "/dev/null";
	Dir::Etc::parts "/dev/null";
	Dir::Etc::sourcelist "$folder/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferences "$folder/preferences";
	Dir::Etc::preferencesparts "/dev/null";
	Dir::State "$folder";
	Dir::State::lists "$folder/lists";
	Dir::State::status "$folder/status";
	Dir::Cache "$folder";
	Dir::Cache::archives "$folder/archives";
	Acquire::Languages "none";
	Acquire::Retries "2";
	APT::Architecture "amd64";
	APT::Sandbox::User "root";
	APT::Update::Error-Mode "any";
	CONF
  } >"$folder/apt.conf"
  private_apt_config=$folder/apt.conf
  say "fetching package lists of Debian sid and trixie from $mirror (20 MB)"
  private_apt apt-get update -q >"$log" 2>&1 || fail "cannot read Debian's package lists: $(first_error)" "$(diagnosis)"
}

# available_version PACKAGE SUITE TRIED_VERSION: the tried version if the mirror still has it, else the newest of that suite.
available_version() {
  local rows
  rows=$(private_apt apt-cache madison "$1" 2>/dev/null | awk -F' *[|] *' -v suite="$2/" '{ split($3, where, " ") }
    index(where[2], suite) == 1 { gsub(/ /, "", $2); print $2 }')
  if grep -qxF "$3" <<<"$rows"; then printf '%s\n' "$3"; else head -n 1 <<<"$rows"; fi
}

sha256_in_lists() { private_apt apt-cache show "$1=$2" 2>/dev/null | sed -n 's/^SHA256: //p' | head -n 1; }

# download_package PACKAGE VERSION TARGET
download_package() {
  local folder
  folder=$(mktemp -d "$scratch/download.XXXXXX")
  (cd "$folder" && private_apt apt-get download -q "$1=$2") >"$log" 2>&1 || fail "cannot download $1 $2: $(first_error)" "$(diagnosis)"
  mv "$folder"/*.deb "$3"
}

# The line of the log that tells most: apt's own errors say less the later they come.
first_error() {
  local pattern
  for pattern in '^E: Failed' '^W: Failed' '^E:' '^W:' 'No space' '[Ee]rror'; do
    grep -m 1 -e "$pattern" "$log" | cut -c 1-300 && return
  done
  tail -n 1 "$log"
}

# What to do about the failure in the log.
diagnosis() {
  if grep -qE 'No space left' "$log"; then
    echo "Free some disk space, then run scripts/setup again."
  elif grep -qE 'resolv|Could not connect|unreachable|timed out|Connection failed|Cannot initiate' "$log"; then
    echo "The mirror cannot be reached. Connect the machine (behind a proxy: set http_proxy), or name another mirror by HIPBENCH_DEBIAN_MIRROR."
  elif grep -qE 'NO_PUBKEY|not signed|EXPKEYSIG' "$log"; then
    echo "The mirror's signature is by a key that $kDebianKeyring lacks. Run: apt-get install debian-archive-keyring"
  elif grep -qE 'not valid yet|expired' "$log"; then
    echo "The mirror's lists and this machine's clock disagree ($(date -u)). Set the clock, or name another mirror by HIPBENCH_DEBIAN_MIRROR."
  elif grep -qE '404|does not have a Release file|Unable to locate|was not found' "$log"; then
    echo "The mirror does not have it (any more). Name a full Debian mirror, or a snapshot of one, by HIPBENCH_DEBIAN_MIRROR."
  else
    echo "Run scripts/setup again; if it stays, supply the files yourself: HIPBENCH_HIP_INCLUDE=DIR HIPBENCH_DEVICE_LIBS=DIR."
  fi
}
