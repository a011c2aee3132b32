# Every rule between options, broken once. A rule without a case fails.
let
  inherit (builtins) attrNames concatMap elem filter;
  inherit (import ../../lib/eval) mkDefault mkForce mkMerge;
  inherit (import ./expect.nix) equal;

  mkLab = modules: import ../../lib/eval/mk-lab.nix { inherit modules; packages = import ./packages.nix; };
  broken = config: (mkLab [ ./fixtures/foreign.nix { _file = "mine.nix"; inherit config; } ]).errors;

  # The foreign lab with an HTTP server beside what it measures.
  http = config: mkMerge [
    { services.http = { enable = true; server.node = mkDefault "fabric"; }; experiment.service = "fabric"; }
    config
  ];

  cases = {
    "networks lie in the range for benchmarks" = {
      config.network.nodeCidr = "10.0.0.0/24";
      errors = [ "mine.nix: network.nodeCidr: expected a network inside 198.18.0.0/15, set aside for benchmarks (RFC 2544), found \"10.0.0.0/24\" (a string)." ];
    };
    "networks do not overlap" = {
      config.network.nodeCidr = "198.18.7.0/24";
      errors = [ "modules/network.nix: network.podCidr: expected a network apart from network.nodeCidr (198.18.7.0/24), found \"198.18.0.0/16\" (a string)." ];
    };
    "the DNS server has a service address" = {
      config.network.dnsAddress = "198.18.0.10";
      errors = [ "mine.nix: network.dnsAddress: expected an address inside network.serviceCidr (198.19.64.0/18), found \"198.18.0.10\" (a string)." ];
    };
    "there is a node" = {
      config.nodes = mkForce { };
      errors = [
        "modules/loads/caliper.nix: loads.caliper.node: expected the name of a node, of which there is none, found \"client\" (a string)."
        "modules/services/fabric.nix: services.fabric.node: expected the name of a node, of which there is none, found \"fabric\" (a string)."
        "mine.nix: nodes: expected at least one node, found an empty set. Write nodes.fabric = { };"
      ];
    };
    "nodes have names that Kubernetes takes" = {
      config.nodes.Big_One = { };
      errors = [ "mine.nix: nodes.Big_One: expected a name of small letters, digits and hyphens, 32 at most, found \"Big_One\" (a string)." ];
    };
    "CPU sets go upwards" = {
      config.nodes.fabric.cpus = "3-1";
      errors = [ "mine.nix: nodes.fabric.cpus: expected ranges that go upwards, found \"3-1\" (a string)." ];
    };
    "CPU sets are disjoint" = {
      config.nodes = { fabric.cpus = "0-2,5"; client.cpus = "4-6"; };
      errors = [ "mine.nix: nodes.fabric.cpus: expected CPUs apart from those of nodes.client (4-6), found \"0-2,5\" (a string)." ];
    };
    "the service under test is enabled" = {
      config = { services.fabric.enable = mkForce false; experiment.service = "fabric"; };
      errors = [ "mine.nix: experiment.service: expected a service that is enabled, found \"fabric\" (a string). Write services.fabric.enable = true;" ];
      # The runtime factor goes with the service; what follows from that is not this rule's.
      only = "experiment.service";
    };
    "something drives the service" = {
      config.experiment.loads = [ ];
      errors = [ "mine.nix: experiment.loads: expected at least one load, found a list of 0." ];
    };
    "the loads are enabled" = {
      config = { loads.caliper.enable = mkForce false; experiment.loads = [ "caliper" ]; };
      errors = [ "mine.nix: experiment.loads: expected loads that are enabled, found \"caliper\" (a string). Write loads.caliper.enable = true;" ];
    };
    "Fabric runs on a node" = {
      config.services.fabric.node = "fabrik";
      errors = [ "mine.nix: services.fabric.node: expected the name of a node (client, fabric), found \"fabrik\" (a string). Write \"fabric\"." ];
    };
    "Fabric's images are there" = {
      config.services.fabric.nodeTypes.peer.image = "tare.local/fabric-peer:2.4.5";
      errors = [ "mine.nix: services.fabric.nodeTypes.peer.image: expected one of the images (tare.local/coredns:1.11.1, tare.local/fabric-ca:1.5.5, tare.local/fabric-chaincode:1.0, tare.local/fabric-orderer:2.4.4, tare.local/fabric-peer:2.4.4, tare.local/pause:3.9), found \"tare.local/fabric-peer:2.4.5\" (a string). Write \"tare.local/fabric-peer:2.4.4\"." ];
    };
    "Fabric's own runtimes are declared" = {
      config.services.fabric.nodeTypes.ca.runtimeClass = "runsc";
      errors = [ "mine.nix: services.fabric.nodeTypes.ca.runtimeClass: expected a runtime (gvisor, kata, runc), found \"runsc\" (a string). Write \"runc\"." ];
    };
    "the HTTP server and its client run on nodes" = {
      config = http { services.http.server.node = mkForce "fabrik"; };
      errors = [ "mine.nix: services.http.server.node: expected the name of a node (client, fabric), found \"fabrik\" (a string). Write \"fabric\"." ];
    };
    "the HTTP server's and its client's images are there" = {
      config = http { services.http.client.image = "tare.local/http-klient:1"; };
      errors = [ "mine.nix: services.http.client.image: expected one of the images (tare.local/consul:1.21.0, tare.local/coredns:1.11.1, tare.local/envoy:1.36.2, tare.local/fabric-ca:1.5.5, tare.local/fabric-chaincode:1.0, tare.local/fabric-orderer:2.4.4, tare.local/fabric-peer:2.4.4, tare.local/http-client:1, tare.local/http-server:1.22.1, tare.local/kuma-cp:2.9.2, tare.local/kuma-dp:2.9.2, tare.local/kuma-init:2.9.2, tare.local/netserver:2.7.0, tare.local/pause:3.9, tare.local/pilot:1.25.1, tare.local/proxyv2:1.25.1), found \"tare.local/http-klient:1\" (a string). Write \"tare.local/http-client:1\"." ];
    };
    "netperf is used where it is at hand" = {
      config = http { loads.tcpRr.netperf = null; };
      errors = [ "modules/services/http.nix: services.http.server.roundTripProgram: expected tcp-rr, for lib/pins/debian.toml leaves netperf out, found \"netperf\" (a string)." ];
    };
    "single bytes are called at the port at which they are answered" = {
      config = http {
        meshes.other = {
          title = "another";
          arms.other = { call = { address = "local"; port = 80; }; roundTrip = { address = "local"; port = 15002; }; };
        };
      };
      errors = [ "mine.nix: meshes.other.arms.other.roundTrip.port: expected services.http.server.roundTripPort (12866), which netperf calls whatever is between, found 15002 (an integer)." ];
    };
    "arms that are compared are a mesh's" = {
      config = http { experiment.factors.arm.levels = [ "none" "istio-17" ]; };
      errors = [ "mine.nix: experiment.factors.arm.levels[1]: expected an arm of one of the meshes (consul-l4-mtls, consul-l7-mtls, istio-l4, istio-l4-mtls, istio-l7, istio-l7-mtls, kuma-l4, kuma-l4-mtls, kuma-l7, kuma-l7-mtls, linkerd-l4-mtls, linkerd-l7-mtls, none, plain-proxy-l4, plain-proxy-l7), found \"istio-17\" (a string). Write \"istio-l7\"." ];
    };
    "arms have names of their own" = {
      config = http { meshes.other = { title = "another"; arms.none.call = { address = "service"; port = 80; }; }; };
      errors = [ "mine.nix: meshes.other.arms: expected a name that meshes.none does not have, found \"none\" (a string)." ];
    };
    "payloads are files that the server has" = {
      config = http { experiment.factors.payload_bytes.levels = [ 65 ]; };
      errors = [ "mine.nix: experiment.factors.payload_bytes.levels[0]: expected a size in services.http.server.payloadBytes (64, 1024, 65536), found 65 (an integer)." ];
    };
    "connections are kept or closed" = {
      config = http { experiment.factors.connection.levels = [ "keepalive" ]; };
      errors = [ "mine.nix: experiment.factors.connection.levels[0]: expected what is done with connections (keep-alive, close), found \"keepalive\" (a string). Write \"keep-alive\"." ];
    };
    "shares of the capacity are below it" = {
      config.experiment.factors.load_share = { levels = [ 0.5 80 ]; description = "A share."; };
      errors = [ "mine.nix: experiment.factors.load_share.levels[1]: expected a number between 0 and 1, found 80 (an integer)." ];
    };
    "Caliper runs on a node" = {
      config.loads.caliper.node = "load";
      errors = [ "mine.nix: loads.caliper.node: expected the name of a node (client, fabric), found \"load\" (a string)." ];
    };
    "Caliper has a workload" = {
      config.loads.caliper.workload = mkForce null;
      errors = [ "mine.nix: loads.caliper.workload: expected a folder, found null. Write loads.caliper.workload = ./workload;" ];
    };
    "wrk runs on a node" = {
      config.loads = { caliper.enable = mkForce false; wrk = { enable = true; node = "load"; }; };
      errors = [ "mine.nix: loads.wrk.node: expected the name of a node (client, fabric), found \"load\" (a string)." ];
    };
    "the second side stands on nodes" = {
      config = { nodes.load2 = { }; experiment.secondSide = { serviceNode = "fabrik2"; loadNode = "load2"; }; };
      errors = [ "mine.nix: experiment.secondSide.serviceNode: expected the name of a node (client, fabric, load2), found \"fabrik2\" (a string). Write \"fabric\"." ];
    };
    "the second side's nodes are not the first's" = {
      config = { nodes.fabric2 = { }; experiment.secondSide = { serviceNode = "fabric2"; loadNode = "client"; }; };
      errors = [ "mine.nix: experiment.secondSide.loadNode: expected a node on which neither the service nor a load of the first side runs, found \"client\" (a string)." ];
    };
    "wrk's threads share the connections evenly" = {
      config.loads = { caliper.enable = mkForce false; wrk = { enable = true; threads = 3; }; };
      errors = [ "modules/loads/wrk.nix: loads.wrk.connections: expected a multiple of loads.wrk.threads (3), found 8 (an integer)." ];
    };
    "what is compared is a factor" = {
      config.experiment.compare = mkForce "runtimes";
      errors = [ "mine.nix: experiment.compare: expected a factor (runtime, send_rate, total_cpus, vcpus), found \"runtimes\" (a string). Write \"runtime\"." ];
    };
    "the baseline is a level" = {
      config.experiment = {
        baseline = mkForce "kata";
        profiles.quick = { description = "Quick."; levels.runtime = [ "runc" ]; };
      };
      errors = [
        "mine.nix: experiment.baseline: expected a level of runtime (\"runc\", \"gvisor\"), found \"kata\" (a string)."
        "mine.nix: experiment.profiles.quick.levels.runtime: expected levels with the baseline, \"kata\", among them, found a list of 1."
      ];
    };
    "factors have levels, each once" = {
      config.experiment.factors.send_rate.levels = [ 50 50 ];
      errors = [ "mine.nix: experiment.factors.send_rate.levels: expected at least one level, and each once, found a list of 2." ];
    };
    "a level's attribution ends with it" = {
      config.experiment = {
        factors.runtime.levels = [ 1 ];
        attributions = {
          "1" = [{ cause = "sandbox"; level = 1; }];
          gvisor = [{ cause = "sandbox"; level = "gvisor"; } { cause = "number"; level = 1; }];
          kata = [ ];
        };
      };
      errors = [
        "mine.nix: experiment.attributions.gvisor[1].level: expected the level that is taken apart, gvisor, found 1 (an integer)."
        "mine.nix: experiment.attributions.kata: expected at least one step, the last of which is kata, found a list of 0."
      ];
      only = "experiment.attributions.*";
    };
    "attributions go from the baseline by levels of what is compared" = {
      config.experiment.attributions = {
        gvisor = [{ cause = "nothing"; level = "runc"; } { cause = "all"; level = "gvisor"; } { cause = "nothing"; level = "gvisor"; }];
        gvizor = [{ cause = "sandbox"; level = "gvizor"; }];
      };
      errors = [
        "mine.nix: experiment.attributions.gvisor[0].level: expected a level other than the baseline and those before it, found \"runc\" (a string)."
        "mine.nix: experiment.attributions.gvisor[2].level: expected a level other than the baseline and those before it, found \"gvisor\" (a string)."
        "mine.nix: experiment.attributions.gvizor[0].level: expected a level of runtime (\"runc\", \"gvisor\"), found \"gvizor\" (a string). Write \"gvisor\"."
      ];
    };
    "profiles size known factors" = {
      config.experiment.profiles.quick = { description = "Quick."; levels.sendrate = [ 20 ]; };
      errors = [ "mine.nix: experiment.profiles.quick.levels.sendrate: expected a factor (runtime, send_rate, total_cpus, vcpus), found \"sendrate\" (a string). Write \"send_rate\"." ];
    };
    "runtimes that are compared are declared" = {
      config.experiment.factors.runtime.levels = [ "gvizor" 1 ];
      errors = [
        "mine.nix: experiment.factors.runtime.levels[2]: expected a runtime (gvisor, kata, runc), found \"gvizor\" (a string). Write \"gvisor\"."
        "mine.nix: experiment.factors.runtime.levels[3]: expected the name of a runtime, found 1 (an integer)."
      ];
    };
    "vcpus are written orderer:peer" = {
      config.experiment.factors.vcpus.levels = [ "shared" "1" ];
      errors = [ "mine.nix: experiment.factors.vcpus.levels[1]: expected shared, or whole CPUs as orderer:peer, found \"1\" (a string). Write it like \"1:2\"." ];
    };
    "CPU totals are positive" = {
      config.experiment.factors.total_cpus.levels = [ 0 ];
      errors = [ "mine.nix: experiment.factors.total_cpus.levels[0]: expected a positive number, found 0 (an integer)." ];
    };
    "send rates are positive" = {
      config.experiment.profiles.quick = { description = "Quick."; levels.send_rate = [ "20" ]; };
      errors = [ "mine.nix: experiment.profiles.quick.levels.send_rate[0]: expected a positive number, found \"20\" (a string)." ];
    };
    "the study's figures are about this experiment" = {
      config.study = {
        title = "A study";
        authors = [ "A. Uthor" ];
        figures = [{ metric = "latency"; levels.cpus = 2; ratio = 1; quote = "none"; }];
      };
      errors = [
        "mine.nix: study.figures[0].metric: expected a metric (client_cpu, cpu_ca, cpu_chaincode, cpu_orderer, cpu_peer, cpu_per_request, cpu_total, failures, goodput, latency_mean, latency_p50, latency_p95, latency_p99, memory_ca, memory_chaincode, memory_orderer, memory_peer, sent_rate), found \"latency\" (a string)."
        "mine.nix: study.figures[0].levels.cpus: expected a factor (runtime, send_rate, total_cpus, vcpus), found \"cpus\" (a string). Write \"vcpus\"."
      ];
    };
  };

  rules = attrNames (import ../../modules/assertions.nix { lib = import ../../lib/eval; config = { }; }).assertions;
  about = option: filter (text: builtins.match "[^:]*: ${option}: .*" text != null);
  check = name:
    let
      case = cases.${name};
      found = broken case.config;
    in
    equal name (if case ? only then about case.only found else found) case.errors;
in
equal "every rule has a case" (filter (name: !(elem name (attrNames cases))) rules) [ ]
++ equal "every case has a rule" (filter (name: !(elem name rules)) (attrNames cases)) [ ]
++ concatMap check (attrNames cases)
