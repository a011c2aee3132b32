# What is varied, what is measured and how often.
{ lib, ... }:
let
  inherit (lib) mkOption types;

  level = types.oneOf [ types.str types.number ];

  factor.options = {
    levels = mkOption {
      type = types.listOf level;
      example = [ "runc" "gvisor" ];
      description = "The levels that are measured, in the order of the report.";
    };

    scope = mkOption {
      type = types.enum [ "deployment" "run" ];
      default = "run";
      example = "deployment";
      description = "Whether another level means deploying anew, or can be set on what runs.";
    };

    deployments = mkOption {
      type = types.attrsOf types.str;
      default = { };
      example = { istio-l4 = "istio"; istio-l7 = "istio"; };
      description = "The names of what is deployed for levels; those of one name are measured on one deployment, one after the other. A level without a name is deployed for itself.";
    };

    unit = mkOption {
      type = types.nullOr types.str;
      default = null;
      example = "tx/s";
      description = "The unit of numeric levels.";
    };

    description = mkOption {
      type = types.str;
      example = "Transactions that the client offers each second.";
      description = "What the factor is, in one sentence.";
    };
  };

  metric.options = {
    unit = mkOption {
      type = types.str;
      example = "tx/s";
      description = "The unit; a base unit, which reports scale.";
    };

    better = mkOption {
      type = types.enum [ "higher" "lower" ];
      example = "higher";
      description = "Which direction is the good one.";
    };

    description = mkOption {
      type = types.str;
      example = "Transactions committed successfully each second.";
      description = "What the metric is, in one sentence.";
    };
  };

  profile.options = {
    description = mkOption {
      type = types.str;
      example = "As in the study.";
      description = "What the profile is for.";
    };

    blocks = mkOption {
      type = types.nullOr types.positiveInt;
      default = null;
      example = 5;
      description = "Replaces experiment.blocks.";
    };

    warmupSeconds = mkOption {
      type = types.nullOr types.nonNegativeNumber;
      default = null;
      example = 10;
      description = "Replaces experiment.warmupSeconds.";
    };

    durationSeconds = mkOption {
      type = types.nullOr types.positiveNumber;
      default = null;
      example = 60;
      description = "Replaces experiment.durationSeconds.";
    };

    levels = mkOption {
      type = types.attrsOf (types.listOf level);
      default = { };
      example = { send_rate = [ 300 400 ]; };
      description = "Replaces the levels of the factors it names.";
    };
  };

  step.options = {
    cause = mkOption {
      type = types.str;
      example = "encryption";
      description = "What the level adds to the one before it, in a word or two.";
    };

    level = mkOption {
      type = level;
      example = "istio-l7-mtls";
      description = "The level of the compared factor that has the cause added.";
    };
  };

  secondSide.options = {
    serviceNode = mkOption {
      type = types.str;
      example = "fabric-2";
      description = "The node on which the service stands a second time.";
    };

    loadNode = mkOption {
      type = types.str;
      example = "client-2";
      description = "The node from which its loads drive it there.";
    };
  };
in
{
  options.experiment = {
    service = mkOption {
      type = types.enum [ "fabric" "http" ];
      defaultText = "the service that is enabled";
      example = "fabric";
      description = "The service under test.";
    };

    loads = mkOption {
      type = types.listOf (types.enum [ "caliper" "tcp_rr" "vegeta" "wrk" ]);
      defaultText = "those that are enabled";
      example = [ "wrk" "vegeta" ];
      description = "The load generators that drive it in each trial, one after the other; each where the deployment can be driven so. The use of resources is that of the first.";
    };

    compare = mkOption {
      type = types.str;
      example = "runtime";
      description = "The factor whose levels are compared, everything else being equal.";
    };

    baseline = mkOption {
      type = level;
      example = "runc";
      description = "The level of that factor that every other is held against.";
    };

    attributions = mkOption {
      type = types.attrsOf (types.listOf (types.submodule step));
      default = { };
      example = {
        istio-l7-mtls = [
          { cause = "hop"; level = "plain-proxy-l7"; }
          { cause = "mesh"; level = "istio-l7"; }
          { cause = "encryption"; level = "istio-l7-mtls"; }
        ];
      };
      description = "Whose cost it is, by the level whose cost is taken apart: the levels from the baseline to it in order, each with the cause that it adds to the one before. The last is the level itself; one that was not measured is left out, and its cause told together with the next.";
    };

    factors = mkOption {
      type = types.attrsOf (types.submodule factor);
      default = { };
      defaultText = "those of the enabled service and load";
      example = { send_rate = { levels = [ 50 100 ]; unit = "tx/s"; description = "Transactions offered each second."; }; };
      description = "What is varied, by the name that tables and results use.";
    };

    metrics = mkOption {
      type = types.attrsOf (types.submodule metric);
      default = { };
      defaultText = "those of the enabled service and load";
      example = { goodput = { unit = "tx/s"; better = "higher"; description = "Transactions committed each second."; }; };
      description = "What is measured, by the name that tables and results use.";
    };

    blocks = mkOption {
      type = types.positiveInt;
      default = 2;
      example = 10;
      description = "How often every combination of levels is measured; an interval needs two blocks or more.";
    };

    warmupSeconds = mkOption {
      type = types.nonNegativeNumber;
      default = 5;
      example = 30;
      description = "How long each measurement runs before it counts, in seconds.";
    };

    durationSeconds = mkOption {
      type = types.positiveNumber;
      default = 15;
      example = 60;
      description = "How long each measurement counts, in seconds.";
    };

    secondSide = mkOption {
      type = types.nullOr (types.submodule secondSide);
      default = null;
      example = { serviceNode = "fabric-2"; loadNode = "client-2"; };
      description = "Nodes for a second deployment of the service, so that an experiment with duet=True can run a level and its baseline at the same moment. They need CPUs of their own, as many as the first side's; null: one side.";
    };

    profiles = mkOption {
      type = types.attrsOf (types.submodule profile);
      default = { };
      example = { study = { description = "As in the study."; blocks = 5; levels.send_rate = [ 300 400 ]; }; };
      description = "Other sizes of the experiment, chosen with --profile.";
    };
  };
}
