# mkLab: the labs there are, a lab of somebody else's, and what is evaluated when.
{ mkLab, labs }:
let
  inherit (builtins) attrNames concatMap filter length;
  inherit (import ./expect.nix) equal stops;

  packages = import ./packages.nix;
  kataHlf = mkLab { modules = [ ../../labs/kata-hlf ]; inherit packages; };
  mtls = (mkLab { modules = [ ../../labs/mtls ]; inherit packages; }).manifest.experiment;
  inherit (kataHlf.manifest) experiment runtimes study;
  foreign = mkLab { modules = [ ./fixtures/foreign.nix ]; inherit packages; };

  figure = metric: total_cpus: vcpus:
    map (figure: figure.ratio) (filter
      (figure: figure.metric == metric && figure.levels == { runtime = "kata"; send_rate = 300; inherit total_cpus vcpus; })
      study.figures);
  containers = { node_types, organizations, ... }:
    node_types.orderer.replicas
    + organizations * (node_types.peer.replicas + node_types.chaincode.replicas + node_types.ca.replicas);
  # Ratios agree to nine digits; sums of decimal fractions have no more in common.
  near = found: expected: map (ratio: ratio > expected - 1.0e-9 && ratio < expected + 1.0e-9) found;
in
builtins.concatLists [
  (equal "every folder of a lab is listed"
    (filter (name: (builtins.readDir ../../labs).${name} == "directory") (attrNames (builtins.readDir ../../labs)))
    (attrNames (import ../../labs)))
  (concatMap
    (name: equal "${name} has no errors" labs.${name}.errors [ ] ++ equal "${name} has its own name" labs.${name}.manifest.name name)
    (attrNames labs))
  (equal "kata-hlf has no errors" kataHlf.errors [ ])
  (equal "its name is its folder's" kataHlf.manifest.name "kata-hlf")
  (equal "its factors" (builtins.mapAttrs (_: factor: factor.levels) experiment.factors) {
    runtime = [ "runc" "gvisor" "kata" ];
    vcpus = [ "shared" ];
    total_cpus = [ 0.5 1.0 ];
    send_rate = [ 50 100 ];
  })
  (equal "what is deployed anew" (builtins.mapAttrs (_: factor: factor.scope) experiment.factors) {
    runtime = "deployment";
    vcpus = "deployment";
    total_cpus = "run";
    send_rate = "run";
  })
  (equal "its size" { inherit (experiment) blocks warmup_seconds duration_seconds; } { blocks = 2; warmup_seconds = 5; duration_seconds = 15; })
  (equal "its profiles" (attrNames experiment.profiles) [ "quick" "study" ])
  (equal "its runtimes" (attrNames runtimes) [ "gvisor" "kata" "runc" ])
  (equal "seven containers" (containers kataHlf.manifest.services.fabric) 7)
  (equal "kata's place is named" runtimes.kata.upstream.path "/nix/store/00000000000000000000000000000000-kata/opt/kata")
  (equal "no lab depends on kata" (builtins.hasContext runtimes.kata.upstream.path || builtins.hasContext runtimes.kata.shim) false)
  (equal "figures of the study" (length study.figures) 14)
  (equal "throughput, 2 CPUs" (near (figure "goodput" 2 "shared") 0.6198) [ true ])
  (equal "latency, 2 CPUs" (near (figure "latency_mean" 2 "shared") 1.8999) [ true ])
  (equal "CPU, 8 CPUs" (near (figure "cpu_total" 8 "shared") 3.04) [ true ])
  (equal "throughput, orderer first" (near (figure "goodput" 8 "4:1") 0.6873) [ true ])
  (equal "latency, orderer first" (near (figure "latency_mean" 8 "4:1") 1.6623) [ true ])
  (equal "throughput, peer first" (near (figure "goodput" 4 "1:2") 0.9785) [ true ])

  (equal "the cost of every arm with mutual TLS is taken apart" (attrNames mtls.attributions)
    (builtins.sort builtins.lessThan (filter (arm: builtins.match ".*-mtls" arm != null) mtls.factors.arm.levels)))
  (equal "into hop, layer, mesh and encryption" (map (step: "${step.cause}: ${step.level}") mtls.attributions.istio-l7-mtls)
    [ "hop: plain-proxy-l4" "layer: plain-proxy-l7" "mesh: istio-l7" "encryption: istio-l7-mtls" ])

  (equal "a foreign lab has no errors" foreign.errors [ ])
  (equal "a foreign lab's own choice" foreign.manifest.experiment.blocks 3)
  (equal "MiB become bytes" foreign.manifest.services.fabric.node_types.peer.memory_bytes 536870912)
  (equal "no study" foreign.manifest.study null)
  (equal "kata, wherever it is" { inherit (runtimes.kata) shim overhead_cpu overhead_memory requires; } {
    shim = "/nix/store/00000000000000000000000000000000-kata/opt/kata/bin/containerd-shim-kata-v2";
    overhead_cpu = "250m";
    overhead_memory = "160Mi";
    requires = [ "kvm-guests" "vhost-vsock" ];
  })
  (equal "packages that no lab needs are not evaluated"
    (mkLab { modules = [ ./fixtures/foreign.nix ]; packages = packages // { unneeded = throw "evaluated"; }; }).errors [ ])
  (equal "options need no package"
    (length (mkLab { modules = [ ]; packages = builtins.mapAttrs (_: _: throw "evaluated") packages; }).options)
    (length foreign.options))
  (stops "a manifest with mistakes" (mkLab { modules = [ ./fixtures/foreign.nix { experiment.blocks = 0; } ]; inherit packages; }).manifestText)
  (equal "every export of the evaluator is there"
    (concatMap (name: if builtins.seq (import ../../lib/eval).${name} true then [ ] else [ name ]) (attrNames (import ../../lib/eval))) [ ])
]
