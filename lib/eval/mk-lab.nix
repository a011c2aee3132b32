let
  lib = import ./.;
  inherit (builtins) floor isAttrs isFloat isList mapAttrs;

  # What stands for the packages where only their names matter.
  named = mapAttrs (name: _: { outPath = "\${packages.${name}}"; reference = "packages.${name}"; });

  # Nix 2.8 writes six digits of a float, later versions all; some write 1.0, others 1. lab.json is the same under
  # all of them: whole numbers are integers, and others keep six digits.
  decimals = size: if size < 1 then 1000000.0 else decimals (size / 10.0) / 10;
  rounded = value: let scale = decimals (if value < 0 then -value else value); in floor (value * scale + 0.5) / scale;
  steady = value:
    if isAttrs value then mapAttrs (_: steady) value
    else if isList value then map steady value
    else if !(isFloat value) then value
    else if floor value == value then floor value
    else rounded value;
in
/**
  A lab from its modules: the manifest that the runtime reads, or every mistake in them at once.

  Inputs:
    modules   paths, functions or sets; Tare's own are added
    packages  the packages the lab is made of, by name; only those that it needs are ever evaluated
  Result:
    config        the merged options
    errors        every mistake, one a line; empty when the lab is sound
    manifest      lab.json as a set; throws all errors
    manifestText  lab.json as a string that carries its store paths
    options       every option as data: { path, type, default, description, example, declared_in }
  Type: mkLab :: { modules : [Module]; packages : { name -> Package }; } -> Lab
  Example: (mkLab { modules = [ ./labs/kata-hlf ]; inherit packages; }).manifest.name => "kata-hlf"
*/
{ modules, packages }:
let
  own = import ../../modules;
  evaluated = lib.evaluate { modules = own ++ modules; arguments = { inherit packages; }; };
  errors = map lib.show.error evaluated.errors;
  manifest =
    if errors == [ ] then steady (import ../../modules/manifest.nix evaluated.config)
    else throw (lib.show.report errors);
in
{
  inherit (evaluated) config;
  inherit errors manifest;
  manifestText = builtins.toJSON manifest;
  options = (lib.evaluate { modules = own; arguments.packages = named packages; }).documentation;
}
