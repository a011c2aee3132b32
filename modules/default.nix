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
  ./services/fabric.nix
  ./loads/caliper.nix
  ./loads/wrk.nix
  ./experiment.nix
  ./study.nix
  ./assertions.nix
]
