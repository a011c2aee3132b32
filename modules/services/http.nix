# An HTTP server in one pod and its client in another, on nodes of their own: what a layer between them costs.
{ config, lib, packages, ... }:
let
  inherit (builtins) attrNames attrValues baseNameOf filter foldl' mapAttrs unsafeDiscardStringContext;
  inherit (lib) mkDefault mkIf mkOption types;

  cfg = config.services.http;

  arms = foldl' (all: mesh: all // mesh.arms) { } (attrValues config.meshes);
  runnable = removeAttrs arms (filter (name: arms.${name}.manifests == null) (attrNames arms));

  metric = unit: better: description: {
    unit = mkDefault unit;
    better = mkDefault better;
    description = mkDefault description;
  };

  node = role: default: mkOption {
    type = types.str;
    inherit default;
    example = "left";
    description = "The node on which the ${role}'s pod runs.";
  };
in
{
  options.services.http = {
    enable = mkOption {
      type = types.bool;
      default = false;
      example = true;
      description = "Whether the lab has an HTTP server and its client.";
    };

    namespace = mkOption {
      type = types.str;
      default = "http";
      example = "bench";
      description = "The Kubernetes namespace of both pods.";
    };

    server = {
      node = node "server" "server";

      image = mkOption {
        type = types.str;
        default = "tare.local/http-server:1.22.1";
        example = "tare.local/http-server:1.26.0";
        description = "The server's image; one of `images`.";
      };

      workers = mkOption {
        type = types.positiveInt;
        default = 1;
        example = 4;
        description = "How many processes serve requests.";
      };

      httpPort = mkOption {
        type = types.intBetween 1 65535;
        default = 8080;
        example = 80;
        description = "The TCP port that meshes take for HTTP.";
      };

      tcpPort = mkOption {
        type = types.intBetween 1 65535;
        default = 8081;
        example = 9000;
        description = "The TCP port of the same server that meshes take for plain TCP.";
      };

      roundTripPort = mkOption {
        type = types.intBetween 1 65535;
        default = 12866;
        example = 9001;
        description = "The TCP port beside it that answers one byte with one.";
      };

      roundTripProgram = mkOption {
        type = types.enum [ "netperf" "tcp-rr" ];
        default = if packages ? netperf then "netperf" else "tcp-rr";
        defaultText = "netperf, or tcp-rr where lib/pins/debian.toml leaves netperf out";
        example = "tcp-rr";
        description = "What answers single bytes, and measures them: netperf, which Debian has but does not count as free software, or tcp-rr, Tare's own program for the same test.";
      };

      netserverPort = mkOption {
        type = types.intBetween 1 65535;
        default = 12865;
        example = 9002;
        description = "The TCP port beside it at which netperf asks for a test; nobody listens there with tcp-rr.";
      };

      payloadBytes = mkOption {
        type = types.listOf types.positiveInt;
        default = [ 64 1024 65536 ];
        example = [ 64 ];
        description = "The sizes of the files that the server's image holds, each at the path /SIZE, in bytes.";
      };
    };

    client = {
      node = node "client" "client";

      image = mkOption {
        type = types.str;
        default = "tare.local/http-client:1";
        example = "tare.local/http-client:2";
        description = "The image of the pod that loads are started in; one of `images`.";
      };
    };

    proxyWorkers = mkOption {
      type = types.positiveInt;
      default = 2;
      example = 4;
      description = "How many worker threads the proxy of each pod has, in every mesh; two is what Istio and Kuma start by default.";
    };

    readyTimeoutSeconds = mkOption {
      type = types.positiveNumber;
      default = 60;
      example = 180;
      description = "How long a mesh and both pods may take until the client's first call is answered, in seconds.";
    };
  };

  config = mkIf cfg.enable {
    images = {
      "tare.local/http-server:1.22.1" = mkDefault packages.image-http-server;
      "tare.local/http-client:1" = mkDefault packages.image-http-client;
    }
    // (if cfg.server.roundTripProgram != "netperf" || !(packages ? image-netserver) then { } else {
      "tare.local/netserver:2.7.0" = mkDefault packages.image-netserver;
    });

    experiment = {
      service = mkDefault "http";

      factors = {
        arm = {
          levels = mkDefault [ "none" ];
          scope = mkDefault "deployment";
          # Arms with the same manifests differ in the port that is called alone.
          deployments = mkDefault (mapAttrs (_: arm: unsafeDiscardStringContext (baseNameOf arm.manifests)) runnable);
          description = mkDefault "What is between client and server: nothing, a pair of proxies, or a mesh; its layer, and whether it encrypts.";
        };
        payload_bytes = {
          levels = mkDefault [ 64 ];
          scope = mkDefault "run";
          unit = mkDefault "B";
          description = mkDefault "The size of a response's body.";
        };
        connection = {
          levels = mkDefault [ "keep-alive" ];
          scope = mkDefault "run";
          description = mkDefault "Whether the client keeps its connections, or opens one for each request and so pays for handshakes.";
        };
      };

      metrics = {
        cpu_per_request = metric "s" "lower" "CPU time of all of the service's containers for each request that succeeded.";
        cpu_per_request_client_proxy = metric "s" "lower" "CPU time of the client's proxy for each request.";
        cpu_per_request_server_proxy = metric "s" "lower" "CPU time of the server's proxy for each request.";
        cpu_per_request_server = metric "s" "lower" "CPU time of the server for each request.";
        cpu_control_plane = metric "cpu" "lower" "CPUs that the mesh's control plane used on average.";
        memory_client_proxy = metric "B" "lower" "Memory of the client's proxy on average.";
        memory_server_proxy = metric "B" "lower" "Memory of the server's proxy on average.";
        memory_control_plane = metric "B" "lower" "Memory of the mesh's control plane on average.";
      };
    };
  };
}
