# lab.json: the configuration as the Python runtime reads it. The one place where camelCase becomes snake_case
# and sizes become base units; the keys are those of lib/tare/src/tare/manifest.py.
config:
let
  inherit (builtins) mapAttrs;

  path = value: if value == null then null else "${value}";
  paths = mapAttrs (_: path);
  mebibytes = value: if value == null then null else value * 1048576;
  quantity = suffix: value: if value == null then null else "${toString value}${suffix}";

  runtime = from: {
    inherit (from) handler options config requires;
    runtime_type = from.runtimeType;
    binary = path from.binary;
    shim = path from.shim;
    overhead_cpu = quantity "m" from.overheadCpuMillicores;
    overhead_memory = quantity "Mi" from.overheadMemoryMiB;
    upstream = if from.upstream == null then null else from.upstream // { path = path from.upstream.path; };
  };

  fabric = from: {
    inherit (from) node channel organizations;
    batch_timeout_seconds = from.batchTimeoutSeconds;
    batch_max_messages = from.batchMaxMessages;
    ready_timeout_seconds = from.readyTimeoutSeconds;
    node_types = mapAttrs
      (_: type: {
        inherit (type) image replicas vcpus;
        runtime_class = type.runtimeClass;
        memory_bytes = mebibytes type.memoryMiB;
      })
      from.nodeTypes;
    tools = paths from.tools;
    sample_config = path from.sampleConfig;
  };

  caliper = from: {
    inherit (from) node workers;
    native_signing = from.nativeSigning;
    nodejs = path from.nodejs;
    modules = path from.modules;
    workload = path from.workload;
  };

  http = from: {
    inherit (from) namespace;
    server = {
      inherit (from.server) node image workers;
      http_port = from.server.httpPort;
      tcp_port = from.server.tcpPort;
      round_trip_port = from.server.roundTripPort;
      netserver_port = if from.server.roundTripProgram == "netperf" then from.server.netserverPort else null;
      payload_bytes = from.server.payloadBytes;
    };
    client = { inherit (from.client) node image; };
    proxy_workers = from.proxyWorkers;
    ready_timeout_seconds = from.readyTimeoutSeconds;
  };

  tcpRr = from: {
    program = path from.program;
    netperf = if config.services.http.server.roundTripProgram == "netperf" then path from.netperf else null;
  };

  vegeta = from: {
    inherit (from) connections;
    program = path from.program;
    timeout_seconds = from.timeoutSeconds;
  };

  mesh = from: {
    inherit (from) title version sidecar;
    control_plane = if from.controlPlane == null then null else {
      inherit (from.controlPlane) namespace deployments;
      manifests = path from.controlPlane.manifests;
      program = path from.controlPlane.program;
      configuration = path from.controlPlane.configuration;
    };
    inject = path from.inject;
    arms = mapAttrs (_: arm: { inherit (arm) layer mtls call; round_trip = arm.roundTrip; manifests = path arm.manifests; }) from.arms;
    upstream = if from.upstream == null then null else from.upstream // { path = path from.upstream.path; };
  };

  wrk = from: {
    inherit (from) node threads connections path;
    keep_alive = from.keepAlive;
    timeout_seconds = from.timeoutSeconds;
    program = path from.program;
    script = path from.script;
  };

  ifEnabled = convert: from: if from.enable then convert from else null;
in
{
  schema = 1;
  inherit (config) name title study;
  tools = paths config.cluster.tools;
  node_path = map path config.cluster.nodePath;
  network = {
    pod_cidr = config.network.podCidr;
    service_cidr = config.network.serviceCidr;
    node_cidr = config.network.nodeCidr;
    dns_address = config.network.dnsAddress;
  };
  cluster = {
    inherit (config.cluster) provider;
    kubernetes_version = config.cluster.kubernetesVersion;
    ready_timeout_seconds = config.cluster.readyTimeoutSeconds;
    etcd_fsync = config.cluster.etcdFsync;
  };
  nodes = mapAttrs (_: node: { inherit (node) cpus labels; cpu_weight = node.cpuWeight; }) config.nodes;
  runtimes = mapAttrs (_: runtime) config.runtimes;
  images = paths config.images;
  services = {
    fabric = ifEnabled fabric config.services.fabric;
    http = ifEnabled http config.services.http;
  };
  loads = {
    caliper = ifEnabled caliper config.loads.caliper;
    tcp_rr = ifEnabled tcpRr config.loads.tcpRr;
    vegeta = ifEnabled vegeta config.loads.vegeta;
    wrk = ifEnabled wrk config.loads.wrk;
  };
  meshes = mapAttrs (_: mesh) config.meshes;
  experiment = {
    inherit (config.experiment) service loads compare baseline attributions factors metrics blocks;
    warmup_seconds = config.experiment.warmupSeconds;
    duration_seconds = config.experiment.durationSeconds;
    second_side =
      let side = config.experiment.secondSide;
      in if side == null then null else { service_node = side.serviceNode; load_node = side.loadNode; };
    profiles = mapAttrs
      (_: profile: {
        inherit (profile) description blocks levels;
        warmup_seconds = profile.warmupSeconds;
        duration_seconds = profile.durationSeconds;
      })
      config.experiment.profiles;
  };
}
