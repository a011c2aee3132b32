# The evaluator's and the modules' tests: a list of failures, empty when all is well.
#   nix-instantiate --eval --strict --json --arg labs '{ }' tests/eval
# The flake passes its own mkLab and labs, so that these are what is tested; alone, they stand on nothing.
{ mkLab ? import ../../lib/eval/mk-lab.nix, labs ? { } }:
let
  given = { inherit labs mkLab; };
  failuresOf = file:
    let test = import file; in
    map (failure: "tests/eval/${baseNameOf (toString file)}: ${failure}") (if builtins.isFunction test then test given else test);
in
builtins.concatMap failuresOf [
  ./show.nix
  ./ipv4.nix
  ./types.nix
  ./merging.nix
  ./errors.nix
  ./options.nix
  ./rules.nix
  ./manifest.nix
  ./labs.nix
  ./style.nix
]
