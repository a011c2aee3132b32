# How an artifact is made: one builder a file, each taking only what it needs.
{ system, pins }:
let
  bootstrap = import ./bootstrap.nix { inherit system pins; };
  inherit (bootstrap) kit busybox fetchFile goProgram goToolchain;
  shell = "${busybox}/bin/busybox sh";

  sandbox = import ./run.nix {
    inherit system kit busybox;
    inherit (debian) debTree;
  };
  inherit (sandbox) run fetch;

  debian = import ./debian.nix {
    inherit system pins kit fetchFile run;
  };
  inherit (debian) debTree debFiles debRoot patchelfCommand;

  # Debian's C library as it is, for programs that are started by its loader.
  libc = debFiles "libc";

  compiler = import ./c.nix { inherit run debRoot shell; };

  go = import ./go.nix {
    inherit pins run fetch goToolchain compiler;
  };

  python = import ./python.nix {
    inherit pins run fetch kit debRoot patchelfCommand shell;
  };

  node = import ./node.nix {
    inherit pins run fetch kit libc patchelfCommand python shell;
  };
in
{
  goroot = goToolchain pins.defaultGo;

  # A publisher's file that no registry carries.
  upstreamFile = name: fetchFile (pins.upstream name);
  inherit (pins) isPinned;
  hasDebian = pins.debian.hasRoot;

  inherit kit busybox shell libc run fetch fetchFile goProgram goToolchain debTree debFiles debRoot compiler;
  inherit (go) goPackage goModuleData;
  inherit (python) pythonEnv interpreter wheels;
  inherit (node) nodejs npmPackage;

  ociImage = import ./image.nix {
    inherit run;
    ociTool = goProgram "oci" ./oci;
  };
}
