# Addresses and networks.
let
  inherit (import ../../lib/eval) ipv4;
  inherit (import ./expect.nix) equal;
in
builtins.concatLists [
  (equal "address" (ipv4.address "198.18.0.1") 3323068417)
  (equal "no address" (map ipv4.address [ "198.18.0" "198.18.0.256" "198.18.00.1" "a" "" ]) [ null null null null null ])
  (equal "network" (ipv4.network "198.18.0.0/15") { first = 3323068416; last = 3323199487; })
  (equal "one address" (ipv4.network "198.18.0.1/32") { first = 3323068417; last = 3323068417; })
  (equal "everything" (ipv4.network "0.0.0.0/0") { first = 0; last = 4294967295; })
  (equal "no network" (map ipv4.network [ "198.18.0.1/16" "198.18.0.0/33" "198.18.0.0" ]) [ null null null ])
]
