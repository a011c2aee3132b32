{ goPackage }:
goPackage {
  name = "runc";
  version = "1.1.12";
  source = ./.;
  commands.runc = "github.com/opencontainers/runc";
  withCgo = true;
  tags = [ "netgo" "osusergo" "seccomp" "urfave_cli_no_docs" ];
  ldflags = "-X main.version=1.1.12";
}
