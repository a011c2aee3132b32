# The container images that every node is given before it starts; no registry is ever asked.
{ lib, packages, ... }:
let
  inherit (lib) mkDefault mkOption types;
in
{
  options.images = mkOption {
    type = types.attrsOf types.package;
    default = { };
    defaultText = "the images that the cluster and the enabled services need";
    example = { "tare.local/pause:3.10" = packages.image-pause; };
    description = "Images by full name; each is a folder with image.tar and image.json, as build.ociImage makes it.";
  };

  config.images = {
    "tare.local/pause:3.9" = mkDefault packages.image-pause;
    "tare.local/coredns:1.11.1" = mkDefault packages.image-coredns;
  };
}
