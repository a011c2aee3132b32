# `nix develop`: Tare, its Python with the test tools, and Node.js. Nix takes only a shell that is
# built by bash, so the builder is the pinned one.
{ build, packages }:
let
  bash = "${build.debRoot "shell" ""}/usr/bin/bash";
in
derivation {
  name = "tare-shell";
  system = "x86_64-linux";
  builder = bash;
  args = [ "-c" "echo > $out" ];
  outputs = [ "out" ];
  shellHook = ''
    export PATH=${packages.tare}/bin:${packages.python-dev}/bin:${packages.nodejs}/bin:$PATH
    export PYTHONPATH=$PWD/lib/tare/src
    export TARE_FLAKE=''${TARE_FLAKE:-$PWD}
  '';
}
