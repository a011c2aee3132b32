# What the lab is called.
{ lib, ... }:
let
  inherit (lib) mkOption types;
in
{
  options = {
    name = mkOption {
      type = types.strMatching {
        pattern = "[a-z]([-a-z0-9]{0,30}[a-z0-9])?";
        description = "a short name of small letters, digits and hyphens";
        sample = "kata-hlf";
      };
      example = "kata-hlf";
      description = "The name of the lab on the command line, in its state directory and in its results.";
    };

    title = mkOption {
      type = types.str;
      default = "";
      example = "Hyperledger Fabric in secure containers";
      description = "The heading of the lab's reports.";
    };
  };
}
