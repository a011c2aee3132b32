# The bootstrap's fetched files: as derivations by store name (seedFiles), and as lines for
# lib/build/seed.sh (seeds): kind, store path, store name, sha256, what the package client calls it.
{ build, pins }:
let
  entries =
    map (package: {
      kind = "deb";
      pin = pins.debian.file package;
      words = [ package (pins.debian.version package) (pins.debian.component package) ];
    }) pins.debian.all
    ++ map (version: {
      kind = "go";
      pin = pins.goToolchain version;
      words = [ version ];
    }) pins.goToolchains;

  line =
    { kind, pin, words }:
    let
      path = builtins.unsafeDiscardStringContext "${build.fetchFile pin}";
    in
    builtins.concatStringsSep " " ([ kind path pin.name pin.sha256 ] ++ words);
in
{
  seeds = builtins.concatStringsSep "\n" (map line entries);
  seedFiles = builtins.listToAttrs (
    map (entry: {
      inherit (entry.pin) name;
      value = build.fetchFile entry.pin;
    }) entries
  );
}
