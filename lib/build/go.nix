# Go programs: one fixed-output derivation fetches with the Go client, then an offline build.
{ pins, run, fetch, goToolchain, compiler }:
let
  environment = {
    CGO_ENABLED = "0";
    GOTOOLCHAIN = "local";
    GOENV = "off";
    GOTELEMETRY = "off";
    GOWORK = "off";
    GOPATH = "/build/go";
    GOCACHE = "/build/cache";
  };

  # cgo needs a C compiler that finds its own parts inside the store.
  cgo = {
    CGO_ENABLED = "1";
    CC = "${compiler}/bin/cc";
    PKG_CONFIG = "${compiler}/bin/pkg-config";
    CGO_LDFLAGS = "-static";
  };

  # Run a script in a copy of the module, with its toolchain on PATH and the network.
  fetchModule =
    name: hash: goroot: source: script:
    fetch name hash (environment // { GONOSUMDB = builtins.concatStringsSep "," pins.unsummedGoModules; }) ''
      export PATH=${goroot}/bin:$PATH
      cp -r ${source}/. /build/module
      chmod -R u+w /build/module
      cd /build/module
      ${script}
      chmod -R u+w $out
    '';
in
{
  /**
    Files of a module in go.mod that are no Go code; vendoring leaves those out.
    Type: goModuleData :: { name, version, package, source, module, paths } -> Derivation
    Example: goModuleData { name = "fabric-sampleconfig"; package = "fabric"; paths = [ "sampleconfig" ]; ... }
  */
  goModuleData =
    { name, version, package, source, module, paths }:
    fetchModule "${name}-${version}" (pins.go package source).data (goToolchain pins.defaultGo) source ''
      go mod download ${module}
      folder=$(go list -m -f '{{.Dir}}' ${module})
      mkdir -p $out
      for path in ${toString paths}; do cp -r "$folder/$path" $out/; done
    '';

  /**
    Build Go commands statically from a folder that holds go.mod, go.sum and either `tools.go`
    (imports of the commands to build) or a program of its own.

    Inputs:
      name, version  of the derivation
      source         the folder; also where `tare pins update` writes
      commands       program name -> import path (or "." for the folder's own program)
      go             toolchain version, one of lib/pins/toolchains.json
      ldflags, tags  as for `go build`; ldflags are added to `-s -w -buildid=`
      withCgo        link statically with C code
      patches        applied to the module with its vendor folder (-p1)
      install        script run afterwards in $out
    Type: goPackage :: AttrSet -> Derivation
    Example: goPackage { name = "etcd"; version = "3.5.10"; source = ./.; commands.etcd = "go.etcd.io/etcd/server/v3"; }
  */
  goPackage =
    {
      name,
      version,
      source,
      commands,
      go ? pins.defaultGo,
      ldflags ? "",
      tags ? [ ],
      withCgo ? false,
      patches ? [ ],
      install ? "",
    }:
    let
      goroot = goToolchain go;
      vendored = fetchModule "${name}-${version}-vendor" (pins.go name source).vendor goroot source ''
        go mod vendor
        mv vendor $out
      '';
    in
    run "${name}-${version}" (environment // (if withCgo then cgo else { }) // { GOFLAGS = "-mod=vendor"; GOPROXY = "off"; }) ''
      export PATH=${goroot}/bin
      mkdir -p $out/bin /build/module
      cp ${source}/*.go ${source}/go.* /build/module/
      ${if patches == [ ] then "ln -s ${vendored} /build/module/vendor" else ''
        cp -r ${vendored} /build/module/vendor
        chmod -R u+w /build/module/vendor
        for patch in ${builtins.concatStringsSep " " patches}; do (cd /build/module && patch -p 1 -i $patch); done
      ''}
      cd /build/module
      ${builtins.concatStringsSep "\n" (
        map (command: ''
          go build -trimpath -buildvcs=false -tags "${builtins.concatStringsSep "," tags}" \
            -ldflags "-s -w -buildid= ${ldflags} ${if withCgo then "-linkmode external -extldflags -static" else ""}" \
            -o $out/bin/${command} ${commands.${command}}
        '') (builtins.attrNames commands)
      )}
      ${install}
    '';
}
