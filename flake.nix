{
  description = "Tare: a declarative laboratory that weighs what a layer costs";

  # None: everything is pinned in lib/pins.
  inputs = { };

  outputs =
    { self }:
    let
      system = "x86_64-linux";
      pins = import ./lib/pins { };
      build = import ./lib/build { inherit system pins; };
      packages = import ./packages { inherit build; };

      # The same from locks that may be behind their intents, for what brings them up to date.
      locked = import ./lib/pins { checked = false; };
      lockedBuild = import ./lib/build {
        inherit system;
        pins = locked;
      };
      updater = import ./packages { build = lockedBuild; };
      bootstrap = import ./lib/build/seeds.nix {
        build = lockedBuild;
        pins = locked;
      };

      mkLab = import ./lib/lab.nix {
        inherit build;
        defaultPackages = packages;
        defaultSource = {
          nar_hash = self.narHash;
          revision = self.rev or null;
          last_modified = self.lastModified;
        };
      };

      labs = builtins.mapAttrs (_: modules: mkLab { inherit modules; }) (import ./labs);
      labPackages = builtins.listToAttrs (
        map (name: {
          name = "lab-${name}";
          value = labs.${name}.package;
        }) (builtins.attrNames labs)
      );
      app = package: name: {
        type = "app";
        program = "${package}/bin/${name}";
      };
    in
    {
      # For flakes that bring labs of their own (docs/how-to/write-a-lab.md).
      lib = { inherit mkLab; };

      packages.${system} = packages // labPackages // { default = packages.tare; };

      apps.${system} = builtins.mapAttrs (name: package: app package name) labPackages // {
        tare = app packages.tare "tare";
        pins = app updater.tare "tare";
        python-dev = app packages.python-dev "python";
        default = app packages.tare "tare";
      };

      devShells.${system}.default = import ./lib/build/dev-shell.nix { inherit build packages; };

      checks.${system} = import ./tests/checks.nix { inherit build packages labs mkLab; };

      # What the command line reads: the labs there are, and their options for the reference.
      labs = builtins.mapAttrs (_: lab: lab.config.title) labs;
      inherit (labs.kata-hlf) options;

      # What ./tare puts into the store where the archives are out of reach (lib/build/seed.sh).
      inherit (bootstrap) seeds seedFiles;
    };
}
