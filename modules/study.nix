# The published study that the lab repeats.
{ lib, ... }:
let
  inherit (lib) mkOption types;

  figure.options = {
    metric = mkOption {
      type = types.str;
      example = "goodput";
      description = "The metric of the experiment that the figure is about.";
    };

    levels = mkOption {
      type = types.attrsOf (types.oneOf [ types.str types.number ]);
      example = { runtime = "kata"; total_cpus = 2; };
      description = "The levels at which the study measured it; cells that have all of them are shown beside it.";
    };

    ratio = mkOption {
      type = types.positiveNumber;
      example = 0.62;
      description = "The figure as a ratio to the study's own baseline.";
    };

    quote = mkOption {
      type = types.str;
      example = "equal_shares.throughput_change_2cpu = -0.3802";
      description = "The figure as the study or its transcript gives it.";
    };
  };

  study.options = {
    title = mkOption {
      type = types.str;
      example = "Performance Analysis of Hyperledger Fabric Based on Secure Containers";
      description = "The title of the study.";
    };

    authors = mkOption {
      type = types.listOf types.str;
      example = [ "Chuck Yoo" ];
      description = "Its authors, in the order of the title page.";
    };

    figures = mkOption {
      type = types.listOf (types.submodule figure);
      default = [ ];
      example = [{ metric = "goodput"; levels.runtime = "kata"; ratio = 0.62; quote = "38 % less"; }];
      description = "Its figures that the lab's results are held beside.";
    };
  };
in
{
  options.study = mkOption {
    type = types.nullOr (types.submodule study);
    default = null;
    example = { title = "A study"; authors = [ "A. Uthor" ]; };
    description = "The study that the lab repeats, shown beside the lab's own figures.";
  };
}
