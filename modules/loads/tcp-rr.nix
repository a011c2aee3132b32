# One byte there and one back on one connection, one at a time: netperf's TCP_RR, or Tare's own program that does the
# same (services.http.server.roundTripProgram).
{ config, lib, packages, ... }:
let
  inherit (lib) mkDefault mkIf mkOption types;

  cfg = config.loads.tcpRr;
  metric = unit: better: description: {
    unit = mkDefault unit;
    better = mkDefault better;
    description = mkDefault description;
  };
in
{
  options.loads.tcpRr = {
    enable = mkOption {
      type = types.bool;
      default = false;
      example = true;
      description = "Whether the lab measures the round trip of single bytes.";
    };

    program = mkOption {
      type = types.path;
      default = "${packages.tcp-rr}";
      example = "/opt/tcp-rr";
      description = "The program tcp-rr, which takes the place of netperf.";
    };

    netperf = mkOption {
      type = types.nullOr types.path;
      default = if packages ? netperf then "${packages.netperf}/usr/bin/netperf" else null;
      defaultText = "\"${packages.netperf}/usr/bin/netperf\"";
      example = "/opt/netperf/bin/netperf";
      description = "The program netperf, version 2.7.0; null where lib/pins/debian.toml leaves it out.";
    };
  };

  config = mkIf cfg.enable {
    experiment = {
      loads = mkDefault [ "tcp_rr" ];

      metrics = {
        round_trip_rate = metric "1/s" "higher" "Single bytes sent and answered each second, one at a time.";
        round_trip_mean = metric "s" "lower" "Mean time of a byte there and a byte back.";
        round_trip_p50 = metric "s" "lower" "Median of that time.";
        round_trip_p90 = metric "s" "lower" "90th percentile of that time.";
        round_trip_p99 = metric "s" "lower" "99th percentile of that time.";
        round_trip_client_cpu = metric "cpu" "lower" "CPUs that its client used on average.";
      };
    };
  };
}
