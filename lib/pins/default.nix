# Exactly which: every version and hash, read from intent files and their locks.
#
# A lock carries the checksum of the intent it was made from. When they differ, evaluation stops
# with the command that brings the lock up to date; nothing is built from a stale lock. Only that command
# itself starts from what the locks held before (`checked = false`).
{ checked ? true }:
let
  readJson = file: builtins.fromJSON (builtins.readFile file);

  lockSchema = 1;

  /**
    Read a lock, refusing another schema.
    Type: readLock :: Path -> AttrSet
  */
  readLock =
    file:
    let
      lock = readJson file;
    in
    if lock.schema or null == lockSchema then
      lock
    else
      throw "${toString file}: schema: expected ${toString lockSchema}, found ${builtins.toJSON (lock.schema or null)}. Use the Tare that wrote it, or run: ./tare pins update --all";

  /**
    An entry of a lock whose intent still is what it was made from.
    Type: locked :: { file, entry, name, intent, update } -> AttrSet
  */
  locked =
    { file, entries, name, intent, update }:
    let
      entry = entries.${name} or (throw "${file}: ${name}: expected an entry, found none. Run: ./tare pins update ${update}");
      found = builtins.hashString "sha256" intent;
    in
    if !checked || entry.intent == found then
      entry
    else
      throw "${file}: ${name}: made from an intent with checksum ${entry.intent}, but the intent's is ${found}. Run: ./tare pins update ${update}";

  toolchains = readJson ./toolchains.json;
  archives = import ./archives.nix;

  debianIntent = builtins.readFile ./debian.toml;
  debianLock = locked {
    file = "lib/pins/debian.lock.json";
    entries = { debian = readLock ./debian.lock.json; };
    name = "debian";
    intent = debianIntent;
    update = "debian";
  };
  goLock = (readLock ./go.lock.json).packages;
  pythonLock = (readLock ./python.lock.json).environments;
  npmLock = (readLock ./npm.lock.json).packages;

  upstream = builtins.fromTOML (builtins.readFile ./upstream.toml);

  # Store names may not hold these; `./tare` seeds under the same name.
  storeName = builtins.replaceStrings [ "~" ":" "%3a" ] [ "-" "-" "-" ];
in
{
  defaultGo = toolchains.default_go;
  goToolchains = builtins.attrNames toolchains.go;

  # Not in the Go checksum database; the hash of the vendored tree takes its place.
  unsummedGoModules = [
    "github.com/envoyproxy/go-control-plane"
    "github.com/hashicorp/consul-awsauth"
    "github.com/hyperledger/fabric"
    "github.com/kumahq/kuma"
  ];

  goToolchain =
    version:
    let
      sha256 = toolchains.go.${version} or (throw "lib/pins/toolchains.json: go: expected an entry for ${version}, found ${builtins.concatStringsSep ", " (builtins.attrNames toolchains.go)}");
    in
    {
      name = "go${version}.linux-amd64.zip";
      url = archives.goToolchain version;
      inherit sha256;
    };

  debian = {
    all = builtins.attrNames debianLock.packages;
    version = package: debianLock.packages.${package}.version;
    # Of the archive: main, or for what debian.toml lets come from there, non-free.
    component = package: debianLock.packages.${package}.component or "main";
    hasRoot = name: debianLock.roots ? ${name};
    file =
      package:
      let
        pin = debianLock.packages.${package} or (throw "lib/pins/debian.lock.json: ${package}: expected an entry, found none. Add it to a root in lib/pins/debian.toml and run: ./tare pins update debian");
      in
      {
        name = storeName pin.file;
        url = archives.debian pin.sha1;
        inherit (pin) sha256;
      };
    root = name: debianLock.roots.${name} or (throw "lib/pins/debian.toml: ${name}: expected a root of this name, found ${builtins.concatStringsSep ", " (builtins.attrNames debianLock.roots)}");
  };

  # Whether an artifact's hash is known, so that its place in the store is.
  isPinned = name: upstream.${name} ? sha256;

  upstream =
    name:
    let
      artifact = upstream.${name};
    in
    {
      name = storeName (builtins.baseNameOf artifact.url);
      inherit (artifact) url;
      sha256 = artifact.sha256 or (throw "lib/pins/upstream.toml: ${name}: expected a sha256, found none. Run where its publisher answers: ./tare pins pin ${name}");
    };

  go =
    name: source:
    locked {
      file = "lib/pins/go.lock.json";
      entries = goLock;
      inherit name;
      intent = builtins.readFile (source + "/go.mod") + builtins.readFile (source + "/go.sum");
      update = "go ${name}";
    };

  python =
    name:
    let
      requirements = ./python + "/${name}.txt";
      entry = locked {
        file = "lib/pins/python.lock.json";
        entries = pythonLock;
        inherit name;
        intent = builtins.readFile (./python + "/${name}.in");
        update = "python ${name}";
      };
    in
    entry // { inherit requirements; };

  npm =
    name: source:
    locked {
      file = "lib/pins/npm.lock.json";
      entries = npmLock;
      inherit name;
      intent = builtins.readFile (source + "/package.json");
      update = "npm ${name}";
    };
}
