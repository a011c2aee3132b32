{ goPackage }:
let
  version = "1.4.0";
  module = "github.com/containernetworking/plugins";
in
goPackage {
  name = "cni-plugins";
  inherit version;
  source = ./.;
  commands = {
    bridge = "${module}/plugins/main/bridge";
    host-local = "${module}/plugins/ipam/host-local";
    loopback = "${module}/plugins/main/loopback";
    portmap = "${module}/plugins/meta/portmap";
  };
  ldflags = "-X ${module}/pkg/utils/buildversion.BuildVersion=v${version}";
}
