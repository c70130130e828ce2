# Sourced by setup: the chart libraries of the HTML report, in the toolchain folder's web/. Only archives are fetched and unpacked: no
# install script runs, and npm's dependency resolution has no say. Without them everything works but the charts, so that what goes
# wrong here is a warning and never an error.
#   web/manifest.txt   the list they were made from; written last
#   web/*.min.js       what the build embeds      web/licenses.txt   of all of them

readonly kWebLibraries=$checkout/scripts/lib/web_libraries.txt

has_web_libraries() { cmp -s "$kWebLibraries" "$1/manifest.txt"; }

web_warning() {
  warn "$1"
  warn "hipbench report --html will show tables without charts; to have them: ${2:-run scripts/setup again with a network}, then scripts/build"
}

# npm is needed only to download, so it is not one of kSystemPackages.
have_npm() {
  command -v npm >/dev/null && return 0
  local as_root=()
  if ((EUID != 0)); then
    { command -v sudo >/dev/null && sudo -n true 2>/dev/null; } || return 1
    as_root=(sudo)
  fi
  command -v apt-get >/dev/null || return 1
  say "chart libraries: installing npm to fetch them"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends npm >"$log" 2>&1 ||
    { "${as_root[@]}" apt-get update -qq >"$log" 2>&1 &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends npm >"$log" 2>&1; }
}

# npm_archive PACKAGE VERSION: the name of the file that `npm pack` makes.
npm_archive() { local name=${1#@}; printf '%s-%s.tgz\n' "${name//\//-}" "$2"; }

# fetch_web_archives FOLDER: all archives of the list into it, from the cache where it has them.
fetch_web_archives() {
  local to=$1 name version file sha256 archive missing=()
  while read -r name version file sha256; do
    [[ -n $name && $name != '#'* ]] || continue
    archive=$(npm_archive "$name" "$version")
    if has_sha256 "$cache/$archive" "$sha256"; then cp "$cache/$archive" "$to/"; else missing+=("$name@$version"); fi
  done <"$kWebLibraries"
  ((${#missing[@]} > 0)) || return 0
  if ! have_npm; then
    web_warning "the chart libraries are npm packages, and npm is not installed" "install npm (Debian's package npm), run scripts/setup"
    return 1
  fi
  say "chart libraries: downloading ${missing[*]}"
  if ! (cd "$to" && timeout 120 npm pack --ignore-scripts --loglevel=error --fetch-retries=1 --fetch-retry-mintimeout=1000 --cache "$scratch/npm" "${missing[@]}") >"$log" 2>&1; then
    web_warning "npm cannot download ${missing[*]}: $(grep -m 1 -E 'code|ERR|error' "$log" | cut -c 1-200)"
    return 1
  fi
  while read -r name version file sha256; do
    [[ -n $name && $name != '#'* ]] || continue
    archive=$(npm_archive "$name" "$version")
    if ! has_sha256 "$to/$archive" "$sha256"; then
      web_warning "$name $version from the npm registry is not the file that this release was tried with (its SHA-256 differs)" \
        "use another registry (npm config set registry URL), run scripts/setup"
      return 1
    fi
    cp "$to/$archive" "$cache/$archive.part.$$" && mv "$cache/$archive.part.$$" "$cache/$archive"
  done <"$kWebLibraries"
}

# make_web_libraries FOLDER
make_web_libraries() {
  local target=$1 made name version file sha256 archive
  if has_web_libraries "$target"; then
    say "chart libraries: in $target"
    return 0
  fi
  mkdir -p "$scratch/archives"
  fetch_web_archives "$scratch/archives" || return 0
  if ! mkdir -p "$(dirname "$target")" 2>"$log" || ! made=$(mktemp -d "$target.new.XXXXXX" 2>"$log"); then
    web_warning "cannot make $target: $(tail -n 1 "$log")" "set HIPBENCH_TOOLCHAIN to a folder you may write, run scripts/setup"
    return 0
  fi
  while read -r name version file sha256; do
    [[ -n $name && $name != '#'* ]] || continue
    archive=$scratch/archives/$(npm_archive "$name" "$version")
    [[ $file == - ]] || tar -xzOf "$archive" "package/$file" >"$made/$(basename "$file")"
    printf '%s %s\n\n' "$name" "$version" >>"$made/licenses.txt"
    tar -xzOf "$archive" package/LICENSE >>"$made/licenses.txt"
    printf '\n' >>"$made/licenses.txt"
  done <"$kWebLibraries"
  cp "$kWebLibraries" "$made/manifest.txt"
  chmod 755 "$made"
  rm -rf "$target"
  mv -T "$made" "$target"
  say "chart libraries: in $target"
}
