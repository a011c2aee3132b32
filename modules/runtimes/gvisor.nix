# gVisor: a kernel in user space between the container and the machine's own.
{ lib, packages, ... }:
let
  inherit (lib) mkDefault;
in
{
  runtimes.gvisor = {
    handler = mkDefault "runsc";
    runtimeType = mkDefault "io.containerd.runsc.v1";
    binary = mkDefault "${packages.gvisor}/bin/runsc";
    shim = mkDefault "${packages.gvisor}/bin/containerd-shim-runsc-v1";
    options.TypeUrl = mkDefault "io.containerd.runsc.v1.options";
    config = mkDefault ''
      [runsc_config]
        platform = "systrap"
    '';
  };
}
