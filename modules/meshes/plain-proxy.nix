# Two Envoys and no mesh: what the hop through a pair of proxies costs, before anything is encrypted.
{ config, lib, packages, ... }:
let
  inherit (lib) mkDefault mkIf;
  workload = import ./workload.nix { inherit config; };
  inherit (workload) cfg;

  # Where each Envoy listens. netperf calls the port that its server listens at, be it at a proxy.
  clientPort = 15001;
  serverPort = 15006;
  roundTrip = { clientPort = cfg.server.roundTripPort; serverPort = 15007; };
  adminPort = 15000;

  extension = category: name: type: fields: {
    name = "envoy.filters.${category}.${name}";
    typed_config = { "@type" = "type.googleapis.com/envoy.extensions.filters.${category}.${name}.v3.${type}"; } // fields;
  };

  filter = {
    l4 = cluster: extension "network" "tcp_proxy" "TcpProxy" { stat_prefix = "l4"; inherit cluster; };
    l7 = cluster: extension "network" "http_connection_manager" "HttpConnectionManager" {
      stat_prefix = "l7";
      http_filters = [ (extension "http" "router" "Router" { }) ];
      route_config.virtual_hosts = [
        {
          name = "all";
          domains = [ "*" ];
          routes = [ { match.prefix = "/"; route = { inherit cluster; timeout = "0s"; }; } ];
        }
      ];
    };
  };

  endpoint = address: port_value: { address.socket_address = { inherit address port_value; }; };

  # From port to port, each pair with its layer.
  proxy = { listenOn, sendTo, discovery, forward }: {
    admin = endpoint "127.0.0.1" adminPort;
    static_resources = {
      listeners = map
        ({ layer, from, to }: endpoint listenOn from // { filter_chains = [ { filters = [ (filter.${layer} (toString to)) ]; } ]; })
        forward;
      clusters = map
        ({ to, ... }: {
          name = toString to;
          type = discovery;
          connect_timeout = "5s";
          dns_lookup_family = "V4_ONLY";
          load_assignment = {
            cluster_name = toString to;
            endpoints = [ { lb_endpoints = [ { endpoint = endpoint sendTo to; } ]; } ];
          };
        })
        forward;
    };
  };

  proxies = layer: {
    server = proxy {
      listenOn = "0.0.0.0";
      sendTo = "127.0.0.1";
      discovery = "STATIC";
      forward = [
        { inherit layer; from = serverPort; to = workload.portOf layer; }
        { layer = "l4"; from = roundTrip.serverPort; to = cfg.server.roundTripPort; }
      ];
    };
    client = proxy {
      listenOn = "127.0.0.1";
      sendTo = "proxy.${cfg.namespace}.svc.cluster.local.";
      discovery = "STRICT_DNS";
      forward = [
        { inherit layer; from = clientPort; to = serverPort; }
        { layer = "l4"; from = roundTrip.clientPort; to = roundTrip.serverPort; }
      ];
    };
  };

  sidecar = port: pod: pod // {
    containers = pod.containers ++ [
      {
        name = "proxy";
        image = "tare.local/envoy:1.36.2";
        args = [ "-c" "/etc/envoy/envoy.json" "--log-level" "warning" "--concurrency" (toString cfg.proxyWorkers) ];
        volumeMounts = [ { name = "config"; mountPath = "/etc/envoy"; } ];
      }
    ];
    volumes = [ { name = "config"; configMap.name = "proxy-${port}"; } ];
  };

  configMap = pod: proxy: {
    apiVersion = "v1";
    kind = "ConfigMap";
    metadata = { name = "proxy-${pod}"; inherit (cfg) namespace; };
    data."envoy.json" = builtins.toJSON proxy;
  };

  arm = layer:
    let pair = proxies layer; in
    {
      inherit layer;
      mtls = false;
      manifests = workload.file "plain-proxy-${layer}" (workload.arm {
        server = sidecar "server";
        client = sidecar "client";
        more = [
          (configMap "server" pair.server)
          (configMap "client" pair.client)
          # With an address of its own, which is there before the pod: of a name without one, the cluster's DNS
          # server would remember for half a minute that there was nobody.
          (workload.service {
            name = "proxy";
            selector.app = "server";
            ports = [ { name = "proxy"; port = serverPort; } { name = "round-trip"; port = roundTrip.serverPort; } ];
          })
        ];
      });
      call = { address = "local"; port = clientPort; };
      roundTrip = workload.roundTrip layer "local" roundTrip.clientPort;
    };
in
{
  config = mkIf config.services.http.enable {
    images."tare.local/envoy:1.36.2" = mkDefault packages.image-envoy;

    meshes.plain-proxy = {
      title = "a pair of Envoys, no mesh";
      version = "1.36.2";
      sidecar.container = "proxy";
      arms = { plain-proxy-l4 = arm "l4"; plain-proxy-l7 = arm "l7"; };
    };
  };
}
