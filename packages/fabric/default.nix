{ goPackage }:
let
  module = "github.com/hyperledger/fabric";
in
goPackage {
  name = "fabric";
  version = "2.4.4";
  source = ./.;
  commands = builtins.listToAttrs (
    map
      (name: {
        inherit name;
        value = "${module}/cmd/${name}";
      })
      [ "configtxgen" "cryptogen" "orderer" "osnadmin" "peer" ]
  );
  ldflags = "-X ${module}/common/metadata.Version=2.4.4";
}
