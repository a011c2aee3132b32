# lab.json has the keys that lib/tare/src/tare/manifest.py reads, no more and no fewer.
let
  inherit (builtins) attrNames attrValues concatMap concatStringsSep elemAt filter foldl' isString match readFile split;
  inherit (import ../../lib/eval) mkForce;
  inherit (import ./expect.nix) equal;

  lab = import ../../lib/eval/mk-lab.nix { modules = [ ../../labs/kata-hlf ]; packages = import ./packages.nix; };
  inherit (lab) manifest;
  mtls = (import ../../lib/eval/mk-lab.nix { modules = [ ../../labs/mtls ]; packages = import ./packages.nix; }).manifest;
  # Where lib/pins/debian.toml leaves netperf out.
  freeMtls = (import ../../lib/eval/mk-lab.nix {
    modules = [ ../../labs/mtls ];
    packages = removeAttrs (import ./packages.nix) [ "image-netserver" "netperf" ];
  }).manifest;
  withWrk = import ../../lib/eval/mk-lab.nix {
    modules = [ ./fixtures/foreign.nix { loads.caliper.enable = mkForce false; loads.wrk.enable = true; } ];
    packages = import ./packages.nix;
  };

  withSecondSide = import ../../lib/eval/mk-lab.nix {
    modules = [
      ./fixtures/foreign.nix
      { nodes = { f2 = { }; c2 = { }; }; experiment.secondSide = { serviceNode = "f2"; loadNode = "c2"; }; }
    ];
    packages = import ./packages.nix;
  };

  # The fields of each dataclass, read from its source: class name -> [ field ].
  lines = filter isString (split "\n" (readFile ../../lib/tare/src/tare/manifest.py));
  classes = (foldl'
    (state: line:
      let
        class = match "class ([A-Za-z]+):" line;
        field = match "    ([a-z_0-9]+): .*" line;
        ends = match "[a-z].*" line != null;
        name = elemAt class 0;
      in
      if class != null then state // { current = name; found = state.found // { ${name} = [ ]; }; }
      else if ends then state // { current = null; }
      else if field != null && state.current != null then
        state // { found = state.found // { ${state.current} = state.found.${state.current} ++ field; }; }
      else state)
    { current = null; found = { }; }
    lines).found;

  # Where each record stands in the manifest.
  records = {
    Manifest = [ manifest ];
    Network = [ manifest.network ];
    Cluster = [ manifest.cluster ];
    Node = attrValues manifest.nodes;
    Runtime = attrValues manifest.runtimes;
    Upstream = [ manifest.runtimes.kata.upstream ];
    Services = [ manifest.services ];
    Fabric = [ manifest.services.fabric ];
    FabricNodeType = attrValues manifest.services.fabric.node_types;
    Loads = [ manifest.loads ];
    Caliper = [ manifest.loads.caliper ];
    Http = [ mtls.services.http ];
    HttpServer = [ mtls.services.http.server ];
    HttpClient = [ mtls.services.http.client ];
    Vegeta = [ mtls.loads.vegeta ];
    TcpRoundTrip = [ mtls.loads.tcp_rr ];
    Mesh = attrValues mtls.meshes;
    ControlPlane = [ mtls.meshes.consul.control_plane ];
    Sidecar = [ mtls.meshes.istio.sidecar ];
    Arm = concatMap (of: attrValues of.arms) (attrValues mtls.meshes);
    Call = [ mtls.meshes.none.arms.none.call mtls.meshes.none.arms.none.round_trip ];
    Wrk = [ withWrk.manifest.loads.wrk ];
    Experiment = [ manifest.experiment ];
    AttributionStep = builtins.concatLists (attrValues mtls.experiment.attributions);
    SecondSide = [ withSecondSide.manifest.experiment.second_side ];
    Factor = attrValues manifest.experiment.factors;
    Metric = attrValues manifest.experiment.metrics;
    Profile = attrValues manifest.experiment.profiles;
    Study = [ manifest.study ];
    StudyFigure = manifest.study.figures;
  };

  sorted = builtins.sort builtins.lessThan;
in
equal "every record of manifest.py is written" (attrNames classes) (attrNames records)
++ concatMap (name: concatMap (record: equal name (attrNames record) (sorted classes.${name})) records.${name}) (attrNames records)
++ equal "tools" (attrNames manifest.tools) [
  "busybox"
  "cni"
  "containerd"
  "containerd-shim-runc-v2"
  "ctr"
  "etcd"
  "ip"
  "kube-apiserver"
  "kube-controller-manager"
  "kube-proxy"
  "kube-scheduler"
  "kubectl"
  "kubelet"
  "mount"
  "nsenter"
  "python"
  "umount"
  "unshare"
]
++ equal "Fabric's tools" (concatStringsSep " " (attrNames manifest.services.fabric.tools))
  "configtxgen cryptogen fabric-ca-client fabric-ca-server orderer osnadmin peer"
++ equal "paths are absolute" (filter (path: match "/nix/store/.*" path == null) (attrValues manifest.tools ++ manifest.node_path ++ attrValues manifest.images)) [ ]
++ equal "netperf measures round trips" [ mtls.services.http.server.netserver_port (mtls.images ? "tare.local/netserver:2.7.0") ] [ 12865 true ]
++ equal "where it is, it is netperf" (match "/nix/store/.*-netperf/usr/bin/netperf" mtls.loads.tcp_rr.netperf != null) true
++ equal "without it, tcp-rr takes its place"
  [ freeMtls.services.http.server.netserver_port freeMtls.loads.tcp_rr.netperf (freeMtls.images ? "tare.local/netserver:2.7.0") ]
  [ null null false ]
# Nix 2.8 and 2.34 write floats differently; neither may show in lab.json.
++ equal "whole numbers are integers" (map builtins.typeOf manifest.experiment.factors.total_cpus.levels) [ "float" "int" ]
++ equal "other numbers keep six digits" (map (figure: figure.ratio == builtins.fromJSON (builtins.toJSON figure.ratio)) manifest.study.figures)
  (map (_: true) manifest.study.figures)
++ equal "the text is the manifest" (builtins.fromJSON (builtins.unsafeDiscardStringContext lab.manifestText) == manifest) true
