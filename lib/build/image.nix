# OCI images: an archive that `ctr images import` reads, and its name and digest beside it.
{ run, ociTool }:
/**
  Build an image of plain files.

  Inputs:
    name, tag  the reference is tare.local/<name>:<tag>
    files      path in the image -> store path (a file or a folder)
    below      layers beneath that of `files`, the lowest first, each as `files`; images that have the
               same ones share them on a node
    config     the image's configuration as in the OCI image specification (Entrypoint, Env, ...)
  Result: image.tar (OCI layout) and image.json ({ "name", "digest" }).
  Type: ociImage :: AttrSet -> Derivation
  Example: ociImage { name = "etcd"; tag = "3.5.10"; files."/etcd" = "''${etcd}/bin/etcd"; config.Entrypoint = [ "/etcd" ]; }
*/
{
  name,
  tag,
  files,
  below ? [ ],
  config,
}:
run "image-${name}-${tag}"
  {
    description = builtins.toJSON {
      name = "tare.local/${name}:${tag}";
      layers = below ++ [ files ];
      inherit config;
    };
    passAsFile = [ "description" ];
  }
  ''
    ${ociTool} $out $descriptionPath
  ''
