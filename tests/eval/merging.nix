# How definitions of several modules become one value.
let
  lib = import ../../lib/eval;
  inherit (lib) mkDefault mkForce mkIf mkMerge mkOption types;
  inherit (import ./expect.nix) equal stops;

  option = type: default: mkOption { inherit type default; example = default; description = "An option."; };

  declarations = {
    options = {
      count = option types.int 0;
      names = option (types.listOf types.str) [ ];
      sizes = option (types.attrsOf types.int) { };
      maybe = option (types.nullOr (types.listOf types.int)) null;
      nodes = option (types.attrsOf (types.submodule ({ name, config, ... }: {
        options.cpus = option types.int 1;
        options.label = option types.str "${name} with ${toString config.cpus}";
      }))) { };
      nested.flag = option types.bool false;
    };
  };

  config = modules: (lib.evaluate { modules = [ declarations ] ++ modules; }).config;
  errors = modules: map lib.show.error (lib.evaluate { modules = [ declarations ] ++ modules; }).errors;
in
builtins.concatLists [
  (equal "a default" (config [ ]).count 0)
  (equal "a definition" (config [{ count = 1; }]).count 1)
  (equal "equal definitions agree" (config [{ count = 1; } { count = 1; }]).count 1)
  (equal "mkDefault yields" (config [{ count = mkDefault 1; } { count = 2; }]).count 2)
  (equal "mkForce wins" (config [{ count = mkForce 1; } { count = 2; }]).count 1)
  (equal "mkForce over mkDefault" (config [{ count = mkDefault 1; } { count = mkForce 3; } { count = 2; }]).count 3)
  (equal "mkForce on a whole set" (config [{ nested = mkForce { flag = true; }; } { nested.flag = false; }]).nested.flag true)
  (equal "lists are put together" (config [{ names = [ "a" ]; } { names = [ "b" ]; }]).names [ "a" "b" ])
  (equal "mkForce replaces a list" (config [{ names = [ "a" ]; } { names = mkForce [ "b" ]; }]).names [ "b" ])
  (equal "mkIf in a list" (config [{ names = [ "a" (mkIf false "b") (mkIf true "c") ]; }]).names [ "a" "c" ])
  (equal "sets are merged by name" (config [{ sizes.a = 1; } { sizes.b = 2; }]).sizes { a = 1; b = 2; })
  (equal "priorities by name" (config [{ sizes = { a = mkDefault 1; b = mkDefault 1; }; } { sizes.b = 2; }]).sizes { a = 1; b = 2; })
  (equal "mkIf by name" (config [{ sizes = { a = 1; b = mkIf false 2; }; }]).sizes { a = 1; })
  (equal "mkMerge" (config [{ sizes = mkMerge [ { a = 1; } (mkIf true { b = 2; }) (mkIf false { c = 3; }) ]; }]).sizes { a = 1; b = 2; })
  (equal "mkMerge of a module" (config [{ config = mkMerge [ { count = 1; } { names = [ "a" ]; } ]; }]).names [ "a" ])
  (equal "null and nothing else" (config [{ maybe = null; }]).maybe null)
  (equal "lists that may be null" (config [{ maybe = [ 1 ]; } { maybe = [ 2 ]; }]).maybe [ 1 2 ])
  (equal "submodules over modules" (config [{ nodes.a.cpus = 2; } { nodes = { a = { }; b = { }; }; }]).nodes {
    a = { cpus = 2; label = "a with 2"; };
    b = { cpus = 1; label = "b with 1"; };
  })
  (equal "a condition on another option" (config [ ({ config, ... }: { config = mkIf config.nested.flag { count = 7; }; }) { nested.flag = true; } ]).count 7)
  (equal "a condition beside what it reads" (config [ ({ config, lib, ... }: { config = lib.mkIf (config.count == 1) { nested.flag = true; }; }) { count = 1; } ]).nested.flag true)
  (equal "imports" (config [{ imports = [{ count = 1; } { imports = [{ names = [ "a" ]; }]; names = [ "b" ]; }]; }]) (config [{ count = 1; names = [ "a" "b" ]; }]))
  (equal "a file imported twice counts once" (config [{ imports = [ ./fixtures/named.nix ]; } ./fixtures/named.nix]).names [ "named" ])
  (equal "a module that takes everything" (config [ (arguments: { count = if arguments ? config then 1 else 2; }) ]).count 1)
  (equal "sound modules have no errors" (errors [{ count = 1; nodes.a = { }; }]) [ ])
  (equal "a wrong value does no harm elsewhere" (config [{ count = "x"; names = [ "a" ]; }]).names [ "a" ])
  (stops "a wrong value is never handed out" (config [{ count = "x"; }]).count)
  (stops "nor is a wrong part" (config [{ sizes.a = "x"; }]).sizes.a)
  (equal "but the sound parts are" (config [{ sizes = { a = "x"; b = 2; }; }]).sizes.b 2)
]
