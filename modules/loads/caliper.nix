# Hyperledger Caliper: sends transactions at a fixed rate and times each until it is committed.
{ config, lib, packages, ... }:
let
  inherit (lib) mkDefault mkIf mkOption types;

  cfg = config.loads.caliper;
  metric = unit: better: description: {
    unit = mkDefault unit;
    better = mkDefault better;
    description = mkDefault description;
  };
in
{
  options.loads.caliper = {
    enable = mkOption {
      type = types.bool;
      default = false;
      example = true;
      description = "Whether the lab drives its service with Caliper.";
    };

    node = mkOption {
      type = types.str;
      default = "client";
      example = "load";
      description = "The node on which Caliper runs; not the one it measures.";
    };

    workers = mkOption {
      type = types.positiveInt;
      default = 1;
      example = 4;
      description = "How many processes share the send rate.";
    };

    nativeSigning = mkOption {
      type = types.bool;
      default = false;
      example = true;
      description = "Whether the client signs with OpenSSL instead of JavaScript. It is faster, and no longer the stock client: reports say so.";
    };

    nodejs = mkOption {
      type = types.path;
      default = "${packages.nodejs}/bin/node";
      example = "/opt/node/bin/node";
      description = "The Node.js program.";
    };

    modules = mkOption {
      type = types.path;
      default = "${packages.caliper}/node_modules";
      example = "/opt/caliper/node_modules";
      description = "The folder node_modules with Caliper and its Fabric binding.";
    };

    workload = mkOption {
      type = types.nullOr types.path;
      default = null;
      example = ./workload;
      description = "The folder of JavaScript that says what a transaction is; Caliper needs one.";
    };
  };

  config = mkIf cfg.enable {
    experiment = {
      loads = mkDefault [ "caliper" ];

      factors.send_rate = {
        levels = mkDefault [ 50 ];
        scope = mkDefault "run";
        unit = mkDefault "tx/s";
        description = mkDefault "Transactions that the client offers each second.";
      };

      metrics = {
        sent_rate = metric "tx/s" "higher" "Transactions that the client really sent each second; below the offered rate, the client is the bottleneck.";
        goodput = metric "tx/s" "higher" "Transactions committed successfully each second.";
        failures = metric "1" "lower" "The share of transactions that failed, from 0 to 1.";
        latency_mean = metric "s" "lower" "Mean time from sending a transaction to its commit, successes only.";
        latency_p50 = metric "s" "lower" "Median of that time.";
        latency_p95 = metric "s" "lower" "95th percentile of that time.";
        latency_p99 = metric "s" "lower" "99th percentile of that time.";
        client_cpu = metric "cpu" "lower" "CPUs that the client used on average.";
      };
    };
  };
}
