# From nothing to a shell, without nixpkgs, /bin/sh or a binary in the repository:
#   1. builtin:fetchurl        the Go toolchain, a zip
#   2. builtin:unpack-channel  unpacks it (libarchive inside Nix keeps the exec bits)
#   3. go build ./kit          -> kit, which unpacks .deb and .zip
#   4. kit deb busybox-static  -> a shell
{ system, pins }:
let
  # A file from a canonical archive. `./tare` may put the same bytes into the store
  # beforehand, under the same name and hash; then nothing is fetched.
  fetchFile =
    { name, url, sha256 }:
    derivation {
      inherit name url;
      urls = [ url ];
      system = "builtin";
      builder = "builtin:fetchurl";
      preferLocalBuild = true;
      executable = false;
      unpack = false;
      outputHashAlgo = "sha256";
      outputHashMode = "flat";
      outputHash = sha256;
    };

  goToolchain =
    version:
    let
      pin = pins.goToolchain version;
      tree = derivation {
        name = "go-${version}";
        inherit system;
        builder = "builtin:unpack-channel";
        src = fetchFile pin;
        channelName = "golang.org";
      };
    in
    "${tree}/golang.org/toolchain@v0.0.1-go${version}.linux-amd64";

  # A program of the standard library alone, built by `go` itself as the builder. Its tests are left
  # out, so that editing one rebuilds nothing.
  goProgram =
    name: folder:
    let
      source = builtins.path {
        inherit name;
        path = folder;
        filter = path: _: builtins.match ".*(_test\\.go|\\.nix)" path == null;
      };
    in
    derivation {
      inherit name system;
      builder = "${goToolchain pins.defaultGo}/bin/go";
      args = [ "build" "-C" source "-trimpath" "-buildvcs=false" "-ldflags=-s -w -buildid=" "-o" (placeholder "out") "." ];
      CGO_ENABLED = "0";
      GOTOOLCHAIN = "local";
      GOFLAGS = "-mod=mod";
      GOPROXY = "off";
      GOENV = "off";
      GOTELEMETRY = "off";
      GOCACHE = "/build/cache";
      GOPATH = "/build/go";
    };

  kit = goProgram "kit" ./kit;

  busybox = derivation {
    name = "busybox";
    inherit system;
    builder = kit;
    args = [ "deb" (placeholder "out") (fetchFile (pins.debian.file "busybox-static")) ];
  };
in
{
  inherit fetchFile goToolchain goProgram kit busybox;
}
