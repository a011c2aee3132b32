# Kata Containers: a virtual machine for each pod. Its guest kernel, image and QEMU come in the publisher's
# archive, which no registry carries. A lab names the place where it would be and does not depend on it; whether it
# is there, and what else Kata needs, the runtime finds out on the machine.
{ lib, packages, ... }:
let
  inherit (lib) mkDefault;
  pin = (builtins.fromTOML (builtins.readFile ../../lib/pins/upstream.toml)).kata;
  root = builtins.unsafeDiscardStringContext "${packages.kata}/opt/kata";
in
{
  runtimes.kata = {
    runtimeType = mkDefault "io.containerd.kata.v2";
    shim = mkDefault "${root}/bin/containerd-shim-kata-v2";
    options.ConfigPath = mkDefault "${root}/share/defaults/kata-containers/configuration-qemu.toml";
    overheadCpuMillicores = mkDefault 250;
    overheadMemoryMiB = mkDefault 160;
    requires = [ "kvm-guests" "vhost-vsock" ];
    upstream = {
      name = mkDefault "kata";
      version = mkDefault pin.version;
      url = mkDefault pin.url;
      sha256 = mkDefault pin.sha256;
      path = mkDefault root;
    };
  };
}
