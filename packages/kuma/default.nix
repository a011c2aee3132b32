{ goPackage }:
let
  module = "github.com/kumahq/kuma";
in
goPackage {
  name = "kuma";
  version = "2.9.2";
  source = ./.;
  commands = {
    kuma-cp = "${module}/app/kuma-cp";
    kuma-dp = "${module}/app/kuma-dp";
    kumactl = "${module}/app/kumactl";
  };
  # Data plane and control plane compare their versions.
  ldflags = builtins.concatStringsSep " " [
    "-X ${module}/pkg/version.version=2.9.2"
    "-X ${module}/pkg/version.gitTag=2.9.2"
    "-X ${module}/pkg/version.gitCommit=86593067f050"
  ];
}
