# The module evaluator, on builtins alone. `lib` is also what modules receive under that name.
let
  ipv4 = import ./ipv4.nix;
  nearest = import ./nearest.nix;
  properties = import ./properties.nix;
  show = import ./show.nix;
  plain = import ./evaluate.nix { inherit nearest properties show; };
  evaluate = { modules, arguments ? { }, path ? [ ] }:
    plain { inherit modules path; arguments = { inherit lib; } // arguments; };

  lib = {
    inherit evaluate ipv4 nearest show;
    inherit (properties) mkDefault mkForce mkIf mkMerge;
    types = import ./types.nix { inherit evaluate ipv4 nearest properties show; };

    /**
      Declare an option. Every option says what it controls and shows an example that is not its default.

      Inputs: type; description; example; default, without which the option must be set; defaultText, for a
      default that reads other options.
      Type: { type, description, example, default ? , defaultText ? } -> Option
      Example: mkOption { type = types.positiveInt; default = 2; example = 5; description = "Number of blocks."; }
    */
    mkOption = { type, description, example, default ? null, defaultText ? null }@option: option // { _type = "option"; };
  };
in
lib
