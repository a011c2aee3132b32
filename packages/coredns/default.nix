{ goPackage }:
goPackage {
  name = "coredns";
  version = "1.11.1";
  source = ./.;
  commands.coredns = ".";
}
