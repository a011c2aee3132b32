# Puts the bootstrap's files into the store from this machine's own package clients, for sites that
# reach package registries (or mirrors of them) but not the archives in lib/pins/archives.nix.
# Sourced by ./tare. The flake's `seeds` lists what is needed, a line each:
#   deb STORE-PATH STORE-NAME SHA256 PACKAGE VERSION COMPONENT
#   go  STORE-PATH STORE-NAME SHA256 VERSION

seed_store() {
  seeds=$(nix eval --raw "$flake#seeds")
  missing=$(printf '%s\n' "$seeds" | while read -r line; do
    set -- $line
    [ -e "$2" ] || printf '%s\n' "$line"
  done)
  [ -n "$missing" ] || return 0
  if archives_answer; then return 0; fi
  say "the archives in lib/pins/archives.nix are out of reach; seeding the store from this machine's package clients"
  seed_dir=$(mktemp -d)
  seed_debs
  seed_go
  add_to_store
  rm -rf "$seed_dir"
}

# One small file through Nix's own fetcher, without its patient retries.
archives_answer() {
  probe=$(printf '%s\n' "$missing" | awk '{ print $3; exit }')
  nix build --no-link "$flake#seedFiles.\"$probe\"" --option download-attempts 1 --option connect-timeout 5 >/dev/null 2>&1
}

seed_debs() {
  [ -n "$(printf '%s\n' "$missing" | awk '$1 == "deb"')" ] || return 0
  command -v apt-get >/dev/null 2>&1 ||
    die 3 "Debian packages are needed and neither the archives nor apt-get is at hand. Run this where one of them is, or copy the store paths over with 'nix copy' (docs/how-to/run-without-internet.md)."
  mirror=${TARE_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
    awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')}
  [ -n "$mirror" ] || die 3 "this machine's apt sources have no 'bookworm main' of Debian. Name a mirror of Debian: TARE_DEBIAN_MIRROR=URL ./tare ..."
  # A configuration of its own: neither the machine's package state nor its other sources count.
  apt="$seed_dir/apt"
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/parts" "$seed_dir/files"
  : >"$apt/status"
  cat >"$apt/apt.conf" <<END
Dir::State "$apt"; Dir::State::lists "$apt/lists"; Dir::State::status "$apt/status"; Dir::Cache "$apt";
Dir::Etc::sourcelist "$apt/sources.list"; Dir::Etc::sourceparts "$apt/parts"; Dir::Etc::parts "$apt/parts";
Dir::Etc::main "$apt/none"; Dir::Etc::preferencesparts "$apt/parts"; Dir::Etc::preferences "$apt/none";
APT::Architecture "amd64"; APT::Architectures "amd64"; APT::Sandbox::User "root"; Acquire::Languages "none"; Acquire::Retries "3";
END
  log="$seed_dir/apt.log"
  download_debs main ||
    { tail -n 20 "$log" >&2; die 3 "apt-get could not download the pinned Debian packages from $mirror (its last lines are above)"; }
  download_debs non-free || go_without_non_free
  printf '%s\n' "$missing" | while read -r kind path name sha256 package version component; do
    [ "$kind" = deb ] || continue
    for file in "$seed_dir/files/${package}_"*.deb; do mv "$file" "$seed_dir/$name"; done
  done
}

# The missing packages of a component of the archive.
download_debs() {
  packages=$(printf '%s\n' "$missing" | awk -v component="$1" '$1 == "deb" && $7 == component { print $5 "=" $6 }')
  [ -n "$packages" ] || return 0
  # Not checked against a keyring: each file is checked against its hash in debian.lock.json.
  printf 'deb [trusted=yes] %s bookworm %s\n' "$mirror" "$1" >"$apt/sources.list"
  # shellcheck disable=SC2086 # one word a package
  (cd "$seed_dir/files" && APT_CONFIG="$apt/apt.conf" && export APT_CONFIG &&
    apt-get update -qq && apt-get download -qq $packages) >"$log" 2>&1
}

# A mirror may leave that component out: what does not need its packages is built all the same.
go_without_non_free() {
  say "not to be had from $mirror, for they are in Debian's non-free: $packages. A lab that uses netperf does not build; let it use what Tare has in its place: services.http.server.roundTripProgram = \"tcp-rr\";"
  missing=$(printf '%s\n' "$missing" | awk '$1 != "deb" || $7 != "non-free"')
  seeds=$(printf '%s\n' "$seeds" | awk '$1 != "deb" || $7 != "non-free"')
}

seed_go() {
  printf '%s\n' "$missing" | grep -q '^go ' || return 0
  if ! command -v go >/dev/null 2>&1; then
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 ||
      die 3 "the Go toolchain is needed and neither the archives nor a go command is at hand. Install Go (any version from 1.19 on fetches the pinned one)."
    say "installing a Go client (apt-get install golang-go) to fetch the pinned toolchains"
    install_debian_package golang-go
  fi
  printf '%s\n' "$missing" | while read -r kind path name sha256 version; do
    [ "$kind" = go ] || continue
    log="$seed_dir/go.log"
    module="golang.org/toolchain@v0.0.1-go$version.linux-amd64"
    # Outside the checksum database's reach too: the hash in toolchains.json is the check.
    (cd "$seed_dir" && GOMODCACHE="$seed_dir/go" GOFLAGS=-modcacherw GONOSUMDB=golang.org/toolchain GOTOOLCHAIN=local go mod download "$module") >"$log" 2>&1 ||
      { tail -n 20 "$log" >&2; die 3 "go could not download $module (its last lines are above)"; }
    mv "$seed_dir/go/cache/download/golang.org/toolchain/@v/v0.0.1-go$version.linux-amd64.zip" "$seed_dir/$name"
  done
}

add_to_store() {
  [ -n "$missing" ] || return 0
  printf '%s\n' "$missing" | while read -r kind path name sha256 rest; do
    found=$(sha256sum "$seed_dir/$name" | cut -d' ' -f1)
    [ "$found" = "$sha256" ] ||
      die 3 "$name: wanted sha256 $sha256, found $found. The pin in lib/pins and what this machine's client fetched are different files; bring the pin up to date with: ./tare pins update"
  done
  # shellcheck disable=SC2046 # one word a file; names are store names, without spaces
  (cd "$seed_dir" && nix-store --add-fixed sha256 $(printf '%s\n' "$missing" | awk '{ print $3 }')) >/dev/null
  # Rooted, so that a garbage collection does not make the next build fetch them again.
  roots="${XDG_STATE_HOME:-$HOME/.local/state}/tare/seeds"
  mkdir -p "$roots"
  # shellcheck disable=SC2046
  nix-store --realise $(printf '%s\n' "$seeds" | awk '{ print $2 }') --add-root "$roots/seed" >/dev/null
}
