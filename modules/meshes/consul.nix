# Consul: one server, sidecars that register themselves there. Its data plane has no way without mutual TLS, so
# what encryption costs is read against a plain pair of the same Envoy.
{ config, lib, packages, ... }:
let
  inherit (lib) mkDefault mkIf;
  workload = import ./workload.nix { inherit config; };
  inherit (workload) cfg;

  namespace = "consul";
  image = "tare.local/consul:1.21.0";
  httpPort = 8500;
  grpcPort = 8502;

  clientPort = 15001;
  serverPort = 15006;
  readyPort = 15021;
  adminPort = 15000;
  # A sidecar serves one port: what answers single bytes has its own. netperf calls the port that its server listens
  # at, be it at a proxy; what it asks its server first goes past the proxies.
  roundTrip = { name = "round-trip"; clientPort = cfg.server.roundTripPort; serverPort = 15007; readyPort = 15022; adminPort = 15003; };

  # The protocol of a service is the layer its proxies work at.
  serviceOf = layer: "server-${layer}";
  latest = { tls_min_version = "TLSv1_3"; tls_max_version = "TLSv1_3"; };
  agent = {
    server = true;
    bootstrap = true;
    data_dir = "/tmp/consul";
    client_addr = "0.0.0.0";
    log_level = "warn";
    connect.enabled = true;
    disable_update_check = true;
    ports = { grpc = grpcPort; dns = -1; };
    # Alone, it need not wait long for an answer from others.
    performance.raft_multiplier = 1;
    config_entries.bootstrap = [
      { kind = "service-defaults"; name = serviceOf "l4"; protocol = "tcp"; }
      { kind = "service-defaults"; name = serviceOf "l7"; protocol = "http"; }
      # A calling Envoy goes no higher than TLS 1.2 unless it is told to, as Istio tells it.
      { kind = "mesh"; tls = { incoming = latest; outgoing = latest; }; }
    ];
  };

  podAddress = { name = "POD_IP"; valueFrom.fieldRef.fieldPath = "status.podIP"; };

  controlPlane = [
    {
      apiVersion = "v1";
      kind = "ConfigMap";
      metadata = { name = "consul"; inherit namespace; };
      data."agent.json" = builtins.toJSON agent;
    }
    (workload.service {
      name = "consul";
      inherit namespace;
      selector.app = "consul";
      ports = [ { name = "http"; port = httpPort; } { name = "grpc"; port = grpcPort; } ];
    })
    (workload.deployment namespace "consul" {
      inherit (cfg.server) node;
      containers = [
        {
          name = "consul";
          inherit image;
          args = [ "agent" "-config-file=/etc/consul/agent.json" "-bind=$(POD_IP)" ];
          env = [ podAddress ];
          volumeMounts = [ { name = "config"; mountPath = "/etc/consul"; } ];
          # Answers with an address once it leads itself.
          readinessProbe = { httpGet = { path = "/v1/status/leader"; port = httpPort; }; periodSeconds = 1; };
        }
      ];
      volumes = [ { name = "config"; configMap.name = "consul"; } ];
    })
  ];

  # As healthy as its service, which has no check of its own. The default connects every ten seconds, and calls
  # the sidecar ill until it did.
  healthy = service: { checks = [ { name = "service"; alias_service = service; } ]; };

  registration = {
    server = layer: {
      name = serviceOf layer;
      port = workload.portOf layer;
      connect.sidecar_service = { port = serverPort; proxy.local_service_address = "127.0.0.1"; } // healthy (serviceOf layer);
    };
    roundTrip = _: {
      inherit (roundTrip) name;
      port = cfg.server.roundTripPort;
      connect.sidecar_service = { port = roundTrip.serverPort; proxy.local_service_address = "127.0.0.1"; } // healthy roundTrip.name;
    };
    client = layer: {
      name = "client";
      port = clientPort;
      connect.sidecar_service = {
        port = serverPort;
        proxy.upstreams = [ { destination_name = serviceOf layer; local_bind_port = clientPort; } ]
          ++ (if layer == "l7" then [ ] else [ { destination_name = roundTrip.name; local_bind_port = roundTrip.clientPort; } ]);
      } // healthy "client";
    };
  };

  # Registers the pod under the address that only it knows, and becomes Envoy.
  start = ports: service: ''
    set -eu
    cat > /tmp/service.json <<END
    ${builtins.toJSON { inherit service; }}
    END
    consul services register /tmp/service.json
    exec consul connect envoy -sidecar-for ${service.name} -ignore-envoy-compatibility=true \
      -admin-bind=127.0.0.1:${toString ports.adminPort} \
      -envoy-ready-bind-address=$POD_IP -envoy-ready-bind-port=${toString ports.readyPort} \
      -- --log-level warning --concurrency ${toString cfg.proxyWorkers}
  '';

  addressed = service: service // {
    address = "$POD_IP";
    connect.sidecar_service = service.connect.sidecar_service // { address = "$POD_IP"; };
  };

  container = name: ports: service: {
    inherit image name;
    command = [ "/bin/busybox" "sh" "-c" (start ports (addressed service)) ];
    env = [
      podAddress
      { name = "PATH"; value = "/bin:/usr/local/bin:/usr/bin"; }
      { name = "CONSUL_HTTP_ADDR"; value = "http://consul.${namespace}.svc.cluster.local:${toString httpPort}"; }
      { name = "CONSUL_GRPC_ADDR"; value = "consul.${namespace}.svc.cluster.local:${toString grpcPort}"; }
    ];
    readinessProbe = { httpGet = { path = "/ready"; port = ports.readyPort; }; periodSeconds = 1; };
  };

  sidecar = name: layer: pod: pod // {
    containers = pod.containers
      ++ [ (container "consul-proxy" { inherit adminPort readyPort; } (registration.${name} layer)) ]
      ++ (if name == "client" || layer == "l7" then [ ] else [ (container "consul-proxy-round-trip" roundTrip (registration.roundTrip layer)) ]);
  };

  arm = layer: {
    inherit layer;
    mtls = true;
    manifests = workload.file "consul-${layer}-mtls" (workload.arm {
      server = sidecar "server" layer;
      client = sidecar "client" layer;
    });
    call = { address = "local"; port = clientPort; };
    roundTrip = workload.roundTrip layer "local" roundTrip.clientPort;
  };
in
{
  config = mkIf config.services.http.enable {
    images."tare.local/consul:1.21.0" = mkDefault packages.image-consul;

    meshes.consul = {
      title = "Consul";
      version = "1.21.0";
      controlPlane = {
        inherit namespace;
        manifests = workload.file "consul" controlPlane;
        deployments = [ "consul" ];
      };
      sidecar.container = "consul-proxy";
      arms = { consul-l4-mtls = arm "l4"; consul-l7-mtls = arm "l7"; };
    };
  };
}
