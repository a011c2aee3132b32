# What `nix flake check` builds: tests that need no network and no root.
{ build, packages, labs, mkLab }:
let
  goPrograms = {
    kit = ../lib/build/kit;
    oci = ../lib/build/oci;
    runc-fit = ../packages/runc-fit;
    tcp-rr = ../packages/tcp-rr;
    fabric-ccaas-builder = ../packages/fabric-ccaas-builder;
  };
  inherit (build) goroot;

  failures = import ./eval { inherit labs mkLab; };
in
{
  # gofmt, vet and tests of the project's own Go programs.
  go =
    build.run "check-go"
      {
        CGO_ENABLED = "0";
        GOTOOLCHAIN = "local";
        GOFLAGS = "-mod=mod";
        GOPROXY = "off";
        GOENV = "off";
        GOCACHE = "/build/cache";
        GOPATH = "/build/go";
      }
      ''
        ${builtins.concatStringsSep "\n" (
          map (name: ''
            cd ${goPrograms.${name}}
            unformatted=$(${goroot}/bin/gofmt -l .)
            [ -z "$unformatted" ] || { echo "${name}: not in gofmt's format: $unformatted"; exit 1; }
            ${goroot}/bin/go vet ./...
            ${goroot}/bin/go test ./...
          '') (builtins.attrNames goPrograms)
        )}
        echo passed > $out
      '';

  evaluator =
    if failures == [ ] then
      build.run "check-evaluator" { } "echo passed > $out"
    else
      throw "tests/eval: ${toString (builtins.length failures)} failures:\n${builtins.concatStringsSep "\n" failures}";
}
