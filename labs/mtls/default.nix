# What mutual TLS costs in service meshes: the study in paper.toml, taken apart into hop, layer and encryption.
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
    load = "wrk";
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
