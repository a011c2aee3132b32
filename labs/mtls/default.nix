# What mutual TLS costs in service meshes: the study in paper.toml, taken apart into hop, layer and encryption.
let
  step = cause: level: { inherit cause level; };
  # What every path through proxies costs, whoever's they are.
  forwarding = {
    l4 = [ (step "hop" "plain-proxy-l4") ];
    l7 = [ (step "hop" "plain-proxy-l4") (step "layer" "plain-proxy-l7") ];
  };
  # A mesh whose mutual TLS can be switched off, and one that is never without.
  bothWays = mesh: layer: forwarding.${layer} ++ [ (step "mesh" "${mesh}-${layer}") (step "encryption" "${mesh}-${layer}-mtls") ];
  encrypted = mesh: layer: forwarding.${layer} ++ [ (step "mesh and encryption" "${mesh}-${layer}-mtls") ];
in
{
  imports = [ ./study.nix ];

  name = "mtls";
  title = "Mutual TLS in service meshes";

  nodes = {
    server = { };
    client = { };
  };

  services.http.enable = true;
  loads = {
    tcpRr.enable = true;
    vegeta.enable = true;
    wrk.enable = true;
  };

  experiment = {
    loads = [ "wrk" "tcp_rr" "vegeta" ];
    compare = "arm";
    baseline = "none";
    blocks = 4;
    # A path through proxies is warm within a second, for it was asked for requests before.
    warmupSeconds = 1;
    durationSeconds = 3;
    factors = {
      arm.levels = [
        "none"
        "plain-proxy-l4"
        "plain-proxy-l7"
        "istio-l4"
        "istio-l4-mtls"
        "istio-l7"
        "istio-l7-mtls"
        "kuma-l4"
        "kuma-l4-mtls"
        "kuma-l7"
        "kuma-l7-mtls"
        "consul-l4-mtls"
        "consul-l7-mtls"
        "linkerd-l4-mtls"
        "linkerd-l7-mtls"
      ];
      load_share.levels = [ 0.5 ];
    };

    attributions = {
      istio-l4-mtls = bothWays "istio" "l4";
      istio-l7-mtls = bothWays "istio" "l7";
      kuma-l4-mtls = bothWays "kuma" "l4";
      kuma-l7-mtls = bothWays "kuma" "l7";
      consul-l4-mtls = encrypted "consul" "l4";
      consul-l7-mtls = encrypted "consul" "l7";
      linkerd-l4-mtls = encrypted "linkerd" "l4";
      linkerd-l7-mtls = encrypted "linkerd" "l7";
    };

    profiles = {
      quick = {
        description = "Two meshes, a few seconds each: whether everything works, and a first figure.";
        blocks = 2;
        durationSeconds = 2;
        levels = {
          arm = [ "none" "plain-proxy-l7" "istio-l7" "istio-l7-mtls" "consul-l7-mtls" ];
          load_share = [ 0.5 ];
        };
      };
      study = {
        description = "Every size of response, with and without handshakes; for a machine with eight CPUs or more.";
        blocks = 5;
        durationSeconds = 60;
        levels = {
          payload_bytes = [ 64 1024 65536 ];
          connection = [ "keep-alive" "close" ];
          load_share = [ 0.5 0.8 ];
        };
      };
    };
  };
}
