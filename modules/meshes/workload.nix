# The pods under test as Kubernetes manifests: one server, one client, each on its own node. Meshes add to them.
{ config }:
let
  cfg = config.services.http;

  # Manifests as a file that kubectl reads.
  file = name: items: builtins.toFile "${name}.json" (builtins.toJSON { apiVersion = "v1"; kind = "List"; inherit items; });

  deployment = namespace: name: { node, containers, initContainers ? [ ], volumes ? [ ], labels ? { }, annotations ? { }, serviceAccountName ? "default" }: {
    apiVersion = "apps/v1";
    kind = "Deployment";
    metadata = { inherit name namespace; };
    spec = {
      selector.matchLabels.app = name;
      strategy.type = "Recreate";
      template = {
        metadata = { labels = { app = name; } // labels; inherit annotations; };
        spec = {
          inherit containers initContainers volumes serviceAccountName;
          nodeSelector."kubernetes.io/hostname" = node;
          terminationGracePeriodSeconds = 1;
          # Addresses of every service in the environment only lengthen it.
          enableServiceLinks = false;
        };
      };
    };
  };

  port = containerPort: { inherit containerPort; };

  roundTripContainer = {
    tcp-rr = {
      name = "round-trip";
      image = cfg.client.image;
      command = [ "/bin/tcp-rr" "serve" ":${toString cfg.server.roundTripPort}" ];
      ports = [ (port cfg.server.roundTripPort) ];
    };
    # It listens at the port for single bytes while a test lasts.
    netperf = {
      name = "round-trip";
      image = "tare.local/netserver:2.7.0";
      args = [ "-p" (toString cfg.server.netserverPort) ];
      ports = [ (port cfg.server.roundTripPort) (port cfg.server.netserverPort) ];
    };
  };

  # What both pods of an arm are made of, before a mesh adds to it.
  pods = {
    server = {
      node = cfg.server.node;
      serviceAccountName = "server";
      containers = [
        {
          name = "server";
          image = cfg.server.image;
          args = [ "-g" "daemon off; worker_processes ${toString cfg.server.workers};" ];
          ports = [ (port cfg.server.httpPort) (port cfg.server.tcpPort) ];
          readinessProbe = { tcpSocket.port = cfg.server.httpPort; periodSeconds = 1; };
        }
        roundTripContainer.${cfg.server.roundTripProgram}
      ];
    };
    client = {
      node = cfg.client.node;
      serviceAccountName = "client";
      containers = [ { name = "client"; image = cfg.client.image; } ];
    };
  };

  account = name: {
    apiVersion = "v1";
    kind = "ServiceAccount";
    metadata = { inherit name; inherit (cfg) namespace; };
  };

  service = { name, selector, ports, namespace ? cfg.namespace }: {
    apiVersion = "v1";
    kind = "Service";
    metadata = { inherit name namespace; };
    spec = { inherit selector ports; };
  };

  # A port's name and protocol tell Istio and Kuma what to take it for.
  serverService = service {
    name = "server";
    selector.app = "server";
    ports = [
      { name = "http"; port = cfg.server.httpPort; appProtocol = "http"; }
      { name = "tcp"; port = cfg.server.tcpPort; appProtocol = "tcp"; }
      { name = "tcp-round-trip"; port = cfg.server.roundTripPort; appProtocol = "tcp"; }
    ]
    ++ (if cfg.server.roundTripProgram != "netperf" then [ ] else [
      { name = "tcp-netserver"; port = cfg.server.netserverPort; appProtocol = "tcp"; }
    ]);
  };
in
{
  inherit account cfg deployment file pods port service serverService;

  /**
    The manifests of an arm: accounts, service and the two pods, each extended by a function.
    Type: arm :: { server : Pod -> Pod; client : Pod -> Pod; more : [ Object ]; } -> [ Object ]
    Example: arm { more = [ policy ]; }
  */
  arm = { server ? (pod: pod), client ? (pod: pod), more ? [ ] }:
    [ (account "server") (account "client") serverService ]
    ++ more
    ++ [
      (deployment cfg.namespace "server" (server pods.server))
      (deployment cfg.namespace "client" (client pods.client))
    ];

  # The port on which a mesh works at the given layer.
  portOf = layer: if layer == "l7" then cfg.server.httpPort else cfg.server.tcpPort;

  # One byte and its answer are no HTTP: only where proxies forward bytes, or there are none.
  roundTrip = layer: address: port: if layer == "l7" then null else { inherit address port; };
}
