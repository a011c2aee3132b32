# Vegeta: sends HTTP requests at a constant rate, whether or not earlier ones were answered, so that a slow answer
# delays no other request and latency is not flattered.
{ config, lib, packages, ... }:
let
  inherit (lib) mkDefault mkIf mkOption types;

  cfg = config.loads.vegeta;
  metric = unit: better: description: {
    unit = mkDefault unit;
    better = mkDefault better;
    description = mkDefault description;
  };
in
{
  options.loads.vegeta = {
    enable = mkOption {
      type = types.bool;
      default = false;
      example = true;
      description = "Whether the lab drives its service with Vegeta.";
    };

    program = mkOption {
      type = types.path;
      default = "${packages.vegeta}/bin/vegeta";
      example = "/opt/vegeta/bin/vegeta";
      description = "The program.";
    };

    connections = mkOption {
      type = types.positiveInt;
      default = 8;
      example = 64;
      description = "How many connections there are at most; a request that finds none free waits for one, which is part of its latency.";
    };

    timeoutSeconds = mkOption {
      type = types.positiveNumber;
      default = 10;
      example = 30;
      description = "How long a request may take until it counts as failed, in seconds.";
    };
  };

  config = mkIf cfg.enable {
    experiment = {
      loads = mkDefault [ "vegeta" ];

      factors.load_share = {
        levels = mkDefault [ 0.5 ];
        scope = mkDefault "run";
        description = mkDefault "The rate at which requests are sent, as a share of what the arm can serve at most.";
      };

      # Names of its own: a lab may drive the same service in a closed loop as well.
      metrics = {
        paced_capacity = metric "req/s" "higher" "Requests answered successfully each second when each connection waits for its answer: what load_share is a share of.";
        paced_rate = metric "req/s" "higher" "Requests sent each second; below the rate that was asked for, the generator is the bottleneck.";
        paced_goodput = metric "req/s" "higher" "Requests answered successfully each second at that rate.";
        paced_failures = metric "1" "lower" "The share of requests that failed at that rate, from 0 to 1.";
        paced_latency_mean = metric "s" "lower" "Mean time from when a request was due to its answer, at a constant rate; successes only.";
        paced_latency_p50 = metric "s" "lower" "Median of that time.";
        paced_latency_p95 = metric "s" "lower" "95th percentile of that time.";
        paced_latency_p99 = metric "s" "lower" "99th percentile of that time.";
        paced_client_cpu = metric "cpu" "lower" "CPUs that the generator used on average at that rate.";
      };
    };
  };
}
