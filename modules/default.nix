# Every module of Tare, in the order in which a lab is thought of.
# manifest.nix is not one of them: it turns what they agree on into lab.json.
[
  ./lab.nix
  ./network.nix
  ./cluster.nix
  ./nodes.nix
  ./images.nix
  ./runtimes
  ./runtimes/runc.nix
  ./runtimes/gvisor.nix
  ./runtimes/kata.nix
  ./meshes
  ./meshes/none.nix
  ./meshes/plain-proxy.nix
  ./meshes/istio.nix
  ./meshes/consul.nix
  ./meshes/kuma.nix
  ./meshes/linkerd.nix
  ./services/fabric.nix
  ./services/http.nix
  ./loads/caliper.nix
  ./loads/vegeta.nix
  ./loads/wrk.nix
  ./experiment.nix
  ./study.nix
  ./assertions.nix
]
