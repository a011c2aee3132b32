# wrk: connections that each send an HTTP request when the last is answered (a closed loop).
{ config, lib, packages, ... }:
let
  inherit (lib) mkDefault mkIf mkOption types;

  cfg = config.loads.wrk;
  metric = unit: better: description: {
    unit = mkDefault unit;
    better = mkDefault better;
    description = mkDefault description;
  };
in
{
  options.loads.wrk = {
    enable = mkOption {
      type = types.bool;
      default = false;
      example = true;
      description = "Whether the lab drives its service with wrk.";
    };

    node = mkOption {
      type = types.str;
      default = "client";
      example = "load";
      description = "The node on which wrk runs; not the one it measures.";
    };

    threads = mkOption {
      type = types.positiveInt;
      default = 1;
      example = 8;
      description = "How many threads share the connections.";
    };

    connections = mkOption {
      type = types.positiveInt;
      default = 8;
      example = 64;
      description = "How many connections are kept busy, a multiple of the threads; the one level of the factor connections unless it is given others.";
    };

    path = mkOption {
      type = types.strMatching { pattern = "/[^[:space:]]*"; description = "a path that begins with a slash"; sample = "/1k"; };
      default = "/";
      example = "/1k";
      description = "What is asked for, at the address of the service.";
    };

    keepAlive = mkOption {
      type = types.bool;
      default = true;
      example = false;
      description = "Whether a connection serves many requests, or is closed after each.";
    };

    timeoutSeconds = mkOption {
      type = types.intBetween 1 60;
      default = 2;
      example = 10;
      description = "After how long an answer counts as failed, in whole seconds.";
    };

    program = mkOption {
      type = types.path;
      default = "${packages.wrk}/usr/bin/wrk";
      example = "/opt/wrk/bin/wrk";
      description = "The program wrk, version 4.1.0, whose corrections the results take back.";
    };

    script = mkOption {
      type = types.path;
      default = "${packages.wrk}/share/wrk/report.lua";
      example = ./report.lua;
      description = "The Lua script that writes what wrk measured.";
    };
  };

  config = mkIf cfg.enable {
    experiment = {
      loads = mkDefault [ "wrk" ];

      factors.connections = {
        levels = mkDefault [ cfg.connections ];
        scope = mkDefault "run";
        description = mkDefault "Connections that are kept busy.";
      };

      metrics = {
        throughput = metric "req/s" "higher" "Requests answered successfully each second.";
        failures = metric "1" "lower" "The share of requests that failed, from 0 to 1.";
        latency_mean = metric "s" "lower" "Mean time from sending a request to the end of its answer.";
        latency_p50 = metric "s" "lower" "Median of that time.";
        latency_p90 = metric "s" "lower" "90th percentile of that time.";
        latency_p99 = metric "s" "lower" "99th percentile of that time.";
        latency_p999 = metric "s" "lower" "99.9th percentile of that time.";
        transfer = metric "B/s" "higher" "Bytes received each second, with the headers.";
        client_cpu = metric "cpu" "lower" "CPUs that the client used on average.";
      };
    };
  };
}
