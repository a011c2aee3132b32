{ goPackage }:
goPackage {
  name = "consul";
  version = "1.21.0";
  source = ./.;
  commands.consul = "github.com/hashicorp/consul";
}
