# How values, paths and errors read, and which name is suggested.
let
  inherit (import ../../lib/eval) nearest show;
  inherit (import ./expect.nix) equal;
in
builtins.concatLists [
  (equal "file in the store" (show.file "/nix/store/00000000000000000000000000000000-source/labs/mtls/default.nix") "labs/mtls/default.nix")
  (equal "file in the checkout" (show.file (toString ./show.nix)) "tests/eval/show.nix")
  (equal "file elsewhere" (show.file "/home/me/lab.nix") "/home/me/lab.nix")
  (equal "path" (show.path [ "nodes" "a b" "labels" 0 ]) "nodes.\"a b\".labels[0]")
  (equal "path in the reference" (show.path [ "nodes" "<name>" "*" ]) "nodes.<name>.*")
  (equal "text of a set" (show.text { levels = [ "runc" 0.5 ]; none = null; empty = { }; }) "{ empty = { }; levels = [ \"runc\" 0.5 ]; none = null; }")
  (equal "text of a package" (show.text { outPath = "/x"; reference = "packages.runc"; }) "packages.runc")
  (equal "text of a path" (show.text ./show.nix) "tests/eval/show.nix")
  (equal "text of a function" (show.text (x: x)) "<function>")
  (equal "found" (map show.found [ "64" 0 0.5 true null [ 1 2 ] { a = 1; } { } (x: x) { outPath = "/x"; } ]) [
    "\"64\" (a string)"
    "0 (an integer)"
    "0.5 (a number)"
    "true (a boolean)"
    "null"
    "a list of 2"
    "a set with a"
    "an empty set"
    "a function"
    "a package"
  ])
  (equal "one mistake" (show.report [ "a" ]) "a")
  (equal "two mistakes" (show.report [ "a" "b" ]) "2 mistakes:\n  a\n  b")
  (equal "a slip" (nearest [ "connections" "node" ] "conections") "connections")
  (equal "another way to write it" (nearest [ "batchTimeoutSeconds" "batchMaxMessages" ] "batch_timeout_seconds") "batchTimeoutSeconds")
  (equal "nothing near" (nearest [ "runc" "gvisor" ] "firecracker") null)
]
