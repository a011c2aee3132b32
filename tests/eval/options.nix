# Every option of Tare explains itself; an example of a wrong type stops the documentation.
let
  inherit (builtins) concatMap filter isString length match stringLength toJSON;
  inherit (import ./expect.nix) equal;
  inherit (import ../../lib/eval/mk-lab.nix { modules = [ ]; packages = import ./packages.nix; }) options;

  suffixOf = path: let parts = match "(.*[.])?([^.]+)" path; in builtins.elemAt parts 1;
  # An option with one value so far has no other to show.
  onlyValue = option: option.default != null && option.type == "one of ${option.default}";
  check = option:
    equal "${option.path} has a description that is a sentence" (match "[A-Z].*[.]" option.description != null) true
    ++ equal "${option.path} has an example that is not its default" (onlyValue option || option.example != option.default) true
    ++ equal "${option.path} is camelCase" (match "[a-z][A-Za-z0-9]*|<name>|[*]" (suffixOf option.path) != null) true
    ++ equal "${option.path} is declared in modules/" (match "modules/.*[.]nix" option.declared_in != null) true
    ++ equal "${option.path} names its type" (stringLength option.type > 0) true;

  named = path: filter (option: option.path == path) options;
in
concatMap check options
++ equal "there are options" (length options > 50) true
++ equal "they are data" (isString (toJSON options)) true
++ equal "a package reads as its name" (map (option: option.default) (named "services.fabric.sampleConfig")) [ "\"\${packages.fabric-sampleconfig}/sampleconfig\"" ]
++ equal "options inside sets are there" (map (option: option.default) (named "nodes.<name>.cpuWeight")) [ "1" ]
