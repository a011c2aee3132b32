{ goPackage }:
let
  module = "github.com/hyperledger/fabric-ca";
in
goPackage {
  name = "fabric-ca";
  version = "1.5.5";
  source = ./.;
  commands = {
    fabric-ca-client = "${module}/cmd/fabric-ca-client";
    fabric-ca-server = "${module}/cmd/fabric-ca-server";
  };
  # Its SQLite store is C.
  withCgo = true;
  tags = [ "netgo" "osusergo" "sqlite_omit_load_extension" ];
  ldflags = "-X ${module}/lib/metadata.Version=1.5.5";
}
