# No mesh: the client calls the service, as Kubernetes routes it.
{ config, lib, ... }:
let
  inherit (lib) mkIf;
  workload = import ./workload.nix { inherit config; };
in
{
  config = mkIf config.services.http.enable {
    meshes.none = {
      title = "no mesh";
      arms.none = {
        layer = null;
        mtls = false;
        manifests = workload.file "none" (workload.arm { });
        call = { address = "service"; port = workload.cfg.server.httpPort; };
        roundTrip = workload.roundTrip null "service" workload.cfg.server.roundTripPort;
      };
    };
  };
}
