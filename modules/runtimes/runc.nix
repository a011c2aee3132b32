# runc: Linux namespaces and cgroups, the baseline that others are held against.
{ lib, packages, ... }:
let
  inherit (lib) mkDefault;
in
{
  runtimes.runc = {
    runtimeType = mkDefault "io.containerd.runc.v2";
    # runc-fit drops from a container's specification what this machine may not grant.
    binary = mkDefault "${packages.runc-fit}/bin/runc-fit";
    shim = mkDefault "${packages.containerd}/bin/containerd-shim-runc-v2";
    options = {
      BinaryName = mkDefault "${packages.runc-fit}/bin/runc-fit";
      SystemdCgroup = mkDefault false;
    };
  };
}
