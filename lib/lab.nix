# A lab as a package: its manifest, the identity of the flake it came from, and a program that runs it.
{ build, defaultPackages, defaultSource }:
let
  evaluateLab = import ./eval/mk-lab.nix;
in
/**
  Build a lab from its modules.
  Result: what lib/eval/mk-lab.nix gives, and `package`: a folder with lab.json, source.json and bin/lab-NAME.
  `source` is the identity of the flake that the lab's modules come from, as the flake.nix here gives it.
  Type: mkLab :: { modules, packages, source } -> Lab
  Example: mkLab { modules = [ ./mine.nix ]; }
*/
{ modules, packages ? defaultPackages, source ? defaultSource }:
let
  lab = evaluateLab { inherit modules packages; };
  inherit (lab.manifest) name;
in
lab
// {
  package =
    build.run "lab-${name}"
      {
        manifest = lab.manifestText;
        source = builtins.toJSON source;
        passAsFile = [ "manifest" "source" ];
      }
      ''
        mkdir -p $out/bin
        cp $manifestPath $out/lab.json
        cp $sourcePath $out/source.json
        printf '#!${build.shell}\nexec ${packages.tare}/bin/tare run %s "$@"\n' $out > $out/bin/lab-${name}
        chmod +x $out/bin/lab-${name}
      '';
}
