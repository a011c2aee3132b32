# What `tare pins update` needs of the repository, each thing evaluated only when it is asked for.
# Evaluated by nix-instantiate on the checkout, so that nothing has to be written before it is known.
{
  # A package's or an environment's name, the folder with its new intent, and the hash to declare.
  name ? throw "name: expected a package or an environment",
  folder ? throw "folder: expected the folder with the new intent",
  hash ? throw "hash: expected a hash",
  # The Go toolchain's version.
  go ? "",
}:
let
  system = "x86_64-linux";
  # Not refused when an intent has changed: that is what the update is for.
  pins = import ./. { checked = false; };
  build = import ../build { inherit system pins; };

  # The repository's packages as if the lock already held `entry` and the sources stood in `folder`.
  edited =
    entry:
    let
      from = arguments: if arguments.name == name then arguments // { source = folder; } else arguments;
      build = import ../build {
        inherit system;
        pins = pins // entry;
      };
    in
    import ../../packages {
      build = build // {
        goPackage = arguments: build.goPackage (from arguments);
        goModuleData =
          arguments:
          build.goModuleData (if arguments.package == name then arguments // { source = folder; } else arguments)
          // { dataOf = arguments.package; };
        npmPackage = arguments: build.npmPackage (from arguments);
      };
    };
  editedGo = edited {
    go = other: source: if other == name then { vendor = hash; data = hash; } else pins.go other source;
  };
in
{
  # By the key under which a lock's entry keeps the hash.
  fetches = {
    # The package; what vendors is among its requisites.
    vendor = editedGo.${name};
    data = builtins.head (builtins.filter (package: package.dataOf or null == name) (builtins.attrValues editedGo));
    modules = (edited { npm = _: _: { modules = hash; }; }).${name};
    wheels =
      (import ../build {
        inherit system;
        pins = pins // {
          python = other: if other == name then { wheels = hash; requirements = folder + "/requirements.txt"; } else pins.python other;
        };
      }).wheels
        name;
  };

  # The clients that write locks are those that builds use: a lock does not depend on who updates it.
  clients = {
    go = build.run "go-client-${go}" { } ''
      mkdir -p $out/bin
      printf '#!${build.shell}\nGOTOOLCHAIN=local GOWORK=off GOFLAGS=-mod=mod GONOSUMDB=%s exec %s/bin/go "$@"\n' \
        '${builtins.concatStringsSep "," pins.unsummedGoModules}' ${build.goToolchain go} > $out/bin/go
      chmod +x $out/bin/go
    '';
    pip = build.run "pip-client" { } ''
      mkdir -p $out/bin
      printf '#!${build.shell}\nexec %s %s/pip "$@"\n' ${build.interpreter}/usr/bin/python3.11 \
        ${build.interpreter}/usr/share/python-wheels/pip-*.whl > $out/bin/pip
      chmod +x $out/bin/pip
    '';
    npm = build.nodejs;
  };
}
