# IPv4 addresses and networks as integers.
let
  inherit (builtins) elemAt foldl' fromJSON genList match;

  octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
  dotted = "${octet}[.]${octet}[.]${octet}[.]${octet}";
  number = foldl' (sum: part: sum * 256 + fromJSON part) 0;
  power = exponent: foldl' (product: _: product * 2) 1 (genList (index: index) exponent);
in
{
  /**
    The number of a dotted address, or null.

    Type: String -> Int | null
    Example: address "198.18.0.1" => 3323068417
  */
  address = text:
    let parts = match dotted text; in
    if parts == null then null else number parts;

  /**
    The first and last address of a network in CIDR notation, or null; bits of the host must be zero.

    Type: String -> { first : Int; last : Int; } | null
    Example: network "198.18.0.0/15" => { first = 3323068416; last = 3323199487; }
  */
  network = text:
    let
      parts = match "(${dotted})/(3[0-2]|[12]?[0-9])" text;
      size = power (32 - fromJSON (elemAt parts 5));
      first = number (genList (index: elemAt parts (index + 1)) 4);
    in
    if parts == null || first != first / size * size then null
    else { inherit first; last = first + size - 1; };
}
