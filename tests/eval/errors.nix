# The words of every mistake in a module; those of types are in types.nix, those of rules in rules.nix.
let
  lib = import ../../lib/eval;
  inherit (lib) mkOption types;
  inherit (import ./expect.nix) equal stops;

  positive = mkOption { type = types.positiveInt; default = 8; example = 64; description = "Connections."; };
  declarations = {
    _file = "modules/loads/wrk.nix";
    options.loads.wrk = {
      connections = positive;
      node = mkOption { type = types.str; example = "client"; description = "The node."; };
      labels = mkOption { type = types.attrsOf types.str; default = { }; example = { a = "b"; }; description = "Labels."; };
      limits = mkOption { type = types.nullOr (types.listOf types.int); default = null; example = [ 1 ]; description = "Limits."; };
    };
  };
  lab = { _file = "labs/mtls/default.nix"; loads.wrk.node = "client"; };

  found = modules: map lib.show.error (lib.evaluate { modules = [ declarations lab ] ++ modules; }).errors;
  mine = config: found [{ _file = "mine.nix"; inherit config; }];
in
builtins.concatLists [
  (equal "a wrong type" (mine { loads.wrk.connections = "64"; })
    [ "mine.nix: loads.wrk.connections: expected a positive integer, found \"64\" (a string). Write 64." ])
  (equal "a part of a wrong type" (mine { loads.wrk.labels.tier = true; })
    [ "mine.nix: loads.wrk.labels.tier: expected a string, found true (a boolean)." ])
  (equal "an unknown option" (mine { loads.wrk.conections = 64; })
    [ "mine.nix: loads.wrk.conections: expected a known option, found none of this name. Write loads.wrk.connections." ])
  (equal "an unknown option like none" (mine { loads.wrk.zzz = 64; })
    [ "mine.nix: loads.wrk.zzz: expected a known option, found none of this name. Known here: connections, labels, limits, node." ])
  (equal "a value where options are" (mine { loads.wrk = 64; })
    [ "mine.nix: loads.wrk: expected a set of options, found 64 (an integer)." ])
  (equal "two values" (mine { loads.wrk.node = "server"; })
    [ "mine.nix: loads.wrk.node: expected one value, found \"server\" (a string) here and \"client\" (a string) in labs/mtls/default.nix. Keep one, or wrap the one that shall win in mkForce." ])
  (equal "null and a value" (found [ { _file = "a.nix"; loads.wrk.limits = null; } { _file = "b.nix"; loads.wrk.limits = [ 1 ]; } ])
    [ "a.nix: loads.wrk.limits: expected one value, found null here and a list of 1 in b.nix. Keep one, or wrap the one that shall win in mkForce." ])
  (equal "nothing where something must be" (map lib.show.error (lib.evaluate { modules = [ declarations { _file = "mine.nix"; } ]; }).errors)
    [ "mine.nix: loads.wrk.node: expected a string, found nothing. Write loads.wrk.node = \"client\";" ])
  (equal "a default of a wrong type" (found [{ _file = "mine.nix"; options.bad = positive // { default = 0; }; }])
    [ "mine.nix: bad: expected a positive integer, found 0 (an integer)." ])
  (equal "an option declared twice" (found [{ _file = "mine.nix"; options.loads.wrk.connections = positive // { default = 9; }; }])
    [ "mine.nix: loads.wrk.connections: expected one declaration, found another in modules/loads/wrk.nix. Remove one." ])
  (equal "a function that asks for too much" (found [ ({ config, pkgs, ... }: { }) ])
    [ "<module>: expected a module that asks for config, lib, found one that asks for pkgs. Remove it." ])
  (equal "no module" (found [ 64 ]) [ "<module>: expected a module (a path, a function or a set), found 64 (an integer)." ])
  (equal "config beside config" (found [{ _file = "mine.nix"; config = { }; loads = { }; }])
    [ "mine.nix: expected only _file, assertions, config, imports, options in a module that has one of them, found loads too. Move it under config." ])
  (equal "a module's file is found" (found [{ loads.wrk.connections = 0; }])
    [ "tests/eval/errors.nix: loads.wrk.connections: expected a positive integer, found 0 (an integer)." ])
  (equal "a rule names the file that broke it" (found [
    { _file = "mine.nix"; loads.wrk.connections = 9; }
    ({ config, ... }: {
      assertions."connections are even" = if config.loads.wrk.connections == 9 then [{ option = [ "loads" "wrk" "connections" ]; message = "expected an even number, found 9."; }] else [ ];
    })
  ]) [ "mine.nix: loads.wrk.connections: expected an even number, found 9." ])
  (equal "all mistakes together, and none that only follow" (found [
    { _file = "mine.nix"; loads.wrk = { connections = 0; nod = "a"; labels.x = 1; }; }
    ({ config, ... }: {
      assertions."reads a wrong value" = if config.loads.wrk.connections == 9 then [ ] else [ ];
      assertions."reads a sound one" = if config.loads.wrk.node == "client" then [{ option = [ "loads" "wrk" "node" ]; message = "expected another."; }] else [ ];
    })
  ]) [
    "mine.nix: loads.wrk.nod: expected a known option, found none of this name. Write loads.wrk.node."
    "mine.nix: loads.wrk.connections: expected a positive integer, found 0 (an integer)."
    "mine.nix: loads.wrk.labels.x: expected a string, found 1 (an integer). Write \"1\"."
    "labs/mtls/default.nix: loads.wrk.node: expected another."
  ])
  (stops "an example of a wrong type" (lib.evaluate { modules = [{ options.bad = positive // { example = "64"; }; }]; }).documentation)
]
