{ goPackage }:
let
  version = "1.7.13";
  module = "github.com/containerd/containerd";
in
goPackage {
  name = "containerd";
  inherit version;
  source = ./.;
  commands = {
    containerd = "${module}/cmd/containerd";
    containerd-shim-runc-v2 = "${module}/cmd/containerd-shim-runc-v2";
    ctr = "${module}/cmd/ctr";
  };
  # Snapshotters that need C libraries or kernel modules no lab uses.
  tags = [ "no_aufs" "no_btrfs" "no_devmapper" "no_zfs" ];
  ldflags = "-X ${module}/version.Version=v${version}";
}
