# Every public type: what it takes, what it refuses and in which words. A type without a case fails.
let
  inherit (builtins) attrNames concatMap elem filter;
  inherit (import ../../lib/eval) mkOption types;
  inherit (import ./expect.nix) equal;

  package = { outPath = "/nix/store/00000000000000000000000000000000-x"; };

  # takes: values with nothing wrong. refuses: values and what is said of them.
  cases = {
    str = { type = types.str; takes = [ "" "a" ]; refuses = [ [ 64 "expected a string, found 64 (an integer). Write \"64\"." ] ]; };
    bool = {
      type = types.bool;
      takes = [ true false ];
      refuses = [
        [ "true" "expected true or false, found \"true\" (a string). Write true." ]
        [ "no" "expected true or false, found \"no\" (a string). Write false." ]
        [ 1 "expected true or false, found 1 (an integer)." ]
      ];
    };
    int = { type = types.int; takes = [ (-1) 0 1 ]; refuses = [ [ 1.5 "expected an integer, found 1.5 (a number)." ] ]; };
    positiveInt = {
      type = types.positiveInt;
      takes = [ 1 64 ];
      refuses = [
        [ "64" "expected a positive integer, found \"64\" (a string). Write 64." ]
        [ "0" "expected a positive integer, found \"0\" (a string)." ]
        [ 0 "expected a positive integer, found 0 (an integer)." ]
      ];
    };
    intBetween = { type = types.intBetween 1 8; takes = [ 1 8 ]; refuses = [ [ 9 "expected an integer from 1 to 8, found 9 (an integer)." ] ]; };
    number = { type = types.number; takes = [ 0 (-0.5) ]; refuses = [ [ "0.5" "expected a number, found \"0.5\" (a string). Write 0.5." ] ]; };
    positiveNumber = { type = types.positiveNumber; takes = [ 1 0.5 ]; refuses = [ [ (-0.5) "expected a positive number, found -0.5 (a number)." ] ]; };
    nonNegativeNumber = { type = types.nonNegativeNumber; takes = [ 0 0.5 ]; refuses = [ [ (-1) "expected a number of at least 0, found -1 (an integer)." ] ]; };
    enum = {
      type = types.enum [ "embedded" "existing" ];
      takes = [ "embedded" "existing" ];
      refuses = [
        [ "embeded" "expected one of \"embedded\", \"existing\", found \"embeded\" (a string). Write \"embedded\"." ]
        [ "kind" "expected one of \"embedded\", \"existing\", found \"kind\" (a string)." ]
      ];
    };
    strMatching = {
      type = types.strMatching { pattern = "[0-9]+[.][0-9]+"; description = "a version"; sample = "1.29"; };
      takes = [ "1.29" ];
      refuses = [
        [ "v1" "expected a version, found \"v1\" (a string). Write it like \"1.29\"." ]
        [ 1.29 "expected a version, found 1.29 (a number). Write \"1.29\"." ]
      ];
    };
    ipv4Address = {
      type = types.ipv4Address;
      takes = [ "198.19.64.10" ];
      refuses = [ [ "198.19.64" "expected an IPv4 address, found \"198.19.64\" (a string). Write it like \"198.19.64.10\"." ] ];
    };
    ipv4Network = {
      type = types.ipv4Network;
      takes = [ "198.18.0.0/15" ];
      refuses = [ [ "198.18.0.1/16" "expected an IPv4 network, found \"198.18.0.1/16\" (a string). Write it like \"198.18.0.0/16\", with the bits of the host zero." ] ];
    };
    package = {
      type = types.package;
      takes = [ package ];
      refuses = [
        [ { } "expected a package, found an empty set." ]
        [ "runc" "expected a package, found \"runc\" (a string). Write packages.NAME." ]
      ];
    };
    path = {
      type = types.path;
      takes = [ ./types.nix "/opt/kata" ];
      refuses = [ [ "workload" "expected a path, found \"workload\" (a string). Write ./workload, without quotes." ] ];
    };
    oneOf = { type = types.oneOf [ types.str types.number ]; takes = [ "a" 1 0.5 ]; refuses = [ [ true "expected a string or a number, found true (a boolean)." ] ]; };
    nullOr = {
      type = types.nullOr types.positiveInt;
      takes = [ null 1 ];
      refuses = [ [ "1" "expected a positive integer or null, found \"1\" (a string). Write 1." ] ];
    };
    listOf = {
      type = types.listOf types.str;
      takes = [ [ ] [ "a" "b" ] ];
      refuses = [
        [ [ "a" 1 ] "[1]: expected a string, found 1 (an integer). Write \"1\"." ]
        [ "a" "expected a list (each item a string), found \"a\" (a string). Write [ \"a\" ]." ]
      ];
    };
    attrsOf = {
      type = types.attrsOf types.str;
      takes = [ { } { a = "b"; } ];
      refuses = [
        [ { a = 1; } "a: expected a string, found 1 (an integer). Write \"1\"." ]
        [ [ ] "expected a set (each value a string), found a list of 0." ]
        [ package "expected a set (each value a string), found a package." ]
      ];
    };
    submodule = {
      type = types.submodule { options.cpus = mkOption { type = types.positiveInt; default = 1; example = 2; description = "CPUs."; }; };
      takes = [ { } { cpus = 2; } ];
      refuses = [
        [ { cpus = 0; } "cpus: expected a positive integer, found 0 (an integer)." ]
        [ { cpu = 1; } "cpu: expected a known option, found none of this name. Write cpus." ]
        [ 1 "expected a set of options, found 1 (an integer)." ]
      ];
    };
  };

  check = name:
    let inherit (cases.${name}) type takes refuses; in
    concatMap (value: equal "${name} takes" (type.verify value) null) takes
    ++ concatMap (case: equal "${name} refuses" (type.verify (builtins.elemAt case 0)) (builtins.elemAt case 1)) refuses
    ++ equal "${name} describes itself" (builtins.isString type.description) true
    ++ concatMap
      (value: equal "${name} merges" (type.merge { path = [ ]; definitions = [{ file = ""; inherit value; }]; }).errors [ ])
      takes;
in
equal "every public type has a case" (filter (name: !(elem name (attrNames cases))) (attrNames types)) [ ]
++ concatMap check (attrNames cases)
