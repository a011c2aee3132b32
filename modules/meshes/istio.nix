# Istio, its sidecar injected when the lab runs by the program that its webhook runs. Its Envoy is upstream's, without
# the filters that only Istio builds: figures are labelled so.
{ config, lib, packages, ... }:
let
  inherit (lib) mkDefault mkIf;
  workload = import ./workload.nix { inherit config; };
  inherit (workload) cfg;

  authentication = mode: {
    apiVersion = "security.istio.io/v1";
    kind = "PeerAuthentication";
    metadata = { name = "default"; inherit (cfg) namespace; };
    spec.mtls = { inherit mode; };
  };

  injected = pod: pod // {
    annotations."proxy.istio.io/config" = builtins.toJSON { concurrency = cfg.proxyWorkers; };
  };

  arm = layer: mtls: {
    inherit layer mtls;
    manifests = workload.file "istio${if mtls then "-mtls" else ""}" (workload.arm {
      server = injected;
      client = injected;
      more = [ (authentication (if mtls then "STRICT" else "DISABLE")) ];
    });
    call = { address = "service"; port = workload.portOf layer; };
    roundTrip = workload.roundTrip layer "service" workload.cfg.server.roundTripPort;
  };
in
{
  config = mkIf config.services.http.enable {
    images = {
      "tare.local/pilot:1.25.1" = mkDefault packages.image-istio-pilot;
      "tare.local/proxyv2:1.25.1" = mkDefault packages.image-istio-proxyv2;
    };

    meshes.istio = {
      title = "Istio (upstream Envoy)";
      version = "1.25.1";
      controlPlane = {
        namespace = "istio-system";
        manifests = "${packages.istio-manifests}/control-plane.yaml";
        deployments = [ "istiod" ];
      };
      inject = "${packages.istio-manifests}/bin/inject";
      sidecar = { container = "istio-proxy"; uid = 1337; };
      arms = {
        istio-l4 = arm "l4" false;
        istio-l4-mtls = arm "l4" true;
        istio-l7 = arm "l7" false;
        istio-l7-mtls = arm "l7" true;
      };
    };
  };
}
