{ goPackage }:
let
  module = "istio.io/istio";
in
goPackage {
  name = "istio";
  version = "1.25.1";
  source = ./.;
  commands = {
    istioctl = "${module}/istioctl/cmd/istioctl";
    pilot-agent = "${module}/pilot/cmd/pilot-agent";
    pilot-discovery = "${module}/pilot/cmd/pilot-discovery";
  };
  # As upstream's releases.
  tags = [ "vtprotobuf" "disable_pgv" ];
  ldflags = builtins.concatStringsSep " " [
    "-X ${module}/pkg/version.buildVersion=1.25.1"
    "-X ${module}/pkg/version.buildGitRevision=be4b14ad8be8"
    "-X ${module}/pkg/version.buildStatus=Clean"
    "-X ${module}/pkg/version.buildTag=1.25.1"
    "-X ${module}/pkg/version.buildHub=tare.local"
  ];
}
