{ goPackage }:
goPackage {
  name = "fortio";
  version = "1.57.3";
  source = ./.;
  commands.fortio = "fortio.org/fortio";
}
