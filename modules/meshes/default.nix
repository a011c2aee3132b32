# Service meshes. A backend is one file beside this one that fills one record; labs add their own in the same way.
{ lib, ... }:
let
  inherit (lib) mkOption types;
  upstream = import ../upstream.nix { inherit lib; };

  controlPlane.options = {
    namespace = mkOption {
      type = types.str;
      example = "istio-system";
      description = "The namespace that is made for it.";
    };

    manifests = mkOption {
      type = types.nullOr types.path;
      default = null;
      example = "/opt/istio/control-plane.yaml";
      description = "The file that kubectl applies.";
    };

    program = mkOption {
      type = types.nullOr types.path;
      default = null;
      example = "/opt/kuma/bin/control-plane";
      description = "The program that prints what kubectl applies, instead of a file; for certificates that must be made anew.";
    };

    deployments = mkOption {
      type = types.listOf types.str;
      example = [ "istiod" ];
      description = "The deployments that must be available before any pod of the mesh is made.";
    };

    configuration = mkOption {
      type = types.nullOr types.path;
      default = null;
      example = "/opt/kuma/meshes.yaml";
      description = "The file that kubectl applies once those deployments are available, again until all of it is taken, for what all arms have in common.";
    };
  };

  sidecar.options = {
    container = mkOption {
      type = types.str;
      example = "istio-proxy";
      description = "The name of the container that the proxy runs in; its CPU and memory are the mesh's.";
    };

    uid = mkOption {
      type = types.nullOr types.positiveInt;
      default = null;
      example = 1337;
      description = "The user whose packets are not redirected to the proxy, when packets are redirected.";
    };
  };

  call.options = {
    address = mkOption {
      type = types.enum [ "service" "local" ];
      example = "local";
      description = "Whom the client calls: the service, whose packets are routed or redirected, or a port of its own proxy.";
    };

    port = mkOption {
      type = types.intBetween 1 65535;
      example = 8080;
      description = "The TCP port that the client calls.";
    };
  };

  arm.options = {
    layer = mkOption {
      type = types.nullOr (types.enum [ "l4" "l7" ]);
      default = null;
      example = "l7";
      description = "Whether the proxies forward bytes (l4) or HTTP requests (l7); null without proxies.";
    };

    mtls = mkOption {
      type = types.bool;
      default = false;
      example = true;
      description = "Whether the proxies authenticate each other and encrypt.";
    };

    manifests = mkOption {
      type = types.nullOr types.path;
      default = null;
      example = "/opt/arms/istio-l4.json";
      description = "The pods under test and the mesh's policies, as a file that kubectl applies; null while the mesh cannot run.";
    };

    call = mkOption {
      type = types.submodule call;
      example = { address = "service"; port = 8080; };
      description = "How the client calls the server.";
    };

    roundTrip = mkOption {
      type = types.nullOr (types.submodule call);
      default = null;
      example = { address = "service"; port = 12866; };
      description = "How the client calls what answers each byte by one; null where bytes alone are not forwarded.";
    };
  };

  mesh.options = {
    title = mkOption {
      type = types.str;
      example = "Istio (upstream Envoy)";
      description = "What tables and plots call it.";
    };

    version = mkOption {
      type = types.nullOr types.str;
      default = null;
      example = "1.25.1";
      description = "The version that is measured.";
    };

    controlPlane = mkOption {
      type = types.nullOr (types.submodule controlPlane);
      default = null;
      example = { namespace = "istio-system"; manifests = "/opt/istio/control-plane.yaml"; deployments = [ "istiod" ]; };
      description = "What must run before the pods of the mesh are made; null when nothing must.";
    };

    inject = mkOption {
      type = types.nullOr types.path;
      default = null;
      example = "/opt/istio/bin/inject";
      description = "The program that prints the manifests in a file with sidecars added; null when a webhook adds them, or the manifests have them.";
    };

    sidecar = mkOption {
      type = types.nullOr (types.submodule sidecar);
      default = null;
      example = { container = "istio-proxy"; uid = 1337; };
      description = "The proxy in each pod; null without one.";
    };

    arms = mkOption {
      type = types.attrsOf (types.submodule arm);
      example = { istio-l4 = { layer = "l4"; mtls = true; call = { address = "service"; port = 8081; }; }; };
      description = "The ways in which it is measured, by the names that the factor `arm` gives them.";
    };

    upstream = mkOption {
      type = types.nullOr (types.submodule upstream);
      default = null;
      example = { name = "linkerd"; version = "edge-25.4.1"; url = "https://example.org/linkerd2-cli"; };
      description = "The artifact of the channel `upstream` that the mesh is made of, when no registry carries it.";
    };
  };
in
{
  options.meshes = mkOption {
    type = types.attrsOf (types.submodule mesh);
    default = { };
    defaultText = "none, plain-proxy, istio, consul, kuma and linkerd";
    example = { none = { title = "no mesh"; arms.none.call = { address = "service"; port = 8080; }; }; };
    description = "The service meshes that a lab can compare, and what they are compared with.";
  };
}
