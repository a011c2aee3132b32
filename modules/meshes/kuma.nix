# Kuma in its Kubernetes mode: its webhook adds the sidecar. The study had 2.9.0; 2.9.2 is the one of that line that
# can be had as source.
{ config, lib, packages, ... }:
let
  inherit (lib) mkDefault mkIf;
  workload = import ./workload.nix { inherit config; };

  # One mesh for each way, so that an arm never waits for the other's certificates to go away.
  mesh = mtls: if mtls then "encrypted" else "plain";
  policies = mtls: [
    {
      apiVersion = "kuma.io/v1alpha1";
      kind = "Mesh";
      metadata.name = mesh mtls;
      spec =
        if mtls then {
          mtls = { enabledBackend = "builtin"; backends = [ { name = "builtin"; type = "builtin"; mode = "STRICT"; } ]; };
        }
        else { };
    }
  ]
  ++ (if !mtls then [ ] else [
    # With mutual TLS, nobody may call anybody unless it is said.
    {
      apiVersion = "kuma.io/v1alpha1";
      kind = "MeshTrafficPermission";
      metadata = { name = "all"; namespace = "kuma-system"; labels."kuma.io/mesh" = mesh mtls; };
      spec = { targetRef.kind = "Mesh"; from = [ { targetRef.kind = "Mesh"; default.action = "Allow"; } ]; };
    }
    # A calling Envoy goes no higher than TLS 1.2 unless it is told to, as Istio tells it.
    {
      apiVersion = "kuma.io/v1alpha1";
      kind = "MeshTLS";
      metadata = { name = "latest"; namespace = "kuma-system"; labels."kuma.io/mesh" = mesh mtls; };
      spec = {
        targetRef.kind = "Mesh";
        from = [ { targetRef.kind = "Mesh"; default.tlsVersion = { min = "TLS13"; max = "TLS13"; }; } ];
      };
    }
  ]);

  injected = mtls: pod: pod // {
    labels = { "kuma.io/sidecar-injection" = "enabled"; "kuma.io/mesh" = mesh mtls; };
    annotations."kuma.io/sidecar-proxy-concurrency" = toString workload.cfg.proxyWorkers;
  };

  arm = layer: mtls: {
    inherit layer mtls;
    manifests = workload.file "kuma${if mtls then "-mtls" else ""}" (workload.arm {
      server = injected mtls;
      client = injected mtls;
    });
    call = { address = "service"; port = workload.portOf layer; };
    roundTrip = workload.roundTrip layer "service" workload.cfg.server.roundTripPort;
  };
in
{
  config = mkIf config.services.http.enable {
    images = {
      "tare.local/kuma-cp:2.9.2" = mkDefault packages.image-kuma-cp;
      "tare.local/kuma-dp:2.9.2" = mkDefault packages.image-kuma-dp;
      "tare.local/kuma-init:2.9.2" = mkDefault packages.image-kuma-init;
    };

    meshes.kuma = {
      title = "Kuma";
      version = "2.9.2";
      controlPlane = {
        namespace = "kuma-system";
        program = "${packages.kuma-manifests}/bin/control-plane";
        deployments = [ "kuma-control-plane" ];
        configuration = workload.file "kuma" (policies false ++ policies true);
      };
      sidecar = { container = "kuma-sidecar"; uid = 5678; };
      arms = {
        kuma-l4 = arm "l4" false;
        kuma-l4-mtls = arm "l4" true;
        kuma-l7 = arm "l7" false;
        kuma-l7-mtls = arm "l7" true;
      };
    };
  };
}
