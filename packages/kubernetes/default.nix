{ goPackage }:
let
  version = "1.29.1";
  # kubeadm, kubelet and istiod refuse a cluster whose version stamp is missing.
  stamp = package: builtins.concatStringsSep " " [
    "-X ${package}.gitVersion=v${version}"
    "-X ${package}.gitMajor=1"
    "-X ${package}.gitMinor=29"
    "-X ${package}.gitTreeState=clean"
    "-X ${package}.gitCommit=bc401b91f2782410b3fb3f9acf43a995c4de90d2"
    "-X ${package}.buildDate=2024-01-17T15:41:12Z"
  ];
in
goPackage {
  name = "kubernetes";
  inherit version;
  source = ./.;
  commands.kubernetes = ".";
  ldflags = "${stamp "k8s.io/component-base/version"} ${stamp "k8s.io/client-go/pkg/version"}";
  install = ''
    for program in kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubectl kubelet; do
      ln -s kubernetes $out/bin/$program
    done
  '';
}
