# Where a machine with internet and plain Nix fetches what no package client of its own gives:
# archives that keep every version for ever. Sites without them seed the store (see ./tare).
{
  debian = sha1: "https://snapshot.debian.org/file/${sha1}";
  goToolchain = version: "https://go.dev/dl/mod/golang.org/toolchain/@v/v0.0.1-go${version}.linux-amd64.zip";
}
