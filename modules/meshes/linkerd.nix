# Linkerd: a proxy of its own, in Rust. No registry carries it, so a lab does not depend on it: while its command line
# is not pinned, its arms are not run, and the report says why. It encrypts always.
{ config, lib, packages, ... }:
let
  inherit (lib) mkDefault mkIf;
  workload = import ./workload.nix { inherit config; };
  inherit (workload) cfg;
  pin = (builtins.fromTOML (builtins.readFile ../../lib/pins/upstream.toml)).linkerd;
  root = if packages ? linkerd then builtins.unsafeDiscardStringContext "${packages.linkerd}" else null;
  program = name: if root == null then null else "${root}/bin/${name}";

  # Whoever has no certificate of the mesh is refused; a port that is opaque is forwarded as bytes.
  injected = layer: pod: pod // {
    annotations = {
      "linkerd.io/inject" = "enabled";
      "config.linkerd.io/default-inbound-policy" = "all-authenticated";
      "config.linkerd.io/proxy-cpu-limit" = toString cfg.proxyWorkers;
    } // (if layer == "l7" then { } else {
      "config.linkerd.io/opaque-ports" = builtins.concatStringsSep ","
        (map toString [ cfg.server.tcpPort cfg.server.roundTripPort cfg.server.netserverPort ]);
    });
  };

  arm = layer: {
    inherit layer;
    mtls = true;
    manifests = workload.file "linkerd-${layer}-mtls" (workload.arm {
      server = injected layer;
      client = injected layer;
    });
    call = { address = "service"; port = workload.portOf layer; };
    roundTrip = workload.roundTrip layer "service" workload.cfg.server.roundTripPort;
  };
in
{
  config = mkIf config.services.http.enable {
    meshes.linkerd = {
      title = "Linkerd";
      version = mkDefault pin.version;
      controlPlane = {
        namespace = "linkerd";
        program = program "control-plane";
        deployments = [ "linkerd-destination" "linkerd-identity" "linkerd-proxy-injector" ];
      };
      inject = program "inject";
      sidecar = { container = "linkerd-proxy"; uid = 2102; };
      arms = { linkerd-l4-mtls = arm "l4"; linkerd-l7-mtls = arm "l7"; };
      upstream = {
        name = mkDefault "linkerd";
        version = mkDefault pin.version;
        url = mkDefault pin.url;
        sha256 = mkDefault (pin.sha256 or null);
        path = mkDefault root;
      };
    };
  };
}
