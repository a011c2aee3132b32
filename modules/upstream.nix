# The record of an artifact of the channel `upstream`, for whatever may be made of one.
{ lib }:
let
  inherit (lib) mkOption types;
in
{
  options = {
    name = mkOption {
      type = types.str;
      example = "kata";
      description = "The entry in lib/pins/upstream.toml.";
    };

    version = mkOption {
      type = types.str;
      example = "3.2.0";
      description = "The version that is pinned.";
    };

    url = mkOption {
      type = types.str;
      example = "https://example.org/kata-static-3.2.0-amd64.tar.xz";
      description = "Where the publisher offers the artifact.";
    };

    sha256 = mkOption {
      type = types.nullOr types.str;
      default = null;
      example = "21bb8484a060450d6522f29bed7d88d773c28520774eaa2c522b6f47fd12c4a1";
      description = "The artifact's SHA-256 in hexadecimal, when a public source states it.";
    };

    path = mkOption {
      type = types.nullOr types.path;
      default = null;
      example = "/nix/store/...-kata-3.2.0";
      description = "Where the unpacked artifact stands; null while it is not at hand.";
    };
  };
}
